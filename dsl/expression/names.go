package expression

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/expr-lang/expr/ast"

	"github.com/ax-scheduler/ax/dsl"
)

// runFields and taskFields are what a run and a task can be asked for.
var (
	runFields = map[string]code{
		"id":            {kind: kText, eval: func(m *machine) (any, error) { return m.values.Run.ID, nil }},
		"workflow":      {kind: kText, eval: func(m *machine) (any, error) { return m.values.Run.Workflow, nil }},
		"trigger":       {kind: kText, only: triggers, eval: func(m *machine) (any, error) { return m.values.Run.Trigger, nil }},
		"scheduled_for": {kind: kTime, eval: func(m *machine) (any, error) { return m.scheduled() }},
		"date":          {kind: kDate, eval: func(m *machine) (any, error) { return m.date() }},
	}
	runFieldNames  = slices.Sorted(maps.Keys(runFields))
	taskFieldNames = []string{"state", "outputs", "exit_code", "error"}
)

// part is one word of a dotted name.
type part struct {
	word string
	at   place
}

// name compiles a word that stands alone.
func (c *compiler) name(n *ast.IdentifierNode) (code, *Error) {
	at := c.token(n)
	switch word := n.Value; {
	case !slices.Contains(roots, word):
		return code{}, c.unknown(word, at)
	case !c.scope.offers(word):
		return code{}, c.notOffered(word, at)
	case word == "item":
		return c.refer(Reference{word}, at, code{kind: kAny, eval: func(m *machine) (any, error) {
			if kindOf(m.values.Item) == 0 {
				return nil, fmt.Errorf("item has the unknown type %T", m.values.Item)
			}
			return m.values.Item, nil
		}}), nil
	case word == "index":
		return c.refer(Reference{word}, at, code{kind: kInt, eval: func(m *machine) (any, error) { return m.values.Index, nil }}), nil
	default:
		return code{}, at.bad(strconv.Quote(word)+" alone is not a value", "write out the name in it: "+example[word])
	}
}

var example = map[string]string{
	"params": "params.NAME", "env": "env.NAME", "secrets": "secrets.NAME", "run": "run.date",
	"tasks": "tasks.ID.state or tasks.ID.outputs.KEY",
}

func (c *compiler) unknown(word string, at place) *Error {
	if _, ok := functions[word]; ok {
		return at.bad(strconv.Quote(word)+" is a function", "call it: "+functions[word].Signature)
	}
	return at.fault(UnknownReference, "unknown name "+strconv.Quote(word), c.scope.elsewhere(word))
}

func (c *compiler) notOffered(word string, at place) *Error {
	hint := ""
	switch {
	case c.scope.early && (word == "item" || word == "index"):
		hint = "when is asked once, before there are items: ask in the script, or leave items out in foreach"
	case word == "item" || word == "index":
		hint = "it is there in a task with foreach"
	default:
		hint = "there is " + strings.Join(c.scope.roots, ", ") + " here"
	}
	return at.fault(UnknownReference, strconv.Quote(word)+" is not available here", hint)
}

// refer notes a name that is used and gives it its place.
func (c *compiler) refer(r Reference, at place, x code) code {
	c.refs = append(c.refs, r)
	if c.maybe == 0 && r.Root() == "params" {
		c.asks = append(c.asks, r.Name())
	}
	x.at, x.ref = at, r
	inner := x.eval
	x.eval = func(m *machine) (any, error) {
		v, err := inner(m)
		if err != nil {
			return nil, at.at(err)
		}
		return v, nil
	}
	return x
}

// dotted gives the parts of a name such as tasks.load.state, if a member is
// one: the words behind the root, and where the root stands.
func (c *compiler) dotted(n *ast.MemberNode) (root *ast.IdentifierNode, parts []part) {
	key, ok := n.Property.(*ast.StringNode)
	if !ok {
		return nil, nil
	}
	switch base := n.Node.(type) {
	case *ast.IdentifierNode:
		if base.Value == "item" || base.Value == "index" || !slices.Contains(roots, base.Value) {
			return nil, nil
		}
		root = base
	case *ast.MemberNode:
		root, parts = c.dotted(base)
	}
	if root == nil {
		return nil, nil
	}
	at := c.token(key)
	word := key.Value
	if at.to-at.from == len(word) {
		word = named(word) // a literal is longer, for its quotes
	}
	return root, append(parts, part{word, at})
}

// member compiles x.y and x[y].
func (c *compiler) member(n *ast.MemberNode) (code, *Error) {
	if root, parts := c.dotted(n); root != nil {
		if c.nodes += len(parts); !c.scope.offers(root.Value) {
			return code{}, c.notOffered(root.Value, c.token(root))
		}
		x, rest, err := c.reference(root, parts)
		for i := 0; i < len(rest) && err == nil; i++ {
			x, err = c.pick(x, constant(rest[i].at, rest[i].word))
		}
		return x, err
	}
	base, err := c.node(n.Node)
	if err != nil {
		return code{}, err
	}
	key, err := c.node(n.Property)
	if err != nil {
		return code{}, err
	}
	return c.pick(base, key)
}

// reference compiles a dotted name and gives the parts that are left over.
func (c *compiler) reference(root *ast.IdentifierNode, parts []part) (code, []part, *Error) {
	first := parts[0]
	at := place{c.token(root).from, first.at.to}
	switch name := first.word; root.Value {
	case "params":
		x, err := c.param(name, at)
		return x, parts[1:], err
	case "env":
		x := code{kind: kText, eval: func(m *machine) (any, error) { return m.variable(name) }}
		return c.refer(Reference{"env", name}, at, x), parts[1:], nil
	case "secrets":
		if !c.scope.secrets[name] && !c.scope.excuses("secrets", name, c.scope.secretNames) {
			return code{}, nil, at.fault(UnknownReference, "unknown secret "+strconv.Quote(name), c.near(name, c.scope.secretNames, "secrets"))
		}
		x := code{kind: kText, eval: func(m *machine) (any, error) { return m.secret(name) }}
		return c.refer(Reference{"secrets", name}, at, x), parts[1:], nil
	case "run":
		x, ok := runFields[name]
		if !ok {
			return code{}, nil, at.fault(UnknownReference, "a run has no "+strconv.Quote(name), c.near(name, runFieldNames, "run"))
		}
		return c.refer(Reference{"run", name}, at, x), parts[1:], nil
	}
	return c.task(c.token(root).from, parts)
}

func (c *compiler) param(name string, at place) (code, *Error) {
	if !c.scope.declares("params", name) && !c.scope.excuses("params", name, c.scope.paramNames) {
		return code{}, at.fault(UnknownReference, "unknown parameter "+strconv.Quote(name), c.near(name, c.scope.paramNames, "params"))
	}
	k := kindOfParam(c.scope.params[name])
	return c.refer(Reference{"params", name}, at, code{kind: k, eval: func(m *machine) (any, error) { return m.param(name, k) }}), nil
}

// near suggests a name, or lists those that there are.
func (c *compiler) near(name string, known []string, root string) string {
	if n := dsl.Nearest(name, known); n != "" {
		return dsl.DidYouMean(root + "." + n)
	}
	switch {
	case len(known) == 0:
		return "the workflow has no " + root
	case len(known) <= 8:
		return "there is " + strings.Join(known, ", ")
	}
	return ""
}

// task compiles tasks.ID.FIELD.
func (c *compiler) task(from int, parts []part) (code, []part, *Error) {
	id := parts[0].word
	at := place{from, parts[0].at.to}
	if err := c.checkTask(id, at); err != nil {
		return code{}, nil, err
	}
	if len(parts) == 1 {
		return code{}, nil, at.bad(fmt.Sprintf("task %q alone is not a value", id), "name one of "+strings.Join(taskFieldNames, ", "))
	}
	ref := Reference{"tasks", id, parts[1].word}
	at.to = parts[1].at.to
	switch parts[1].word {
	case "state":
		return c.refer(ref, at, code{kind: kText, only: states, eval: func(m *machine) (any, error) { return m.state(id) }}), parts[2:], nil
	case "error":
		return c.refer(ref, at, code{kind: kText, eval: func(m *machine) (any, error) { return m.problem(id) }}), parts[2:], nil
	case "exit_code":
		return c.refer(ref, at, code{kind: kInt, eval: func(m *machine) (any, error) { return m.exitCode(id) }}), parts[2:], nil
	case "outputs":
	default:
		return code{}, nil, at.fault(UnknownReference, fmt.Sprintf("a task has no %q", parts[1].word), c.field(id, parts[1].word))
	}
	if len(parts) == 2 {
		return c.refer(ref, at, code{kind: kMap, eval: func(m *machine) (any, error) { return m.outputs(id) }}), nil, nil
	}
	key := parts[2].word
	at.to = parts[2].at.to
	if names := c.scope.outputs[id]; names != nil && c.maybe == 0 && !slices.Contains(names, key) {
		hint := "there is " + strings.Join(names, ", ")
		if near := dsl.Nearest(key, names); near != "" {
			hint = dsl.DidYouMean(near)
		}
		return code{}, nil, at.fault(UnknownReference, fmt.Sprintf("task %q never has an output %q", id, key), hint)
	}
	x := code{kind: kText, eval: func(m *machine) (any, error) { return m.output(id, key) }}
	if c.scope.foreach[id] && id != c.scope.self { // of itself, retry.if sees the attempt
		x = code{kind: kList, eval: func(m *machine) (any, error) { return m.outputList(id, key) }}
	}
	return c.refer(append(ref, key), at, x), parts[3:], nil
}

// field suggests what can be asked of a task; a word that is near to nothing
// was perhaps meant to be an output.
func (c *compiler) field(id, word string) string {
	if n := dsl.Nearest(word, taskFieldNames); n != "" {
		return dsl.DidYouMean(n)
	}
	return fmt.Sprintf("an output is tasks.%s.outputs.%s; else there is state, exit_code, error", id, word)
}

// checkTask tells what is wrong with naming a task here.
func (c *compiler) checkTask(id string, at place) *Error {
	switch {
	case !c.scope.tasks[id] && c.scope.excuses("tasks", id, c.scope.taskIDs):
		return nil
	case !c.scope.tasks[id]:
		return at.fault(UnknownReference, "unknown task "+strconv.Quote(id), c.near(id, c.scope.taskIDs, "tasks"))
	case c.scope.final != nil && c.scope.final(id):
		return nil
	case id == c.scope.self:
		return at.fault(NotUpstream, fmt.Sprintf("task %q has not ended when this is evaluated", id), "a task can look at itself only in retry.if")
	}
	return at.fault(NotUpstream, fmt.Sprintf("task %q may not have ended when this is evaluated", id), fmt.Sprintf("add %q to depends_on", id))
}
