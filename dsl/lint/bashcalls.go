package lint

import (
	"regexp"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// bashCommands are commands that only bash has, with how sh says it.
var bashCommands = map[string]string{
	"[[":        "[ … ]",
	"coproc":    "",
	"declare":   "a plain assignment",
	"disown":    "",
	"let":       "x=$((…))",
	"mapfile":   "while read -r line; do … done",
	"popd":      "a subshell, (cd DIR && …)",
	"pushd":     "a subshell, (cd DIR && …)",
	"readarray": "while read -r line; do … done",
	"select":    "",
	"shopt":     "",
	"source":    ". ./FILE",
	"typeset":   "a plain assignment",
}

// bashOption is an argument by which a command that both have becomes one that
// only bash has.
type bashOption struct {
	command string
	option  *regexp.Regexp
	what    string
	does    string
	instead string
}

var bashOptions = []bashOption{
	{"[", regexp.MustCompile(`^==$`), "`==` in `[ ]`", "", "="},
	{"[", regexp.MustCompile(`^=~$`), "`=~`", "", "case … in … esac, or grep -q"},
	{"[", regexp.MustCompile(`^-v$`), "`-v` in `[ ]`", "", `[ -n "${x+set}" ]`},
	{"local", regexp.MustCompile(`^-[aAinrx]`), "an option of `local`", "", "local without it"},
	{"read", regexp.MustCompile(`^-[rp]*[adinNstuA]`), "an option of `read`", "", "read -r"},
	{"export", regexp.MustCompile(`^-f`), "`export -f`", "", "a script of its own"},
	{"printf", regexp.MustCompile(`^-v$`), "`printf -v`", "", "x=$(printf …)"},
	{"printf", regexp.MustCompile(`(^|[^%])(%%)*%[q(]`), "a format of `printf`", "", ""},
	{"wait", regexp.MustCompile(`^-n`), "`wait -n`", "", "wait PID"},
	{"trap", regexp.MustCompile(`^SIG[A-Z]`), "a signal with SIG before its name", "", "its name alone, such as TERM"},
	{"trap", regexp.MustCompile(`^(ERR|DEBUG|RETURN)$`), "a trap on ERR, DEBUG or RETURN", "", "a trap on EXIT"},
	{"kill", regexp.MustCompile(`^-SIG[A-Z]`), "a signal with SIG before its name", "", "its name alone, such as TERM"},
	{"exit", regexp.MustCompile(`^-\d+$`), "a status below 0", "refuses it, and ends with 2", "a number from 0 to 255"},
	{"set", regexp.MustCompile(`^pipefail$`), "`pipefail`", "of Debian and Ubuntu ends the script at it", ""},
}

// call looks at the name of a command and at its arguments.
func (f *bashFinder) call(c *syntax.CallExpr) {
	if len(c.Args) == 0 {
		return
	}
	name := c.Args[0].Lit()
	if f.names[name] {
		return
	}
	if instead, ok := bashCommands[name]; ok {
		f.add(c, c.Args[0].End(), "`"+name+"`", instead)
	} else if strings.Contains(name, "[") && elements.MatchString(name) {
		f.add(c, c.Args[0].End(), "arrays", "")
	} else if word := f.text[c.Args[0].Pos().Offset():c.Args[0].End().Offset()]; strings.Contains(word, "+=") && appends.MatchString(word) {
		f.add(c, c.Args[0].End(), "`+=`", "x=$x…")
	}
	for _, w := range c.Args[1:] {
		f.braces(w, slices.Contains(wantsFiles, name))
	}
	f.options(c, name)
}

var elements = regexp.MustCompile(`^[A-Za-z_]\w*\[[^]]*\]=`)

var appends = regexp.MustCompile(`^[A-Za-z_]\w*\+=`)

// options looks for arguments that sh refuses, or prints.
func (f *bashFinder) options(c *syntax.CallExpr, name string) {
	if name == "test" {
		name = "["
	}
	if len(c.Args) > 1 && name == "echo" && echoEscapes.MatchString(c.Args[1].Lit()) {
		f.other(c.Args[1], "`echo "+c.Args[1].Lit()+"`", "prints the option", "printf")
		return
	}
	for _, o := range bashOptions {
		if o.command != name || name == "set" && strings.Count(f.text, "pipefail") > 1 { // or it tries whether there is one
			continue
		}
		for i, w := range c.Args {
			text, ok := literal(w)
			if !ok && w.Lit() == "=~" {
				text, ok = w.Lit(), true
			}
			if !ok || i == 0 || !o.option.MatchString(text) || name == "printf" && i > 1 || name == "[" && !isOperator(c, i) {
				continue
			}
			f.found = append(f.found, bashism{w.Pos(), w.End(), o.what, o.instead, o.does})
			return
		}
	}
}

var echoEscapes = regexp.MustCompile(`^-[nE]*e[neE]*$`)

// isOperator tells whether an argument of [ stands where an operator does: -v
// first and with one word behind it, the others between words.
func isOperator(c *syntax.CallExpr, i int) bool {
	rest := len(c.Args) - i - 1
	if c.Args[i].Lit() == "-v" {
		return i == 1 && (rest == 1 || rest == 2 && c.Args[i+2].Lit() == "]")
	}
	return i > 1 && rest > 0 && c.Args[i].Lit() != ""
}
