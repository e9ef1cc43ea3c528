package expression

// tryBudget is what a trial may cost: more than values that people write out, and
// little where an expression is trials within trials.
const tryBudget = 2_000

// tried carries an operation out that no fact of a run is in, if the scope asks
// for it, and gives its failure as a fault. That something is missing is none:
// what is around it may have another value.
func (c *compiler) tried(x code) (code, *Error) {
	if !x.fixed || !c.scope.try {
		return x, nil
	}
	m := machine{values: &Values{}, left: tryBudget}
	_, failed := x.eval(&m)
	if e, ok := failed.(*Error); ok && e.Kind == Failed && e.Message != errBudget.message {
		return code{}, e.as(Bad)
	}
	return x, nil
}
