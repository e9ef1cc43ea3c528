package expression

import (
	"cmp"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/expr-lang/expr/ast"

	"github.com/ax-scheduler/ax/dsl"
)

// rule is what an operator does with two kinds of values.
type rule struct {
	left, right, out kind
	do               func(m *machine, a, b any) (any, error)
}

// ordering compares: less than 0, 0 or more.
var ordering = []rule{
	{kInt, kInt, kBool, func(_ *machine, a, b any) (any, error) { return cmp.Compare(a.(int), b.(int)), nil }},
	{kFloat, kFloat, kBool, func(_ *machine, a, b any) (any, error) { return cmp.Compare(a.(float64), b.(float64)), nil }},
	{kText, kText, kBool, func(m *machine, a, b any) (any, error) {
		return strings.Compare(a.(string), b.(string)), m.spend(min(len(a.(string)), len(b.(string))))
	}},
	{kTime, kTime, kBool, func(_ *machine, a, b any) (any, error) { return a.(time.Time).Compare(b.(time.Time)), nil }},
	{kDate, kDate, kBool, func(_ *machine, a, b any) (any, error) { return compareDates(a.(dsl.Date), b.(dsl.Date)), nil }},
	{kDuration, kDuration, kBool, func(_ *machine, a, b any) (any, error) {
		return cmp.Compare(a.(time.Duration), b.(time.Duration)), nil
	}},
}

var comparisons = map[string]func(int) bool{
	"<": func(n int) bool { return n < 0 }, "<=": func(n int) bool { return n <= 0 },
	">": func(n int) bool { return n > 0 }, ">=": func(n int) bool { return n >= 0 },
}

// match finds the rule for two kinds.
func match(rules []rule, l, r kind) *rule {
	for _, widen := range []bool{false, true} {
		for i := range rules {
			if fits(l, rules[i].left, widen) && fits(r, rules[i].right, widen) {
				return &rules[i]
			}
		}
	}
	return nil
}

func fits(have, want kind, widen bool) bool {
	return have == want || widen && (have == kInt && want == kFloat || have == kDate && want == kTime)
}

// widened turns a value into the kind that a rule is for.
func (m *machine) widened(v any, want kind) any {
	switch x := v.(type) {
	case int:
		if want == kFloat {
			return float64(x)
		}
	case dsl.Date:
		if want == kTime {
			return midnight(x, m.zone())
		}
	}
	return v
}

// outcome gives the kinds that rules make of two sets of kinds; 0 where none
// fits.
func outcome(rules []rule, l, r kind) (out kind) {
	for x := l; x != 0; x &= x - 1 {
		for y := r; y != 0; y &= y - 1 {
			if found := match(rules, x&-x, y&-y); found != nil {
				out |= found.out
			}
		}
	}
	return out
}

// apply compiles an operator with rules. Where the kinds are known the rule is
// chosen now.
func (c *compiler) apply(op string, rules []rule, l, r code) (code, *Error) {
	at := place{l.at.from, r.at.to}
	if (op == "/" || op == "%") && c.scope.try && r.constant && (r.value == 0 || r.value == 0.0) {
		return code{}, at.bad(errZero.message, errZero.hint)
	}
	out := outcome(rules, l.kind, r.kind)
	if out == 0 && (l.faulty || r.faulty) {
		return code{kind: kAny, at: at, faulty: true}, nil
	}
	if out == 0 {
		return code{}, at.bad(mismatch(op, l.kind, r.kind))
	}
	var fixed *rule
	if l.kind.single() && r.kind.single() {
		fixed = match(rules, l.kind, r.kind)
	}
	eval := func(m *machine) (any, error) {
		a, err := l.eval(m)
		if err != nil {
			return nil, err
		}
		b, err := r.eval(m)
		if err != nil {
			return nil, err
		}
		found := fixed
		if found == nil {
			if found = match(rules, kindOf(a), kindOf(b)); found == nil {
				message, hint := mismatch(op, kindOf(a), kindOf(b))
				return nil, at.at(&failure{message: message, hint: hint, missing: a == nil || b == nil})
			}
		}
		v, err := found.do(m, m.widened(a, found.left), m.widened(b, found.right))
		if err != nil {
			return nil, at.at(err)
		}
		return v, nil
	}
	return c.tried(code{kind: out, at: at, eval: eval, fixed: l.fixed && r.fixed})
}

func mismatch(op string, l, r kind) (message, hint string) {
	message = fmt.Sprintf("cannot apply %q to %v and %v", op, l, r)
	switch both := l | r; {
	case both&kNothing != 0:
		hint = conversion(kAny, kNothing)
	case (op == "+" || op == "-") && l&^kMoment == 0 && r&^kNumber == 0:
		hint = "addDays(…), addHours(…) and addMonths(…) move a time"
	case op == "+" && both&kText != 0:
		hint = "string(…) makes a string of a value"
	case l == kText:
		hint = conversion(r, kText)
	case r == kText:
		hint = conversion(l, kText)
	}
	return message, hint
}

// binary compiles x op y.
func (c *compiler) binary(n *ast.BinaryNode) (code, *Error) {
	if n.Operator == "??" {
		return c.otherwise(n.Left, n.Right)
	}
	left, right := c.node, c.node
	switch n.Operator {
	case "and", "&&", "or", "||":
		right = c.perhaps
	case "==", "!=":
		if isNil(n.Left) || isNil(n.Right) { // it asks whether there is a value
			left, right = c.perhaps, c.perhaps
		}
	}
	l, err := left(n.Left)
	if err != nil {
		return code{}, err
	}
	r, err := right(n.Right)
	if err != nil {
		return code{}, err
	}
	switch op := n.Operator; op {
	case "and", "&&", "or", "||":
		return c.logic(op == "or" || op == "||", l, r)
	case "==", "!=":
		c.inQuotes(n.Left, l)
		c.inQuotes(n.Right, r)
		return c.equality(op == "!=", l, r)
	case "<", "<=", ">", ">=":
		x, err := c.apply(op, ordering, l, r)
		test, inner := comparisons[op], x.eval
		x.eval = func(m *machine) (any, error) {
			v, err := inner(m)
			if err != nil {
				return nil, err
			}
			return test(v.(int)), nil
		}
		return x, err
	case "contains", "startsWith", "endsWith":
		return c.apply(op, textTests[op], l, r)
	case "matches":
		return c.matches(l, r)
	case "in":
		if err := l.only.neverIn(r); err != nil {
			return code{}, err
		}
		return c.apply(op, membership, l, r)
	case "..":
		return c.apply(op, ranges, l, r)
	}
	if rules, ok := arithmetic[n.Operator]; ok {
		return c.apply(n.Operator, rules, l, r)
	}
	return code{}, c.token(n).bad(strconv.Quote(n.Operator)+" is not available", "")
}

// inQuotes says of an unknown word that something is compared with, and that is
// like no name, that it may be a text.
func (c *compiler) inQuotes(n ast.Node, x code) {
	word, ok := n.(*ast.IdentifierNode)
	if !ok || !x.faulty {
		return
	}
	for _, e := range c.faults {
		if e.Kind == UnknownReference && e.Offset == x.at.from && e.Hint == "" {
			e.Hint = "if it is a text, put it into quotes: " + strconv.Quote(named(word.Value))
		}
	}
}

func isNil(n ast.Node) bool {
	_, ok := n.(*ast.NilNode)
	return ok
}

func textTest(test func(s, part string) bool) []rule {
	return []rule{{kText, kText, kBool, func(m *machine, a, b any) (any, error) {
		return test(a.(string), b.(string)), m.spend(len(a.(string)))
	}}}
}

var textTests = map[string][]rule{
	"contains": textTest(strings.Contains), "startsWith": textTest(strings.HasPrefix), "endsWith": textTest(strings.HasSuffix),
}

// maxItems is the longest list that an expression may make out of nothing.
const maxItems = 100_000

var ranges = []rule{{kInt, kInt, kList, func(m *machine, a, b any) (any, error) {
	from, to := a.(int), b.(int)
	if from > to {
		return []any{}, nil
	}
	if n := to - from; n < 0 || n >= maxItems {
		return nil, &failure{message: fmt.Sprintf("a range has at most %d numbers", maxItems)}
	}
	all := make([]any, 0, to-from+1)
	for i := range to - from + 1 {
		all = append(all, from+i)
	}
	return all, m.work(len(all))
}}}

// membership has a rule for each kind that a list can hold.
var membership = func() []rule {
	rules := []rule{{kText, kMap, kBool, func(_ *machine, a, b any) (any, error) {
		_, ok := b.(map[string]any)[a.(string)]
		return ok, nil
	}}}
	for rest := kAny; rest != 0; rest &= rest - 1 {
		rules = append(rules, rule{rest & -rest, kList, kBool, func(m *machine, a, b any) (any, error) {
			for _, x := range b.([]any) {
				if same, err := m.equal(a, x); same || err != nil {
					return same, err
				}
			}
			return false, nil
		}})
	}
	return rules
}()

// matches compiles a test against a regular expression (RE2), which has to be
// written out, so that lint can check it.
func (c *compiler) matches(l, r code) (code, *Error) {
	pattern, ok := r.value.(string)
	if !ok && !r.faulty {
		return code{}, r.at.bad(`"matches" needs a pattern that is written out`, "put it into quotes")
	}
	re, err := regexp.Compile(pattern)
	if err != nil {
		return code{}, r.at.bad(fmt.Sprintf("%s is no regular expression: %s", clipped(pattern),
			strings.TrimPrefix(err.Error(), "error parsing regexp: ")), "the syntax is RE2, that of Go")
	}
	return c.apply("matches", []rule{{kText, kText, kBool, func(m *machine, a, _ any) (any, error) {
		return re.MatchString(a.(string)), m.spend(24 * len(a.(string)))
	}}}, l, r)
}

// logic compiles and, or: the right side counts only where the left one does
// not decide.
func (c *compiler) logic(or bool, l, r code) (code, *Error) {
	who := `"and"`
	if or {
		who = `"or"`
	}
	l, err := c.need(l, kBool, who)
	if err == nil {
		r, err = c.need(r, kBool, who)
	}
	if err != nil {
		return code{}, err
	}
	eval := func(m *machine) (any, error) {
		v, err := l.eval(m)
		if err != nil || v.(bool) == or {
			return v, err
		}
		return r.eval(m)
	}
	return code{kind: kBool, at: place{l.at.from, r.at.to}, eval: eval}, nil
}

// otherwise compiles x ?? y: y where x, or anything in it, is missing.
func (c *compiler) otherwise(left, right ast.Node) (code, *Error) {
	l, err := c.perhaps(left)
	if err != nil {
		return code{}, err
	}
	r, err := c.perhaps(right)
	if err != nil {
		return code{}, err
	}
	eval := func(m *machine) (any, error) {
		v, err := l.eval(m)
		if err == nil && v == nil || isMissing(err) {
			return r.eval(m)
		}
		return v, err
	}
	return code{kind: l.kind&^kNothing | r.kind, at: place{l.at.from, r.at.to}, eval: eval}, nil
}

// unary compiles not and the signs.
func (c *compiler) unary(n *ast.UnaryNode) (code, *Error) {
	x, err := c.node(n.Node)
	if err != nil {
		return code{}, err
	}
	sign := c.token(n)
	allowed := kNumber | kDuration
	if n.Operator == "!" || n.Operator == "not" {
		allowed = kBool
	}
	if x, err = c.need(x, allowed, strconv.Quote(n.Operator)); err != nil {
		return code{}, err
	}
	inner := x.eval
	x.at.from = min(sign.from, x.at.from)
	x.constant, x.value, x.ref, x.only = false, nil, nil, nil
	x.eval = func(m *machine) (any, error) {
		v, err := inner(m)
		if err != nil || n.Operator == "+" {
			return v, err
		}
		switch v := v.(type) {
		case bool:
			return !v, nil
		case float64:
			return -v, nil
		case int:
			n, err := difference(0, v)
			return n, sign.wrap(err)
		}
		d, err := difference(0, v.(time.Duration))
		return d, sign.wrap(err)
	}
	return x, nil
}

// equality compiles == and !=. Kinds that are never equal are a fault; a
// comparison with nil asks whether there is a value.
func (c *compiler) equality(not bool, l, r code) (code, *Error) {
	at := place{l.at.from, r.at.to}
	for _, err := range []*Error{l.only.never(r), r.only.never(l)} {
		if err != nil {
			return code{}, err
		}
	}
	if !comparable(l.kind, r.kind) {
		op := "=="
		if not {
			op = "!="
		}
		return code{}, at.bad(mismatch(op, l.kind, r.kind))
	}
	present := l.kind == kNothing || r.kind == kNothing
	side := func(m *machine, x code) (any, error) {
		v, err := x.eval(m)
		if present && isMissing(err) {
			return nil, nil
		}
		return v, err
	}
	eval := func(m *machine) (any, error) {
		a, err := side(m, l)
		if err != nil {
			return nil, err
		}
		b, err := side(m, r)
		if err != nil {
			return nil, err
		}
		same, err := m.equal(a, b)
		if err != nil {
			return nil, at.at(err)
		}
		return same != not, nil
	}
	return code{kind: kBool, at: at, eval: eval}, nil
}

// comparable tells whether values of two sets of kinds can be equal.
func comparable(l, r kind) bool {
	both := l & r
	if l == kNothing || r == kNothing || both&^kNothing != 0 {
		return true
	}
	return l&kNumber != 0 && r&kNumber != 0 || l&kMoment != 0 && r&kMoment != 0
}

// equal compares two values. What it looks at is charged, for lists may share
// their items and so be larger than they look.
func (m *machine) equal(a, b any) (bool, error) {
	if err := m.work(1); err != nil {
		return false, err
	}
	if rule := match(ordering, kindOf(a), kindOf(b)); rule != nil {
		n, err := rule.do(m, m.widened(a, rule.left), m.widened(b, rule.right))
		return n == 0, err
	}
	switch x := a.(type) {
	case []any:
		y, ok := b.([]any)
		if !ok || len(x) != len(y) {
			return false, nil
		}
		for i := range x {
			if same, err := m.equal(x[i], y[i]); !same || err != nil {
				return false, err
			}
		}
		return true, nil
	case map[string]any:
		y, ok := b.(map[string]any)
		if !ok || len(x) != len(y) {
			return false, nil
		}
		for key, v := range x {
			w, ok := y[key]
			if !ok {
				return false, nil
			}
			if same, err := m.equal(v, w); !same || err != nil {
				return false, err
			}
		}
		return true, nil
	case bool:
		return a == b, nil
	}
	return a == nil && b == nil, nil
}
