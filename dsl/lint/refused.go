package lint

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/ax-scheduler/ax/dsl"
	"github.com/ax-scheduler/ax/dsl/expression"
)

// refused reports commands that the shell itself has and that surely fail, the
// first of a script.
func (p *pass) refused(t *dsl.Task, s *script, lang syntax.LangVariant) {
	f := &refusals{bash: lang == syntax.LangBash, text: s.text, tree: s.tree}
	for _, b := range s.tree {
		if n, ok := b.Node.(*syntax.FuncDecl); ok {
			if f.own == nil {
				f.own = map[string]bool{}
			}
			f.own[n.Name.Value] = true
			f.functions = append(f.functions, n)
		}
	}
	s.tree.Walk(func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.CallExpr:
			if f.blankEnd(n); f.at == nil && len(n.Args) > 0 && !f.own[n.Args[0].Lit()] {
				f.call(n)
			}
		case *syntax.DeclClause: // as bash is read
			if n.Variant.Value == "local" {
				f.local(n.Variant)
			}
		}
		return f.at == nil
	})
	if f.at != nil {
		from, to := int(f.at.Pos().Offset()), int(f.at.End().Offset())
		p.within("shell-syntax", t.Run, from, to-from, f.hint, "%s", f.message)
	}
}

// refusals looks for the first command that the shell refuses.
type refusals struct {
	bash      bool
	text      string
	tree      expression.Tree
	own       map[string]bool // names of the script's functions
	expanded  map[string]bool // names of variables that it uses; made when it is asked for
	functions []*syntax.FuncDecl

	at            syntax.Node
	message, hint string
}

func (f *refusals) say(at syntax.Node, hint, format string, args ...any) {
	f.at, f.hint, f.message = at, hint, fmt.Sprintf(format, args...)
}

func (f *refusals) call(c *syntax.CallExpr) {
	switch c.Args[0].Lit() {
	case "exit":
		f.exit(c.Args[1:])
	case "set":
		f.set(c.Args[1:])
	case "trap":
		f.trap(c.Args[1:])
	case "local":
		f.local(c.Args[0])
	case "[":
		f.bracket(c.Args)
	default:
		f.assignment(c.Args)
	}
}

// bracket finds a test that is not closed, for want of a blank most often.
func (f *refusals) bracket(args []*syntax.Word) {
	last := args[len(args)-1]
	if text, ok := literal(last); ok && text == "]" {
		return
	}
	switch part := last.Parts[len(last.Parts)-1].(type) {
	case *syntax.Lit:
		if text := strings.TrimSuffix(part.Value, "]"); text != part.Value {
			f.say(last, "put a blank before the bracket", "`[` is not closed: its last word is not `]`")
			return
		}
	case *syntax.ParamExp, *syntax.CmdSubst: // may be anything
		return
	}
	f.say(args[0], "close it by a word `]`", "`[` is not closed: its last word is not `]`")
}

// assignment finds blanks around the sign of an assignment: the name of a
// variable that the script uses elsewhere is taken for a command.
func (f *refusals) assignment(args []*syntax.Word) {
	name := args[0].Lit()
	if len(args) < 2 || slices.Contains(named, name) {
		return
	}
	sign, ok := args[1].Parts[0].(*syntax.Lit)
	if ok && (args[1].Lit() == "=" || len(args) == 2 && strings.HasPrefix(sign.Value, "=") && !strings.HasPrefix(sign.Value, "==")) && f.uses(name) {
		f.say(args[0], "write "+name+"=… without blanks", "%q is taken for a command here: there are blanks around the sign of an assignment", name)
	}
}

// uses tells whether the script asks for a variable.
func (f *refusals) uses(name string) bool {
	if f.expanded == nil {
		f.expanded = map[string]bool{}
		for _, b := range f.tree {
			if n, ok := b.Node.(*syntax.ParamExp); ok && n.Param != nil {
				f.expanded[n.Param.Value] = true
			}
		}
	}
	return f.expanded[name]
}

// named are commands to which a lone sign may be an argument.
var named = strings.Fields("cut echo expr grep printf sed sort test tr awk")

// blankEnd finds a blank behind the backslash at the end of a line: it is an
// argument then, and the next line a command of its own.
func (f *refusals) blankEnd(c *syntax.CallExpr) {
	if len(c.Args) < 2 {
		return
	}
	last := c.Args[len(c.Args)-1]
	if end := int(last.End().Offset()); last.Lit() == `\ ` && blankLine.MatchString(f.text[end:]) {
		f.say(last, "remove the blank", "a blank behind the backslash: the command ends here")
	}
}

var blankLine = regexp.MustCompile(`^[ \t]*\n[ \t]*[^ \t\n#]`)

// exit finds what is no number. What is overwritten may be one.
func (f *refusals) exit(args []*syntax.Word) {
	if len(args) == 0 {
		return
	}
	text, ok := literal(args[0])
	if ok && text != "" && !strings.Contains(text, "_____") && !statusNumber.MatchString(text) {
		f.say(args[0], "a status is a number from 0 to 255", "%q is no status to exit with", text)
	}
}

var statusNumber = regexp.MustCompile(`^[-+]?\d+$`)

// The options that `set -o` knows, of dash with pipefail, which newer ones have,
// and what bash has besides.
var (
	setNames     = strings.Fields("allexport debug emacs errexit ignoreeof interactive monitor noclobber noexec noglob nolog notify nounset pipefail privileged stdin verbose vi xtrace")
	setNamesBash = strings.Fields("braceexpand errtrace functrace hashall histexpand history interactive-comments keyword onecmd physical posix")
)

var setName = regexp.MustCompile(`^[-+][a-zA-Z]*o$`)

// set finds options that are none.
func (f *refusals) set(args []*syntax.Word) {
	names := setNames
	if f.bash {
		names = slices.Concat(setNames, setNamesBash)
	}
	for i := 0; i+1 < len(args); i++ {
		text, ok := literal(args[i])
		if !ok || !strings.HasPrefix(text, "-") && !strings.HasPrefix(text, "+") || text == "--" {
			return
		}
		if !setName.MatchString(text) {
			continue
		}
		i++
		if name, ok := literal(args[i]); ok && optionName.MatchString(name) && !slices.Contains(names, name) && !slices.Contains(setNamesBash, name) {
			f.say(args[i], dsl.DidYouMean(dsl.Nearest(name, names)), "set has no option %q", name)
			return
		}
	}
}

var optionName = regexp.MustCompile(`^[a-z][a-z-]*$`)

// signals are what a trap can be on; SIG before them, which bash knows, and
// what only bash has are looked for elsewhere.
var signals = strings.Fields("EXIT HUP INT QUIT ILL TRAP ABRT IOT BUS FPE KILL USR1 SEGV USR2 PIPE ALRM TERM STKFLT CHLD CLD CONT STOP TSTP TTIN TTOU URG XCPU XFSZ VTALRM PROF WINCH IO POLL PWR SYS EMT INFO LOST UNUSED ERR DEBUG RETURN")

var signalName = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9]*$`)

// trap finds signals that there are not.
func (f *refusals) trap(args []*syntax.Word) {
	if len(args) < 2 || strings.HasPrefix(args[0].Lit(), "-") && args[0].Lit() != "-" {
		return
	}
	for _, w := range args[1:] {
		text, ok := literal(w)
		name := strings.TrimPrefix(strings.ToUpper(text), "SIG")
		if !ok || !signalName.MatchString(text) || strings.HasPrefix(name, "RT") || slices.Contains(signals, name) {
			continue
		}
		f.say(w, cmp.Or(dsl.DidYouMean(dsl.Nearest(name, signals)), "the signals are EXIT, HUP, INT, TERM and others"), "there is no signal %q to trap", text)
		return
	}
}

// local finds it outside of all functions.
func (f *refusals) local(at syntax.Node) {
	inside := func(d *syntax.FuncDecl) bool {
		return d.Pos().Offset() <= at.Pos().Offset() && at.Pos().Offset() < d.End().Offset()
	}
	if !slices.ContainsFunc(f.functions, inside) {
		f.say(at, "leave it out: a plain assignment", "`local` stands in no function")
	}
}
