package expression

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/expr-lang/expr/ast"

	"github.com/ax-scheduler/ax/dsl"
)

// call compiles a call of a function.
func (c *compiler) call(name string, args []ast.Node, at place) (code, *Error) {
	f, ok := functions[name]
	if !ok {
		c.inside(args)
		return code{}, c.noFunction(name, at)
	}
	least := len(f.args) - f.optional
	switch {
	case len(args) < least:
		c.inside(args)
		return code{}, at.bad(fmt.Sprintf("%s has too few arguments", name), "it is "+f.Signature)
	case len(args) > len(f.args) && !f.variadic:
		c.inside(args)
		return code{}, at.bad(fmt.Sprintf("%s has too many arguments", name), "it is "+f.Signature)
	case f.loop != nil:
		return c.loop(f, args, at)
	case name == "default":
		return c.otherwise(args[0], args[1])
	}
	codes := make([]code, len(args))
	for i, n := range args {
		var err *Error
		if codes[i], err = c.node(n); err != nil {
			return code{}, err
		}
		if codes[i], err = c.need(codes[i], f.args[min(i, len(f.args)-1)], name); err != nil {
			c.inside(args[i+1:])
			return code{}, err
		}
		at.from, at.to = min(at.from, codes[i].at.from), max(at.to, codes[i].at.to)
	}
	if f.check != nil {
		if last := codes[len(codes)-1]; last.constant {
			if err := f.check(last.value); err != nil {
				return code{}, last.at.at(err).(*Error).as(Bad)
			}
		}
	}
	out := f.out
	if f.keeps {
		out = codes[0].kind
	}
	return c.tried(code{kind: out, at: at, eval: invoked(f, codes, at), fixed: !slices.ContainsFunc(codes, func(x code) bool { return !x.fixed }), only: f.only})
}

// inside looks at arguments of a call that is faulty itself, but for what would
// be evaluated for each item of a list. The error, too many nodes, ends nothing.
func (c *compiler) inside(args []ast.Node) {
	for _, n := range args {
		if _, ok := n.(*ast.PredicateNode); !ok {
			_, _ = c.node(n)
		}
	}
}

// invoked gives the evaluation of a call.
func invoked(f *function, codes []code, at place) func(*machine) (any, error) {
	return func(m *machine) (any, error) {
		args := make([]any, len(codes))
		for i, x := range codes {
			v, err := x.eval(m)
			if err != nil {
				return nil, err
			}
			args[i] = v
		}
		if f.Name == "string" { // 3.10 is no longer known from its value
			if s, ok := codes[0].written(m.values); ok {
				return s, nil
			}
		}
		v, err := f.call(m, args)
		if err != nil {
			return nil, at.at(err)
		}
		return v, nil
	}
}

// noFunction explains a function that there is not.
func (c *compiler) noFunction(name string, at place) *Error {
	name = named(name)
	hint, ok := instead[name]
	if !ok {
		hint = dsl.DidYouMean(dsl.Nearest(name, functionNames))
	}
	return at.bad("unknown function "+strconv.Quote(name), hint)
}

// instead says what to use for functions that people know from elsewhere.
var instead = map[string]string{
	"now":       "a run must give the same when it is repeated: use run.scheduled_for",
	"today":     "a run must give the same when it is repeated: use run.date",
	"fromJSON":  "it is json(text)",
	"fromJson":  "it is json(text)",
	"tojson":    "it is toJSON(value)",
	"toJson":    "it is toJSON(value)",
	"contains":  "write text contains part",
	"success":   "depends_on waits for success by itself",
	"failure":   "write depends_on: {TASK: failed}, or compare tasks.ID.state",
	"always":    "write depends_on: {TASK: finished}",
	"cancelled": "compare tasks.ID.state",
	"reduce":    "let a task work it out and write it to AX_OUTPUT",
	"repeat":    "let a task work it out and write it to AX_OUTPUT",
	"coalesce":  "it is default(value, fallback)",
	"concat":    "+ joins texts",
	"strftime":  "it is format(time, layout)",
	"length":    "it is len(value)",
	"size":      "it is len(value)",
	"str":       "it is string(value)",
}

// as gives the same error with another kind.
func (e *Error) as(k Kind) *Error {
	e.Kind = k
	return e
}

// loop compiles a function that looks at each item of a list.
func (c *compiler) loop(f *function, args []ast.Node, at place) (code, *Error) {
	list, err := c.node(args[0])
	if err == nil {
		list, err = c.need(list, kList, f.Name)
	}
	if err != nil {
		return code{}, err
	}
	predicate, ok := args[1].(*ast.PredicateNode)
	if !ok {
		return code{}, at.bad(f.Name+" needs an expression for the items", "it is "+f.Signature)
	}
	before := c.nodes
	c.loops++
	body, err := c.perhaps(predicate.Node)
	c.loops--
	if err == nil {
		body, err = c.need(body, f.args[1], "the condition of "+f.Name)
	}
	if err != nil {
		return code{}, err
	}
	at.to = max(at.to, body.at.to)
	cost := 1 + c.nodes - before
	eval := func(m *machine) (any, error) {
		v, err := list.eval(m)
		if err != nil {
			return nil, err
		}
		m.items = append(m.items, nil)
		v, err = f.loop(v.([]any), func(item any) (any, error) {
			if err := m.work(cost); err != nil {
				return nil, err
			}
			m.items[len(m.items)-1] = item
			return body.eval(m)
		})
		m.items = m.items[:len(m.items)-1]
		if err != nil {
			return nil, at.at(err)
		}
		return v, nil
	}
	return code{kind: f.out, at: at, eval: eval}, nil
}
