package expression

import (
	"fmt"
	"strconv"
	"unicode/utf8"

	"github.com/expr-lang/expr/ast"
)

// pick compiles the choice of one part of a list or map.
func (c *compiler) pick(base, key code) (code, *Error) {
	at := place{base.at.from, key.at.to}
	if base.kind&(kList|kMap) == 0 {
		hint := conversion(kList|kMap, base.kind)
		if base.kind&(kMoment) != 0 {
			hint = `format(…, "%Y") gives parts of a time`
		}
		word, _ := key.value.(string)
		return code{}, at.bad(fmt.Sprintf("%v has no parts such as %s", base.kind, strconv.Quote(word)), hint)
	}
	wanted := kInt | kText
	switch base.kind &^ kNothing {
	case kList:
		wanted = kInt
	case kMap:
		wanted = kText
	}
	key, err := c.need(key, wanted, "the choice from "+base.kind.String())
	if err != nil {
		return code{}, err
	}
	eval := func(m *machine) (any, error) {
		v, err := base.eval(m)
		if err != nil {
			return nil, err
		}
		k, err := key.eval(m)
		if err != nil {
			return nil, err
		}
		v, err = picked(v, k)
		if err != nil {
			return nil, at.at(err)
		}
		return v, nil
	}
	return code{kind: kAny, at: at, eval: eval}, nil
}

// picked gives the entry of a map, or the item of a list, which may be counted
// from its end by negative numbers.
func picked(v, key any) (any, error) {
	switch v := v.(type) {
	case map[string]any:
		word, ok := key.(string)
		if !ok {
			return nil, &failure{message: fmt.Sprintf("a map has names, not numbers such as %v", key)}
		}
		if x, ok := v[word]; ok {
			return x, nil
		}
		return nil, missing("there is no "+clipped(word)+" in the map", nearest(word, v))
	case []any:
		i, ok := key.(int)
		if !ok {
			return nil, &failure{message: fmt.Sprintf("a list is counted, it has no %s", clipped(key.(string)))}
		}
		if i < 0 {
			i += len(v)
		}
		if i >= 0 && i < len(v) {
			return v[i], nil
		}
		return nil, missing(fmt.Sprintf("there is no item %v in a list of %d", key, len(v)), fallbackHint)
	case nil:
		return nil, missing("there are no parts in nothing", fallbackHint)
	}
	return nil, &failure{message: kindOf(v).String() + " has no parts"}
}

// chain compiles x?.y: nothing where some part is missing.
func (c *compiler) chain(n *ast.ChainNode) (code, *Error) {
	x, err := c.perhaps(n.Node)
	if err != nil {
		return code{}, err
	}
	inner := x.eval
	x.kind |= kNothing
	x.eval = func(m *machine) (any, error) {
		v, err := inner(m)
		if isMissing(err) {
			return nil, nil
		}
		return v, err
	}
	return x, nil
}

// slice compiles x[from:to].
func (c *compiler) slice(n *ast.SliceNode) (code, *Error) {
	x, err := c.node(n.Node)
	if err == nil {
		x, err = c.need(x, kList|kText, "a slice")
	}
	if err != nil {
		return code{}, err
	}
	bounds := [2]code{constant(x.at, 0), constant(x.at, maxItems)}
	for i, b := range []ast.Node{n.From, n.To} {
		if b == nil {
			continue
		}
		if bounds[i], err = c.node(b); err == nil {
			bounds[i], err = c.need(bounds[i], kInt, "a bound of a slice")
		}
		if err != nil {
			return code{}, err
		}
	}
	inner, at := x.eval, x.at
	x.eval = func(m *machine) (any, error) {
		v, err := inner(m)
		if err != nil {
			return nil, err
		}
		from, err := bounds[0].eval(m)
		if err != nil {
			return nil, err
		}
		to, err := bounds[1].eval(m)
		if err != nil {
			return nil, err
		}
		if s, ok := v.(string); ok {
			if err := m.spend(len(s)); err != nil {
				return nil, at.at(err)
			}
			return cut([]rune(s), from.(int), to.(int), func(r []rune) any { return string(r) }), nil
		}
		return cut(v.([]any), from.(int), to.(int), func(l []any) any { return l }), nil
	}
	return x, nil
}

// cut gives a part of a sequence; bounds outside of it stand for its ends,
// negative ones count from the end.
func cut[T any](all []T, from, to int, give func([]T) any) any {
	from, to = clamped(from, len(all)), clamped(to, len(all))
	return give(all[min(from, to):to])
}

func clamped(i, n int) int {
	if i < 0 {
		i += n
	}
	return min(max(i, 0), n)
}

// conditional compiles x ? y : z.
func (c *compiler) conditional(n *ast.ConditionalNode) (code, *Error) {
	cond, err := c.node(n.Cond)
	if err != nil {
		return code{}, err
	}
	if !n.Ternary {
		return code{}, cond.at.bad(`"if" is not available`, "write condition ? this : that")
	}
	yes, err := c.perhaps(n.Exp1)
	if err != nil {
		return code{}, err
	}
	no, err := c.perhaps(n.Exp2)
	if err == nil {
		cond, err = c.need(cond, kBool, "a condition")
	}
	if err != nil {
		return code{}, err
	}
	eval := func(m *machine) (any, error) {
		v, err := cond.eval(m)
		switch {
		case err != nil:
			return nil, err
		case v.(bool):
			return yes.eval(m)
		}
		return no.eval(m)
	}
	return code{kind: yes.kind | no.kind, at: place{cond.at.from, no.at.to}, eval: eval}, nil
}

// list compiles [x, y].
func (c *compiler) list(n *ast.ArrayNode) (code, *Error) {
	at := c.token(n)
	items := make([]code, len(n.Nodes))
	for i, x := range n.Nodes {
		var err *Error
		if items[i], err = c.node(x); err != nil {
			return code{}, err
		}
		at.to = items[i].at.to
	}
	eval := func(m *machine) (any, error) {
		if err := m.work(len(items)); err != nil {
			return nil, at.at(err)
		}
		all := make([]any, len(items))
		for i, x := range items {
			v, err := x.eval(m)
			if err != nil {
				return nil, err
			}
			all[i] = v
		}
		return all, nil
	}
	return code{kind: kList, at: at, eval: eval, items: items}, nil
}

// dict compiles {x: y}.
func (c *compiler) dict(n *ast.MapNode) (code, *Error) {
	at := c.token(n)
	keys, values := make([]code, len(n.Pairs)), make([]code, len(n.Pairs))
	for i, p := range n.Pairs {
		var err *Error
		pair := p.(*ast.PairNode)
		if keys[i], err = c.node(pair.Key); err == nil {
			keys[i], err = c.need(keys[i], kText, "a key of a map")
		}
		if err != nil {
			return code{}, err
		}
		if values[i], err = c.node(pair.Value); err != nil {
			return code{}, err
		}
		at.to = values[i].at.to
	}
	eval := func(m *machine) (any, error) {
		if err := m.work(len(keys)); err != nil {
			return nil, at.at(err)
		}
		all := make(map[string]any, len(keys))
		for i := range keys {
			key, err := keys[i].eval(m)
			if err != nil {
				return nil, err
			}
			if all[key.(string)], err = values[i].eval(m); err != nil {
				return nil, err
			}
		}
		return all, nil
	}
	return code{kind: kMap, at: at, eval: eval}, nil
}

// pointer compiles #, the item of the innermost loop.
func (c *compiler) pointer(n *ast.PointerNode) (code, *Error) {
	at := c.token(n)
	if n.Name != "" || c.loops == 0 {
		return code{}, at.bad(strconv.Quote("#"+n.Name)+" means nothing here", "# is the item within filter, map, all, any, none, count and find")
	}
	return code{kind: kAny, at: at, eval: func(m *machine) (any, error) { return m.items[len(m.items)-1], nil }}, nil
}

// length counts items, entries or characters.
func length(v any) int {
	switch v := v.(type) {
	case []any:
		return len(v)
	case map[string]any:
		return len(v)
	case string:
		return utf8.RuneCountInString(v)
	}
	return 0
}
