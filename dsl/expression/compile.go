package expression

import (
	"strings"
	"unicode/utf8"

	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/parser"
)

// MaxCode is the longest expression in bytes.
const MaxCode = 8 << 10

// maxNodes is how many names, operators and values an expression may have.
const maxNodes = 500

// Want says what an expression is for, and so what its value must be.
type Want uint8

// The uses of expressions.
const (
	WantText Want = iota // within a text: anything but nothing
	WantBool             // when, retry.if
	WantList             // foreach
)

// Program is a compiled expression. It does not change, and may be evaluated by
// several goroutines at once.
type Program struct {
	body code
	refs []Reference
	asks []string // parameters without whose values there is surely none
	by   int      // what the offsets of errors are short of
}

// References gives the names that the expression uses, in order, each as often
// as it stands there. The list must not be changed.
func (p *Program) References() []Reference { return p.refs }

// Asks gives the parameters without whose values the expression surely has none
// itself: not those that have another one behind ?? or in default, and not those
// that only one side of a condition asks for. The list must not be changed.
func (p *Program) Asks() []string { return p.asks }

// Compile reads an expression and checks its names and types. The code is a
// bare expression; one within ${{ }} is taken as well. The error is an *Error:
// the first fault; Check gives all of them.
func Compile(code string, want Want, scope *Scope) (*Program, error) {
	p, faults := compile(code, want, scope)
	if len(faults) > 0 {
		return nil, faults[0]
	}
	return p, nil
}

// Check gives all faults of an expression, in order of place. One that cannot
// be taken apart has one; otherwise every name and every operation is looked
// at, and what a faulty part of it could be is not held against the rest.
func Check(code string, want Want, scope *Scope) Errors {
	_, faults := compile(code, want, scope)
	return faults
}

func compile(code string, want Want, scope *Scope) (*Program, Errors) {
	bare, by := unwrapped(code)
	c := &compiler{scope: scope, size: len(bare)}
	body, err := c.compile(bare, want)
	if err != nil {
		c.faults = append(c.faults, err)
	}
	if len(c.faults) > 0 {
		return nil, c.faults.inOrder(by)
	}
	return &Program{body, c.refs, c.asks, by}, nil
}

// unwrapped takes off the ${{ }} around an expression.
func unwrapped(code string) (bare string, by int) {
	if !strings.Contains(code, "${{") {
		return code, 0
	}
	t := strings.TrimSpace(code)
	e, _ := split(t)
	if len(e) != 1 || e[0].Start != 0 || e[0].End != len(t) {
		return code, 0
	}
	return e[0].Text, strings.Index(code, "${{") + e[0].Offset
}

// code is a compiled node of the syntax tree.
type code struct {
	kind     kind // what the value can be
	at       place
	eval     func(*machine) (any, error)
	constant bool
	value    any       // of a constant
	ref      Reference // set where it is just a name
	faulty   bool      // it stands for something with a fault, and is never evaluated
	fixed    bool      // no fact of a run is in it
	items    []code    // of a list that is written out
	only     *domain   // set where it can be just some of the values of its kind
}

// compiler compiles one expression.
type compiler struct {
	scope *Scope
	size  int
	runes []int // byte offsets by number of character; nil where they are the same
	nodes int
	loops int // how many predicates are around
	refs  []Reference
	asks  []string
	maybe int // how many parts are around whose value may not be asked for, or may be missing

	faults Errors // of parts that were gone past
}

func (c *compiler) compile(text string, want Want) (code, *Error) {
	whole := place{0, len(text)}
	switch {
	case strings.TrimSpace(text) == "":
		return code{}, whole.bad("the expression is empty", "")
	case len(text) > MaxCode:
		return code{}, whole.bad("the expression is longer than 8192 bytes", "")
	}
	spelled, fault := spell(text, c.scope)
	if fault != nil {
		return code{}, fault
	}
	c.index(text)
	tree, err := parser.Parse(spelled)
	if err != nil {
		return code{}, c.syntax(err)
	}
	body, fault := c.node(tree.Node)
	if fault == nil {
		body, fault = c.wanted(body, want)
	}
	if fault != nil {
		return code{}, fault
	}
	return body, nil
}

// wanted holds the type of the whole expression against its use.
func (c *compiler) wanted(x code, want Want) (code, *Error) {
	switch want {
	case WantBool:
		return c.need(x, kBool, "a condition")
	case WantList:
		return c.need(x, kList, "foreach")
	}
	return c.need(x, kAny&^kNothing, "a text")
}

// index prepares the way from the parser's places, which count characters.
func (c *compiler) index(text string) {
	if len(text) == utf8.RuneCountInString(text) {
		return
	}
	for i := range text {
		c.runes = append(c.runes, i)
	}
	c.runes = append(c.runes, len(text))
}

func (c *compiler) offset(char int) int {
	if c.runes != nil {
		return c.runes[min(max(char, 0), len(c.runes)-1)]
	}
	return min(max(char, 0), c.size)
}

// token gives the place of the token that the parser noted for a node.
func (c *compiler) token(n ast.Node) place {
	l := n.Location()
	return place{c.offset(l.From), c.offset(l.To)}
}

// node compiles a node with everything below it. A faulty one is noted and
// could be anything from then on, so that the rest is looked at too; the only
// error is that there are too many.
func (c *compiler) node(n ast.Node) (code, *Error) {
	if c.nodes++; c.nodes > maxNodes {
		return code{}, place{0, c.size}.bad("the expression is too large", "let a task work it out and write it to AX_OUTPUT")
	}
	x, err := c.compiled(n)
	if err == nil || c.nodes > maxNodes {
		return x, err
	}
	c.faults = append(c.faults, err)
	return code{kind: kAny, at: place{err.Offset, err.Offset + err.Width}, faulty: true}, nil
}

// perhaps compiles a node whose value may not be asked for, or may be missing.
func (c *compiler) perhaps(n ast.Node) (code, *Error) {
	c.maybe++
	defer func() { c.maybe-- }()
	return c.node(n)
}

// compiled compiles a node.
func (c *compiler) compiled(n ast.Node) (code, *Error) {
	switch n := n.(type) {
	case *ast.NilNode:
		return constant(c.token(n), nil), nil
	case *ast.BoolNode:
		return constant(c.token(n), n.Value), nil
	case *ast.IntegerNode:
		return constant(c.token(n), n.Value), nil
	case *ast.FloatNode:
		return constant(c.token(n), n.Value), nil
	case *ast.StringNode:
		return constant(c.token(n), n.Value), nil
	case *ast.IdentifierNode:
		return c.name(n)
	case *ast.MemberNode:
		return c.member(n)
	case *ast.ChainNode:
		return c.chain(n)
	case *ast.SliceNode:
		return c.slice(n)
	case *ast.UnaryNode:
		return c.unary(n)
	case *ast.BinaryNode:
		return c.binary(n)
	case *ast.ConditionalNode:
		return c.conditional(n)
	case *ast.ArrayNode:
		return c.list(n)
	case *ast.MapNode:
		return c.dict(n)
	case *ast.BuiltinNode:
		return c.call(n.Name, n.Arguments, c.token(n))
	case *ast.CallNode:
		if f, ok := n.Callee.(*ast.IdentifierNode); ok {
			return c.call(f.Value, n.Arguments, c.token(n))
		}
		return code{}, c.token(n).bad("values have no methods", "")
	case *ast.PointerNode:
		return c.pointer(n)
	}
	return code{}, c.unavailable(n)
}

// unavailable names what the parser reads, but the language does not have.
func (c *compiler) unavailable(n ast.Node) *Error {
	switch n.(type) {
	case *ast.VariableDeclaratorNode:
		return c.token(n).bad(`"let" is not available`, "write the value where it is needed")
	case *ast.SequenceNode:
		return c.token(n).bad(`";" is not available`, "an expression has one value")
	case *ast.BytesNode:
		return c.token(n).bad(`b"…" is not available`, "write a string")
	}
	return c.token(n).bad("this is not available", "")
}

func constant(at place, v any) code {
	return code{kind: kindOf(v), at: at, constant: true, fixed: true, value: v, eval: func(*machine) (any, error) { return v, nil }}
}

// need gives a code whose value is surely of one of the kinds, or the fault
// that it cannot be. Who says what it is needed for.
func (c *compiler) need(x code, allowed kind, who string) (code, *Error) {
	possible := x.kind & allowed
	if possible == 0 {
		return x, x.at.bad(who+" needs "+allowed.String()+", but this is "+x.kind.String(), conversion(allowed, x.kind))
	}
	if possible == x.kind {
		return x, nil
	}
	inner := x.eval
	x.eval = func(m *machine) (any, error) {
		v, err := inner(m)
		if err != nil {
			return nil, err
		}
		if k := kindOf(v); k&allowed == 0 {
			return nil, x.at.at(&failure{message: who + " needs " + allowed.String() + ", but got " + k.String(),
				hint: conversion(allowed, k), missing: v == nil})
		}
		return v, nil
	}
	x.kind = possible
	return x, nil
}

// conversion is the hint how to get what is needed from what there is.
func conversion(needed, got kind) string {
	switch {
	case got == kNothing:
		return "give another value with ?? or default"
	case got != kText:
		if needed == kText && got&kList == 0 {
			return "string(…) makes a string of it"
		}
		return ""
	case needed&kNumber != 0:
		return "int(…) or float(…) makes a number of a string"
	case needed == kBool:
		return `compare it with "true", or use bool(…)`
	case needed&kList != 0:
		return "json(…), lines(…) or split(…) makes a list of a string"
	case needed&kMap != 0:
		return "json(…) makes a map of a string"
	case needed&kMoment != 0:
		return "date(…) or time(…) reads a string"
	case needed&kDuration != 0:
		return "duration(…) reads a string"
	}
	return ""
}
