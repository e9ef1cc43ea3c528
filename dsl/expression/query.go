package expression

import "github.com/ax-scheduler/ax/dsl/statement"

// Query is a text of SQL with the expressions in it, compiled. It does not
// change. An expression never becomes part of the text: it is a value that is
// bound at its place.
type Query struct {
	text     string
	programs []*Program
}

// CompileQuery reads a text of SQL and compiles its expressions; those in
// comments are left alone. One within quotes is a fault, for a value cannot be
// bound there, as is a placeholder that nothing would be bound to. All faults
// are given; the query is of use only if there is none.
func CompileQuery(text string, d statement.Dialect, scope *Scope) (*Query, Errors) {
	q := &Query{text: text}
	list, unclosed := split(text)
	if unclosed != nil {
		return q, Errors{unclosed}
	}
	statements, misplaced := statement.Split(text, d, true)
	var faults Errors
	for _, f := range misplaced {
		faults = append(faults, place{f.Offset, f.Offset + f.Width}.bad(f.Message, f.Hint))
	}
	bound := map[int]bool{}
	for _, s := range statements {
		for _, m := range s.Marks {
			bound[m.Start] = m.Name == ""
		}
	}
	for _, e := range list {
		if !bound[e.Start] {
			continue
		}
		p, err := compileAt(e, scope)
		if err != nil {
			faults = append(faults, err...)
			continue
		}
		q.programs = append(q.programs, p)
	}
	return q, faults
}

// Text gives the text as it was written: statement.Split finds in it the places
// of the values that Values gives.
func (q *Query) Text() string { return q.text }

// References gives the names that the expressions use, in order.
func (q *Query) References() []Reference {
	var all []Reference
	for _, p := range q.programs {
		all = append(all, p.refs...)
	}
	return all
}

// Values gives the value of each expression that stands where one can be bound,
// in order: a string, an int, a float64 or a bool. The error is an *Error: the
// first expression that has no value.
func (q *Query) Values(values *Values) ([]any, error) {
	all := make([]any, len(q.programs))
	for i, p := range q.programs {
		v, err := p.bound(values)
		if err != nil {
			return nil, err
		}
		all[i] = v
	}
	return all, nil
}

// Value gives the value that the text stands for: where it is one expression and
// nothing else, a string, an int, a float64 or a bool, as that has it; otherwise
// the text.
func (t *Template) Value(values *Values) (any, error) {
	if len(t.parts) == 1 && t.parts[0].before == "" && t.parts[0].tail == len(t.text) {
		return t.parts[0].program.bound(values)
	}
	return t.Text(values)
}

// bound gives the value of an expression as a database takes it: what is neither
// number nor boolean becomes its text.
func (p *Program) bound(values *Values) (any, error) {
	v, err := p.Eval(values)
	if err != nil {
		return nil, err
	}
	switch v.(type) {
	case int, float64, bool:
		return v, nil
	}
	return p.text(values)
}
