package dsl

import "time"

// Scalar says which texts a value may be.
type Scalar uint8

// The kinds of scalars. All but those that say otherwise may hold expressions.
const (
	NoScalar         Scalar = iota
	ScalarText              // any
	ScalarLine              // any of one line
	ScalarFilled            // any that is not blank
	ScalarExpression        // not blank; the bare expression, without ${{ }}
	ScalarAddress           // begins with http:// or https://
	ScalarDatabase          // begins with sqlite: or postgres://
	ScalarTableFile         // a path that ends in .csv or .json
	ScalarProgram           // one word
	ScalarException         // a day, or the path of a file
	ScalarFunction          // not blank, no expression
	ScalarCronTime          // not blank, no expression
	ScalarTaskID            // not blank, no expression; that there is such a task is for dag to say
	ScalarIdentifier        // a name: letters, digits, _ and -
	ScalarVariable          // the name of a variable: letters, digits and _
	ScalarHeaderName        // the name of a header field
	ScalarPattern           // a regular expression
	ScalarWord              // one of Shape.Words, no expression
	ScalarBoolean           // true or false, no expression
	ScalarInteger           // from Shape.Low to Shape.High, no expression
	ScalarDuration          // at least Shape.Least, no expression
	ScalarDay               // a date, no expression
	ScalarParamValue        // any; what it must be depends on the parameter
)

// Shape says what the value of a key may be: a scalar, a list, a map, or one
// of several of these. It describes what the parser does, for those who cannot
// ask it: the schema, completion, the formatter. Their tests hold it against
// the parser.
type Shape struct {
	Scalar    Scalar
	Words     []string      // of a Word, in the order of the language
	Low, High int           // of an Integer
	Least     time.Duration // of a Duration; 1 stands for anything longer than 0

	Items *Shape // of a list
	First *Shape // the first item, where it is not like the others; the list then has one
	Some  bool   // a list, or a map of Values, is not empty

	Mapping string // the mapping with fixed keys, by its name in Keys
	Names   Scalar // the keys of a map that are free
	Values  *Shape // the values of such a map
	Any     bool   // lists and maps of anything, down to scalars that are Text
}

// Mapping is a mapping of the language that has a fixed set of keys.
type Mapping struct {
	Name     string // as in Keys and in messages
	Keys     []string
	Shapes   map[string]Shape    // by key
	Required []string            // keys that it must have
	OneOf    []string            // keys of which it has exactly one
	SomeOf   []string            // keys of which it has at least one
	Needs    map[string][]string // what a key makes necessary
}

// Mappings describes every mapping that Keys lists, the workflow first.
func Mappings() []Mapping {
	var all []Mapping
	shapes, rules := shapes(), rules()
	for _, s := range tables() {
		m := rules[s.title()]
		m.Name, m.Keys, m.Shapes = s.title(), s.names(), shapes[s.title()]
		all = append(all, m)
	}
	return all
}

// rules are the conditions on which keys a mapping has, by its name.
func rules() map[string]Mapping {
	return map[string]Mapping{
		workflowTitle:      {Required: []string{"tasks"}},
		taskKeys.name:      {OneOf: actions[1:], Needs: map[string][]string{"with": {"call"}}},
		retryKeys.name:     {Required: []string{"max"}},
		poolKeys.name:      {Required: []string{"name"}},
		foreachKeys.name:   {Required: []string{"items"}},
		sqlKeys.name:       {Required: []string{"db"}, OneOf: []string{"query", "file"}},
		httpKeys.name:      {Required: []string{"url"}},
		childKeys.name:     {Required: []string{"name"}},
		waitKeys.name:      {OneOf: []string{"file", "http", "sql", "until"}},
		cronKeys.name:      {Required: []string{"cron"}},
		secretKeys.name:    {OneOf: []string{"env", "file"}},
		retentionKeys.name: {SomeOf: []string{"runs", "age"}},
		notifyKeys.name:    {OneOf: []string{"url", "email"}},
	}
}

func of(s Scalar) Shape                { return Shape{Scalar: s} }
func length(least time.Duration) Shape { return Shape{Scalar: ScalarDuration, Least: least} }
func number(low, high int) Shape       { return Shape{Scalar: ScalarInteger, Low: low, High: high} }
func some(s Shape) Shape               { return Shape{Items: &s} }
func mapping(name string) Shape        { return Shape{Mapping: name} }
func free(names, values Scalar) Shape  { return Shape{Names: names, Values: &Shape{Scalar: values}} }

func word[T any](choices []choice[T]) Shape {
	s := Shape{Scalar: ScalarWord}
	for _, c := range choices {
		s.Words = append(s.Words, c.word)
	}
	return s
}

// orList is a value, or a list of such values.
func orList(s Shape) Shape {
	item := s
	s.Items = &item
	return s
}

// or is what one of two shapes allows that have nothing in common.
func (s Shape) or(o Shape) Shape {
	if o.Items != nil {
		s.Items, s.First, s.Some = o.Items, o.First, o.Some
	}
	if o.Values != nil {
		s.Names, s.Values = o.Names, o.Values
	}
	if o.Mapping != "" {
		s.Mapping = o.Mapping
	}
	return s
}

// shapes describes the values of all keys, by mapping and key.
func shapes() map[string]map[string]Shape {
	return map[string]map[string]Shape{
		workflowTitle: workflowShapes(), taskKeys.name: taskShapes(), defaultsKeys.name: defaultsShapes(),
		retryKeys.name: {
			"max": number(0, maxInt), "delay": length(0), "backoff": word(backoffs), "max_delay": length(0), "jitter": length(0),
			"exit_codes": some(number(0, 255)), "if": of(ScalarExpression),
		},
		poolKeys.name:    {"name": of(ScalarIdentifier), "slots": number(1, maxInt), "busy": word(busies)},
		foreachKeys.name: {"items": itemsShape(), "max_parallel": number(1, maxInt)},
		sqlKeys.name: {
			"db": of(ScalarDatabase), "query": of(ScalarFilled), "file": of(ScalarFilled), "params": free(ScalarText, ScalarText), "save": of(ScalarTableFile),
		},
		httpKeys.name: {
			"url": of(ScalarAddress), "method": word(methods), "headers": free(ScalarHeaderName, ScalarLine), "body": of(ScalarText),
			"expect": some(number(100, 599)), "save": of(ScalarFilled),
		},
		childKeys.name: {"name": of(ScalarIdentifier), "params": free(ScalarText, ScalarText)},
		waitKeys.name: {
			"file": of(ScalarFilled), "http": mapping(httpKeys.name), "sql": mapping(sqlKeys.name), "until": of(ScalarFilled), "poll": length(1),
		},
		cronKeys.name: {"cron": of(ScalarCronTime), "timezone": of(ScalarFilled), "params": free(ScalarText, ScalarText)},
		paramKeys.name: {
			"type": word(paramTypes), "default": of(ScalarParamValue), "required": of(ScalarBoolean), "choices": some(of(ScalarParamValue)),
			"min": of(ScalarParamValue), "max": of(ScalarParamValue), "pattern": of(ScalarPattern), "description": of(ScalarText),
		},
		secretKeys.name:    {"env": of(ScalarVariable), "file": of(ScalarFilled)},
		retentionKeys.name: {"runs": number(1, maxInt), "age": length(1)},
		notifyKeys.name: {
			"url": of(ScalarAddress), "email": of(ScalarFilled), "on": orList(word(events)), "secret": of(ScalarFilled), "format": word(formats),
		},
	}
}

func workflowShapes() map[string]Shape {
	param, secret := of(ScalarParamValue).or(mapping(paramKeys.name)), mapping(secretKeys.name)
	task, outcome := mapping(taskKeys.name), word(afterOutcomes)
	return map[string]Shape{
		"name": of(ScalarIdentifier), "description": of(ScalarText), "owner": of(ScalarText), "tags": some(of(ScalarFilled)),
		"cron": cronShape(), "every": length(time.Second),
		"after":    orList(of(ScalarIdentifier)).or(Shape{Names: ScalarIdentifier, Values: &outcome}),
		"timezone": of(ScalarFilled), "valid_from": of(ScalarDay), "valid_until": of(ScalarDay), "except": some(of(ScalarException)),
		"jitter": length(0), "catchup": word(catchups), "catchup_window": length(0),
		"max_active": number(0, maxInt), "overlap": word(overlaps),
		"params": {Names: ScalarIdentifier, Values: &param}, "env": free(ScalarVariable, ScalarText), "env_file": orList(of(ScalarFilled)),
		"secrets":  {Names: ScalarVariable, Values: &secret},
		"defaults": mapping(defaultsKeys.name), "max_parallel": number(1, maxInt), "timeout": length(1), "priority": number(0, 9),
		"on_failure": orList(of(ScalarTaskID)), "on_success": orList(of(ScalarTaskID)), "on_finish": orList(of(ScalarTaskID)),
		"retention": mapping(retentionKeys.name), "disabled": of(ScalarBoolean), "expect_within": length(1),
		"notify": some(mapping(notifyKeys.name)),
		"tasks":  {Names: ScalarIdentifier, Values: &task, Some: true},
	}
}

func taskShapes() map[string]Shape {
	condition := orList(word(conditions))
	condition.Some = true
	shapes := map[string]Shape{
		"run": of(ScalarFilled), "command": argvShape(), "sql": mapping(sqlKeys.name), "http": mapping(httpKeys.name),
		"workflow": mapping(childKeys.name), "wait_for": mapping(waitKeys.name), "call": of(ScalarFunction),
		"with":       {Names: ScalarText, Values: &Shape{Scalar: ScalarText, Any: true}},
		"depends_on": orList(of(ScalarTaskID)).or(Shape{Names: ScalarTaskID, Values: &condition}),
		"join":       word(joins), "on_failure": orList(of(ScalarTaskID)), "when": of(ScalarExpression),
		"kill_after": length(0), "cron": cronShape(), "every": length(time.Second),
		"foreach": itemsShape().or(mapping(foreachKeys.name)), "allow_failure": of(ScalarBoolean),
		"success_codes": some(number(0, 255)), "skip_codes": some(number(0, 255)),
		"priority": number(0, 9), "disabled": of(ScalarBoolean), "description": of(ScalarText),
	}
	for key, s := range defaultsShapes() { // they mean the same in a task
		shapes[key] = s
	}
	return shapes
}

func defaultsShapes() map[string]Shape {
	return map[string]Shape{
		"timeout": length(1), "retry": number(0, maxInt).or(mapping(retryKeys.name)), "shell": of(ScalarProgram).or(argvShape()),
		"workdir": of(ScalarFilled), "env": free(ScalarVariable, ScalarText), "pool": of(ScalarIdentifier).or(mapping(poolKeys.name)),
		"runs_on": of(ScalarFilled), "recovery": word(recoveries),
	}
}

// argvShape is a program with its arguments.
func argvShape() Shape {
	return Shape{Items: &Shape{Scalar: ScalarText}, First: &Shape{Scalar: ScalarFilled}}
}

func cronShape() Shape {
	entry := of(ScalarCronTime).or(mapping(cronKeys.name))
	return of(ScalarCronTime).or(some(entry))
}

func itemsShape() Shape {
	return Shape{Scalar: ScalarExpression, Items: &Shape{Scalar: ScalarText}, Some: true}
}

// DurationUnits gives the units of durations in the order in which a duration
// may have them.
func DurationUnits() []string {
	var names []string
	for _, u := range units {
		names = append(names, u.name)
	}
	return names
}
