package expression

import (
	"sort"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/ax-scheduler/ax/dsl"
)

// form is how an expression in a script has to be written.
type form uint8

const (
	unknown form = iota
	bare         // outside of quotes: it brings its own
	quoted       // where the shell expands, but does not split
	comment      // it is left as it is
)

// reference gives the expansion of a variable.
func (f form) reference(name string) string {
	if f == quoted {
		return "${" + name + "}"
	}
	return `"${` + name + `}"`
}

// stand is where one expression stands: its form, or why it cannot stand there.
type stand struct {
	form  form
	fault *Error
}

const (
	viaEnv     = "pass the value through env: and use the variable"
	viaAssign  = "assign it to a variable before: x=${{ … }}"
	viaCommand = "write $(…) instead of the backquotes"
)

// survey finds out where the expressions of a script stand. What /bin/sh is
// differs, and so does what it makes of a place; there, what bash would say
// against a place counts as well.
func (r *Reader) survey(shell Shell, text string, list []dsl.Expression) ([]stand, *Error) {
	if shell == Other {
		stands := make([]stand, len(list))
		for i, e := range list {
			stands[i].fault = place{e.Start, e.End}.bad("an expression in a script for another shell than sh and bash", viaEnv)
		}
		return stands, nil
	}
	tree, fault := r.treeFor(shell.variant(), text, list)
	if fault != nil {
		return nil, fault
	}
	stands := r.look(tree, text, list)
	if shell == Bash || !contested(text, list) {
		return stands, nil
	}
	tree, fault = r.treeFor(syntax.LangBash, text, list)
	if fault != nil {
		// Bash cannot read the script: then sh is not bash, unless only an
		// expression is in the way.
		for i, e := range list {
			if fault.Kind != ShellSyntax && fault.Offset == e.Start && stands[i].fault == nil {
				stands[i].fault = fault
			}
		}
		return stands, nil
	}
	for i, s := range r.look(tree, text, list) {
		switch {
		case stands[i].fault != nil:
		case s.fault != nil:
			stands[i] = s
		case s.form != stands[i].form:
			stands[i].fault = place{list[i].Start, list[i].End}.bad("shells differ in what an expression here means", viaEnv)
		}
	}
	return stands, nil
}

// contested tells whether shells may differ in how they read a script: whether
// there is more in it than plain commands, pipes, variables, quotes and files.
func contested(text string, list []dsl.Expression) bool {
	from := 0
	for _, e := range list {
		if special(text[from:e.Start]) {
			return true
		}
		from = e.End
	}
	return special(text[from:]) || declaring(text)
}

func special(text string) bool {
	return strings.ContainsAny(text, "(){}[]&!^`") || strings.Contains(text, "<<") || strings.Contains(text, "+=") ||
		strings.Contains(text, "$'") || strings.Contains(text, `$"`)
}

// declaring finds the words that declare variables, and those that begin what
// only some shells know.
func declaring(text string) bool {
	for i := 0; i < len(text); {
		n := wordWidth(text[i:])
		switch text[i : i+n] {
		case "coproc", "declare", "export", "function", "let", "local", "nameref", "readonly", "select", "time", "typeset":
			return true
		}
		i += n + 1
	}
	return false
}

// surveyor looks through a script.
type surveyor struct {
	text     string
	list     []dsl.Expression
	stands   []stand
	stack    []syntax.Node   // from the script to what is looked at
	integers map[string]bool // variables whose assignments bash computes
	commands map[*syntax.CallExpr]*roles
	computed map[*syntax.DeclClause]bool // declarations of integers and references
}

func (r *Reader) look(tree Tree, text string, list []dsl.Expression) []stand {
	s := &surveyor{text: text, list: list, stands: make([]stand, len(list)), stack: r.stack, integers: integerVariables(tree, text)}
	for i, b := range tree {
		switch n := b.Node.(type) {
		case *syntax.Lit:
			s.each(n, func(e dsl.Expression) (form, string, string) {
				s.stack = tree.way(s.stack, i)
				return s.literal(e)
			})
		case *syntax.SglQuoted:
			s.each(n, func(dsl.Expression) (form, string, string) {
				return unknown, "an expression within single quotes does not expand", "use double quotes, or pass the value through env:"
			})
		case *syntax.Comment:
			s.each(n, func(e dsl.Expression) (form, string, string) {
				if strings.ContainsAny(text[e.Start:e.End], "\n\r") {
					return unknown, "an expression of several lines in a comment", "write it in one line"
				}
				return comment, "", ""
			})
		}
	}
	for i, e := range list {
		if s.stands[i] == (stand{}) {
			s.stands[i].fault = place{e.Start, e.End}.bad("an expression cannot stand here", viaEnv)
		}
	}
	r.stack = s.stack
	return s.stands
}

// each judges the expressions within a node.
func (s *surveyor) each(n syntax.Node, judge func(dsl.Expression) (form, string, string)) {
	from, to := int(n.Pos().Offset()), int(n.End().Offset())
	first := sort.Search(len(s.list), func(i int) bool { return s.list[i].Start >= from })
	for i := first; i < len(s.list) && s.list[i].End <= to; i++ {
		e := s.list[i]
		f, message, hint := judge(e)
		s.stands[i] = stand{form: f}
		if message != "" {
			s.stands[i] = stand{fault: place{e.Start, e.End}.bad(message, hint)}
		}
	}
}

// literal judges an expression within plain text: first by what stands right
// before it, then by what is around.
func (s *surveyor) literal(e dsl.Expression) (form, string, string) {
	before := s.text[s.textStart(e):e.Start]
	escapes := len(before) - len(strings.TrimRight(before, `\`))
	if escapes%2 == 1 {
		return unknown, "a backslash right before an expression", `remove it, or write "\\" for a backslash`
	}
	if rest, ok := strings.CutSuffix(before, "$"); ok {
		if escapes = len(rest) - len(strings.TrimRight(rest, `\`)); escapes%2 == 0 {
			return unknown, `a "$" right before an expression`, `write "\$" for a dollar sign`
		}
	}
	w := &way{surveyor: s, at: len(s.stack) - 1}
	f, message, hint := w.up()
	if message != "" {
		return unknown, message, hint
	}
	for ; w.at >= 0; w.at-- {
		if c, ok := s.stack[w.at].(*syntax.CmdSubst); ok && c.Backquotes {
			return unknown, "an expression within backquotes", viaCommand
		}
	}
	return f, "", ""
}

// textStart gives where the plain text begins that the present literal belongs
// to, as far as it matters to an expression in it: the parser makes several
// pieces of some texts, and only backslashes and dollar signs may matter.
func (s *surveyor) textStart(e dsl.Expression) int {
	here := s.stack[len(s.stack)-1]
	from := int(here.Pos().Offset())
	var parts []syntax.WordPart
	switch p := s.stack[len(s.stack)-2].(type) {
	case *syntax.Word:
		parts = p.Parts
	case *syntax.DblQuoted:
		parts = p.Parts
	}
	i := sort.Search(len(parts), func(i int) bool { return int(parts[i].Pos().Offset()) >= from })
	for ; i > 0 && i < len(parts) && strings.Trim(s.text[from:e.Start], `\$`) == ""; i-- {
		if _, plain := parts[i-1].(*syntax.Lit); !plain {
			break
		}
		from = int(parts[i-1].Pos().Offset())
	}
	return from
}
