package expression

import (
	"errors"
	"path"
	"regexp"
	"strconv"
	"strings"
	"sync"

	"mvdan.cc/sh/v3/syntax"

	"github.com/ax-scheduler/ax/dsl"
)

// Shell says who reads a script.
type Shell uint8

// The readers of scripts. Only the shells may have expressions in theirs.
const (
	Other Shell = iota
	Sh          // whatever /bin/sh is: dash, busybox, bash
	Bash
)

// ShellOf tells from the argv list of a task's shell who reads its scripts; an
// empty list is sh.
func ShellOf(argv []string) Shell {
	if len(argv) == 0 {
		return Sh
	}
	switch path.Base(argv[0]) {
	case "sh", "dash", "ash":
		return Sh
	case "bash":
		return Bash
	}
	return Other
}

// Script is a script in which every expression has become a reference to a
// variable, quoted as its place needs: the value arrives as one word, byte for
// byte, and is never read as shell. It does not change.
type Script struct {
	text string
	vars []scriptVariable
}

type scriptVariable struct {
	name    string
	program *Program
}

// CompileScript compiles the expressions of a script and finds out how each of
// them has to be quoted. All faults are given; the script is of use only if
// there is none. Where the shell cannot read it, the expressions are compiled
// all the same, but for those behind a "#" that may begin a comment. A script
// without expressions is not even looked at: see CheckScript. Expressions in
// comments mean nothing.
func CompileScript(shell Shell, text string, scope *Scope) (*Script, Errors) {
	r := readers.Get().(*Reader)
	defer readers.Put(r)
	return r.CompileScript(shell, text, scope)
}

// CompileScript is the same for the script that was read last, or any other.
func (r *Reader) CompileScript(shell Shell, text string, scope *Scope) (*Script, Errors) {
	if !strings.Contains(text, "${{") {
		return &Script{text: text}, nil
	}
	list, fault := r.split(text)
	var stands []stand
	if fault == nil {
		stands, fault = r.survey(shell, text, list)
	}
	if fault != nil {
		return &Script{text: text}, append(faultsOf(text, list, scope), fault).inOrder(0)
	}
	s, out := &Script{}, strings.Builder{}
	var faults Errors
	prefix, names, from := variablePrefix(text), map[string]string{}, 0
	for i, e := range list {
		if stands[i].fault != nil {
			faults = append(faults, stands[i].fault)
			continue
		}
		if stands[i].form == comment {
			continue
		}
		name, known := names[e.Text]
		if !known {
			p, bad := r.compileAt(e, scope)
			if len(bad) > 0 {
				faults = append(faults, bad...)
				continue
			}
			name = prefix + strconv.Itoa(len(names)+1)
			names[e.Text] = name
			s.vars = append(s.vars, scriptVariable{name, p})
		}
		out.WriteString(text[from:e.Start])
		out.WriteString(stands[i].form.reference(name))
		from = e.End
	}
	out.WriteString(text[from:])
	s.text = out.String()
	return s, faults
}

// faultsOf gives the faults within the expressions of a script that the shell
// cannot read.
func faultsOf(text string, list []dsl.Expression, scope *Scope) (faults Errors) {
	for _, e := range list {
		line := text[strings.LastIndexByte(text[:e.Start], '\n')+1 : e.Start]
		if !strings.Contains(line, "#") {
			_, bad := compileAt(e, scope)
			faults = append(faults, bad...)
		}
	}
	return faults
}

// variablePrefix begins the names of the variables such that the script has
// none that begins so.
func variablePrefix(text string) string {
	prefix := "AX_EXPR_"
	for strings.Contains(text, prefix) {
		prefix += "_"
	}
	return prefix
}

// Text gives the script that is to be run.
func (s *Script) Text() string { return s.text }

// References gives the names that the expressions use, in order.
func (s *Script) References() []Reference {
	var all []Reference
	for _, v := range s.vars {
		all = append(all, v.program.refs...)
	}
	return all
}

// Asks gives the parameters without whose values the script cannot start.
func (s *Script) Asks() (all []string) {
	for _, v := range s.vars {
		all = append(all, v.program.asks...)
	}
	return all
}

// Env gives the variables that the script refers to, as NAME=value; their names
// begin with AX_EXPR_. The error is an *Error: the first expression that has no
// value.
func (s *Script) Env(values *Values) ([]string, error) {
	vars := make([]string, 0, len(s.vars))
	for _, v := range s.vars {
		text, err := v.program.text(values)
		if err == nil {
			at := v.program.body.at
			err = noNUL(text, place{at.from + v.program.by, at.to + v.program.by}, "the value")
		}
		if err != nil {
			return nil, err
		}
		vars = append(vars, v.name+"="+text)
	}
	return vars, nil
}

// CheckScript gives the first fault in the shell syntax of a script, nil where
// there is none and for other readers than the shells.
func CheckScript(shell Shell, text string) *Error {
	list, unclosed := split(text)
	if shell == Other || unclosed != nil {
		return nil
	}
	r := readers.Get().(*Reader)
	defer readers.Put(r)
	_, fault := r.treeFor(shell.variant(), text, list)
	return fault
}

func (s Shell) variant() syntax.LangVariant {
	if s == Bash {
		return syntax.LangBash
	}
	return syntax.LangPOSIX
}

// masked gives a script in which each expression is a plain word of the same
// length, so that offsets stay: its first character, and what the rest is of.
func masked(text string, list []dsl.Expression, first string, rest byte) string {
	if len(list) == 0 {
		return text
	}
	var b strings.Builder
	b.Grow(len(text))
	from := 0
	for _, e := range list {
		b.WriteString(text[from:e.Start])
		b.WriteString(first)
		for range e.End - e.Start - len(first) {
			b.WriteByte(rest)
		}
		from = e.End
	}
	b.WriteString(text[from:])
	return b.String()
}

// strange is a character for private use: it is no part of a name, so that
// `$a${{ b }}` remains the variable a and something behind it.
const strange = "\ue000"

// Readers have buffers that are worth keeping.
var readers = sync.Pool{New: func() any { return new(Reader) }}

// shellError takes the parser's errors apart.
func shellError(err error) (offset int, message, hint string) {
	var p syntax.ParseError
	var l syntax.LangError
	switch {
	case errors.As(err, &p):
		return int(p.Pos.Offset()), strings.ReplaceAll(p.Text, "`", `"`), ""
	case errors.As(err, &l):
		verb := " is"
		if strings.HasSuffix(l.Feature, "s") {
			verb = " are"
		}
		return int(l.Pos.Offset()), strings.ReplaceAll(l.Feature, "`", `"`) + verb + " not available in sh", "set shell: bash"
	}
	return 0, err.Error(), ""
}

// mask is what the parser saw in place of an expression.
var mask = regexp.MustCompile("x{5,}")

func shellFault(err error, text string) *Error {
	at, message, hint := shellError(err)
	at = min(at, len(text))
	return place{at, at + wordWidth(text[at:])}.fault(ShellSyntax, mask.ReplaceAllString(message, "$${{ … }}"), hint)
}
