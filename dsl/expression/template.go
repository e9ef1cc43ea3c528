package expression

import (
	"fmt"
	"strings"

	"github.com/ax-scheduler/ax/dsl"
)

// Template is a text with expressions in ${{ }}, compiled. It does not change.
// There is no escape: the characters themselves are written ${{ "${{" }}.
type Template struct {
	text  string
	parts []expressionPart
}

// expressionPart is one expression and the text before it.
type expressionPart struct {
	before  string
	program *Program
	tail    int // where the text behind it begins
}

// split finds the expressions of a text.
func split(text string) ([]dsl.Expression, *Error) {
	list, unclosed := dsl.Expressions(text)
	if unclosed >= 0 {
		return list, place{unclosed, unclosed + 3}.bad(`"${{" has no "}}"`, "close the expression")
	}
	return list, nil
}

// CompileTemplate reads a text and compiles what stands in ${{ }}. All faults
// are given; the template is of use only if there is none. A text without
// expressions costs nothing.
func CompileTemplate(text string, scope *Scope) (*Template, Errors) {
	t := &Template{text: text}
	if !strings.Contains(text, "${{") {
		return t, nil
	}
	list, unclosed := split(text)
	var faults Errors
	from := 0
	for _, e := range list {
		p, bad := compileAt(e, scope)
		if len(bad) > 0 {
			faults = append(faults, bad...)
			continue
		}
		t.parts = append(t.parts, expressionPart{text[from:e.Start], p, e.End})
		from = e.End
	}
	if unclosed != nil {
		faults = append(faults, unclosed)
	}
	return t, faults
}

// compileAt compiles an expression that stands in a text. An empty one is
// pointed at with its brackets.
func compileAt(e dsl.Expression, scope *Scope) (*Program, Errors) {
	if strings.TrimSpace(e.Text) == "" {
		return nil, Errors{place{e.Start, e.End}.bad("the expression is empty", "write a value between ${{ and }}")}
	}
	p, faults := compile(e.Text, WantText, scope)
	if len(faults) > 0 {
		return nil, faults.inOrder(e.Offset)
	}
	p.by += e.Offset
	return p, nil
}

// Constant tells whether the text has no expressions.
func (t *Template) Constant() bool { return len(t.parts) == 0 }

// References gives the names that the expressions use, in order.
func (t *Template) References() []Reference {
	var all []Reference
	for _, p := range t.parts {
		all = append(all, p.program.refs...)
	}
	return all
}

// Asks gives the parameters without whose values the text surely has none.
func (t *Template) Asks() (all []string) {
	for _, p := range t.parts {
		all = append(all, p.program.asks...)
	}
	return all
}

// Text gives the text with the values of the expressions in it. The error is an
// *Error: the first expression that has no value.
func (t *Template) Text(values *Values) (string, error) {
	if len(t.parts) == 0 {
		return t.text, nil
	}
	var b strings.Builder
	for _, p := range t.parts {
		b.WriteString(p.before)
		s, err := p.program.text(values)
		if err != nil {
			return "", err
		}
		b.WriteString(s)
	}
	b.WriteString(t.text[t.parts[len(t.parts)-1].tail:])
	return b.String(), nil
}

// Args gives the arguments of a command: each template makes exactly one. The
// error is an *Error that counts from the beginning of the argument at index
// bad; bad is -1 where there is none.
func Args(templates []*Template, values *Values) (args []string, bad int, err error) {
	args = make([]string, len(templates))
	for i, t := range templates {
		if args[i], err = t.Text(values); err == nil {
			err = noNUL(args[i], place{0, len(t.text)}, fmt.Sprintf("argument %d", i))
		}
		if err != nil {
			return nil, i, err
		}
	}
	return args, -1, nil
}

// noNUL refuses what the operating system would cut off.
func noNUL(text string, at place, what string) error {
	if strings.IndexByte(text, 0) >= 0 {
		return at.at(&failure{message: what + " holds a NUL character", hint: "no program can be given one"})
	}
	return nil
}
