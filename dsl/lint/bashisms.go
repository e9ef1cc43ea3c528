package lint

import (
	"regexp"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/ax-scheduler/ax/dsl"
)

// bashism is something in a script that bash has and sh has not. What is
// looked for is what dash does not have, the sh of Debian and Ubuntu.
type bashism struct {
	at, end syntax.Pos
	what    string
	instead string // how sh says it, empty if it has no short way
	does    string // what sh does at it; empty if it surely fails
}

// bashisms reports the first thing in a script for sh that needs bash, whose
// mending, the right shell, mends the others as well. What fails comes before
// what only means something else.
func (p *pass) bashisms(t *dsl.Task, s *script) {
	found := bashismsOf(s, p.definedFor(t))
	for _, b := range found {
		if b.does == "" {
			p.needsBash(t, b)
			return
		}
	}
	if len(found) > 0 {
		b := found[0]
		p.within("bash-only", t.Run, int(b.at.Offset()), int(b.end.Offset()-b.at.Offset()), b.hint(),
			"%s means something in bash only: sh %s", b.what, b.does)
	}
}

func (p *pass) needsBash(t *dsl.Task, b bashism) {
	p.within("shell-syntax", t.Run, int(b.at.Offset()), int(b.end.Offset()-b.at.Offset()), b.hint(),
		"the script uses %s, which bash has and sh does not", b.what)
}

func (b bashism) hint() string {
	if b.instead == "" {
		return `set "shell: bash", or write it another way`
	}
	return `set "shell: bash", or write ` + b.instead
}

// definedFor tells which variables the environment of a task surely has.
func (p *pass) definedFor(t *dsl.Task) func(name string) bool {
	return func(name string) bool {
		has := func(f dsl.EnvVar) bool { return f.Name.V == name }
		return len(p.wf.EnvFile) > 0 || p.namesOf().env[name] || slices.ContainsFunc(t.Env, has)
	}
}

// bashismsOf finds what of a script sh does not have, in the order of the text.
// The script may have been read as one for bash.
func bashismsOf(s *script, defined func(name string) bool) []bashism {
	f := &bashFinder{text: s.text, defined: defined, strict: s.strict}
	s.tree.Walk(f.declared)
	s.tree.Walk(f.visit)
	if strings.Contains(s.text, "BASH_VERSION") { // it asks which shell it is read by
		f.found = slices.DeleteFunc(f.found, func(b bashism) bool { return !b.readsNowhere() })
	}
	slices.SortStableFunc(f.found, func(a, b bashism) int { return int(a.at.Offset()) - int(b.at.Offset()) })
	return f.found
}

// readsNowhere tells whether a shell that does not have it cannot even read a
// script past it.
func (b bashism) readsNowhere() bool { return slices.Contains(grammar, b.what) }

type bashFinder struct {
	text    string
	defined func(name string) bool
	strict  bool            // a variable that is not set ends the script
	names   map[string]bool // of the script's own functions, and of variables that it sets
	found   []bashism
}

func (f *bashFinder) add(n interface{ Pos() syntax.Pos }, end syntax.Pos, what, instead string) {
	f.found = append(f.found, bashism{at: n.Pos(), end: end, what: what, instead: instead})
}

func (f *bashFinder) other(n syntax.Node, what, does, instead string) {
	f.found = append(f.found, bashism{n.Pos(), n.End(), what, instead, does})
}

// declared notes the names that the script itself gives a meaning.
func (f *bashFinder) declared(n syntax.Node) bool {
	switch n := n.(type) {
	case *syntax.FuncDecl:
		f.name(n.Name.Value)
	case *syntax.Assign:
		if n.Name != nil {
			f.name(n.Name.Value)
		}
	case *syntax.WordIter:
		f.name(n.Name.Value)
	case *syntax.ParamExp:
		if n.Exp != nil && (n.Exp.Op == syntax.AssignUnset || n.Exp.Op == syntax.AssignUnsetOrNull) {
			f.name(n.Param.Value)
		}
	case *syntax.CallExpr:
		if len(n.Args) > 1 && (n.Args[0].Lit() == "." || n.Args[0].Lit() == "eval") { // where they may be set
			f.name("HOSTNAME")
			f.name("EUID")
		}
		if len(n.Args) > 1 && slices.Contains([]string{"read", "alias", "unset"}, n.Args[0].Lit()) {
			for _, w := range n.Args[1:] {
				name, _, _ := strings.Cut(w.Lit(), "=")
				f.name(name)
			}
		}
	}
	return true
}

func (f *bashFinder) name(name string) {
	if f.names == nil {
		f.names = map[string]bool{}
	}
	f.names[name] = true
}

func (f *bashFinder) visit(n syntax.Node) bool {
	switch n := n.(type) {
	case *syntax.CallExpr:
		f.call(n)
	case *syntax.ForClause:
		f.loop(n)
	case *syntax.Redirect:
		f.redirect(n)
	case *syntax.ParamExp:
		f.expansion(n)
	case *syntax.Word:
		f.quotes(n)
	case *syntax.CmdSubst:
		if len(n.Stmts) == 1 && n.Stmts[0].Cmd == nil && len(n.Stmts[0].Redirs) == 1 && n.Stmts[0].Redirs[0].Op == syntax.RdrIn {
			f.other(n, "$(<FILE)", "gives nothing for it", "$(cat FILE)")
		}
	case *syntax.Subshell:
		f.arithmetic(n)
	default:
		f.grammar(n)
	}
	return true
}

// quotes finds quotes with a dollar sign before them.
func (f *bashFinder) quotes(w *syntax.Word) {
	dollar := false
	for _, part := range w.Parts {
		single, double := false, false
		switch part := part.(type) {
		case *syntax.SglQuoted:
			single = dollar || part.Dollar
		case *syntax.DblQuoted:
			double = dollar || part.Dollar
		}
		if single {
			f.other(w, "$'…'", "passes on the dollar sign, and the escapes as they stand", `"$(printf '…')"`)
		} else if double {
			f.other(w, `$"…"`, "passes on the dollar sign", `"…"`)
		}
		lit, ok := part.(*syntax.Lit)
		dollar = ok && strings.HasSuffix(lit.Value, "$") && !strings.HasSuffix(lit.Value, `\$`)
	}
}

// The names of what sh cannot read; that is in the way even of a script that
// would leave it out.
var grammar = []string{cStyleLoop, "`select`", "`function`", "a here-string (`<<<`)", "`|&`", "`;&`", "a process substitution", "arrays", "extended globs"}

const cStyleLoop = "a loop with `((…))`"

// grammar finds what sh cannot read, or reads as a command that is not there.
func (f *bashFinder) grammar(n syntax.Node) {
	switch n := n.(type) {
	case *syntax.TestClause:
		f.add(n, ending(n.Left, 2), "`[[`", "[ … ]")
	case *syntax.ArithmCmd:
		f.add(n, n.End(), "`((…))`", "[ … -gt … ] to compare, x=$((…)) to set a variable")
	case *syntax.LetClause:
		f.add(n, n.End(), "`let`", "x=$((…))")
	case *syntax.FuncDecl:
		if n.RsrvWord {
			f.add(n, n.Name.End(), "`function`", n.Name.Value+"() {")
		}
	case *syntax.ProcSubst:
		f.add(n, n.End(), "a process substitution", "to a file that the other command reads")
	case *syntax.ArrayExpr:
		f.add(n, n.End(), "arrays", `set -- …, and "$@"`)
	case *syntax.ExtGlob:
		f.add(n, n.End(), "extended globs", "")
	case *syntax.Assign:
		if n.Append {
			f.add(n, n.End(), "`+=`", n.Name.Value+"=$"+n.Name.Value+"…")
		} else if n.Index != nil {
			f.add(n, n.End(), "arrays", "")
		}
	case *syntax.DeclClause:
		if v := n.Variant.Value; slices.Contains([]string{"declare", "typeset", "nameref"}, v) {
			f.add(n, n.Variant.End(), "`"+v+"`", "a plain assignment")
		}
	case *syntax.CoprocClause:
		f.add(n, n.End(), "`coproc`", "")
	case *syntax.BinaryCmd:
		if n.Op == syntax.PipeAll {
			f.add(opAt(n.OpPos), ending(n.OpPos, 2), "`|&`", "2>&1 |")
		}
	case *syntax.CaseItem:
		if n.Op == syntax.Fallthrough || n.Op == syntax.Resume {
			f.add(opAt(n.OpPos), ending(n.OpPos, 2), "`;&`", ";;")
		}
	case *syntax.BinaryArithm:
		if n.Op == syntax.Pow || n.Op == syntax.Comma {
			f.add(n, n.End(), "`"+n.Op.String()+"` in arithmetic", "")
		}
	case *syntax.UnaryArithm:
		if n.Op == syntax.Inc || n.Op == syntax.Dec {
			f.add(n, n.End(), "`"+n.Op.String()+"`", map[bool]string{true: "$((x += 1))", false: "$((x -= 1))"}[n.Op == syntax.Inc])
		}
	}
}

// opAt is an operator, by its place.
type opAt syntax.Pos

func (o opAt) Pos() syntax.Pos { return syntax.Pos(o) }

func ending(at syntax.Pos, width uint) syntax.Pos {
	return syntax.NewPos(at.Offset()+width, at.Line(), at.Col()+width)
}

// arithmetic finds `((…))` where the script was read as one for sh: a subshell
// in a subshell, and nothing else.
func (f *bashFinder) arithmetic(n *syntax.Subshell) {
	if len(n.Stmts) != 1 {
		return
	}
	inner, ok := n.Stmts[0].Cmd.(*syntax.Subshell)
	if !ok || inner.Lparen.Offset() != n.Lparen.Offset()+1 || n.Rparen.Offset() != inner.Rparen.Offset()+1 {
		return
	}
	if body := f.text[inner.Lparen.Offset()+1 : inner.Rparen.Offset()]; arithmeticBody.MatchString(body) {
		f.add(n, n.End(), "`((…))`", "[ … -gt … ] to compare, x=$((…)) to set a variable")
	}
}

// arithmeticBody is what no command looks like.
var arithmeticBody = regexp.MustCompile(`^\s*(\$?\w+\s*(\+\+|--|[-+*/%]?=|[<>]=?|==|!=|%|\*)|(\+\+|--|!)\$?\w+|\$?\w+\s*$)`)

func (f *bashFinder) redirect(r *syntax.Redirect) {
	switch {
	case r.Op == syntax.WordHdoc:
		f.add(r, r.End(), "a here-string (`<<<`)", "printf '%s\\n' … | and the command")
	case r.Op == syntax.RdrAll || r.Op == syntax.AppAll:
		f.add(r, r.End(), "`"+r.Op.String()+"`", map[bool]string{true: "> FILE 2>&1", false: ">> FILE 2>&1"}[r.Op == syntax.RdrAll])
	case r.Op == syntax.DplOut && r.N == nil && r.Word.Lit() != "" && !descriptor.MatchString(r.Word.Lit()):
		f.add(r, r.End(), "`>&` with a file", "> FILE 2>&1")
	case r.N != nil && strings.HasPrefix(r.N.Value, "{"):
		f.add(r, r.End(), "a descriptor that is a variable", "a number")
	}
}

var descriptor = regexp.MustCompile(`^(\d+-?|-)$`)

// expansion finds what only bash can do to a variable, and variables that only
// bash sets.
func (f *bashFinder) expansion(n *syntax.ParamExp) {
	var what, instead string
	switch {
	case n.Excl || n.Names != 0:
		what, instead = "`${!…}`", `eval "value=\$$name"`
	case n.Index != nil:
		what, instead = "arrays", `set -- …, and "$@"`
	case n.Slice != nil:
		what, instead = "slicing (`${x:0:3}`)", "$(printf '%.3s' \"$x\"), or cut -c"
	case n.Repl != nil:
		what, instead = "search and replace (`${x/a/b}`)", `$(printf '%s' "$x" | sed 's/a/b/')`
	case n.Exp != nil && n.Exp.Op == syntax.OtherParamOps:
		what = "`${x@…}`"
	case n.Exp != nil && (n.Exp.Op == syntax.UpperFirst || n.Exp.Op == syntax.UpperAll):
		what, instead = "upper case (`${x^^}`)", `$(printf '%s' "$x" | tr '[:lower:]' '[:upper:]')`
	case n.Exp != nil && (n.Exp.Op == syntax.LowerFirst || n.Exp.Op == syntax.LowerAll):
		what, instead = "lower case (`${x,,}`)", `$(printf '%s' "$x" | tr '[:upper:]' '[:lower:]')`
	case n.Exp == nil && n.Param != nil && slices.Contains(bashVariables, n.Param.Value) && !f.names[n.Param.Value] && !f.defined(n.Param.Value):
		does := "has no such variable"
		if f.strict {
			does = ""
		}
		f.found = append(f.found, bashism{n.Pos(), n.End(), "$" + n.Param.Value, "", does})
	case n.Exp == nil && n.Param != nil && n.Param.Value == "HOSTNAME" && !f.names["HOSTNAME"] && !f.defined("HOSTNAME"):
		f.other(n, "$HOSTNAME", "has it only where the environment of ax does", "$(hostname)")
	}
	if what != "" {
		f.add(n, n.End(), what, instead)
	}
}

var bashVariables = strings.Fields("RANDOM SRANDOM SECONDS BASHPID PIPESTATUS FUNCNAME BASH_SOURCE EPOCHSECONDS EPOCHREALTIME EUID")

var (
	numbers      = regexp.MustCompile(`\{(-?\d+\.\.-?\d+|[A-Za-z]\.\.[A-Za-z])(\.\.-?\d+)?\}`)
	alternatives = regexp.MustCompile(`\{[^{}$ ]*,[^{}$ ]*\}`)
)

// loop finds what sh does not loop over.
func (f *bashFinder) loop(n *syntax.ForClause) {
	switch i := n.Loop.(type) {
	case *syntax.CStyleLoop:
		f.add(n, ending(i.Rparen, 2), cStyleLoop, "while [ … ]; do … done, or for x in $(seq 1 9)")
	case *syntax.WordIter:
		if n.Select {
			f.add(n, i.Name.End(), "`select`", "")
		}
		for _, w := range i.Items {
			f.braces(w, true)
		}
	}
}

// braces finds what bash makes several words of. A comma in braces means
// something to other programs, such as curl; only for those that are known to
// want files it is surely meant for the shell.
func (f *bashFinder) braces(w *syntax.Word, files bool) {
	for _, part := range w.Parts {
		lit, ok := part.(*syntax.Lit)
		if !ok || strings.Contains(lit.Value, "\\") {
			continue
		}
		if !strings.Contains(lit.Value, "{") {
			continue
		}
		if numbers.MatchString(lit.Value) || files && alternatives.MatchString(lit.Value) {
			f.other(w, "{…}", "takes it for one word, as it stands", "the words, or $(seq 1 9) for numbers")
			return
		}
	}
}

var wantsFiles = strings.Fields("cat chmod chown cp head ls mkdir mv rm rmdir tail touch wc")
