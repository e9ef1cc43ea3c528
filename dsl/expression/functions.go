package expression

import "slices"

// Function describes one function of the language, for manuals and completion.
type Function struct {
	Name      string
	Signature string // with names for the arguments: split(text, separator)
	Doc       string // one sentence, lower case, no full stop
}

// Functions gives all functions in the order of the manual.
func Functions() []Function {
	all := make([]Function, len(table))
	for i := range table {
		all[i] = table[i].Function
	}
	return all
}

// function is how one is checked and carried out. Exactly one of call and loop
// is set, but for default, which is an operator in disguise.
type function struct {
	Function
	args     []kind // of a loop: the list, and what the condition has to be
	optional int    // how many of the last arguments may be left out
	variadic bool   // the last argument may be repeated
	out      kind
	keeps    bool // the value is of the kind of the first argument
	call     func(m *machine, args []any) (any, error)
	only     *domain
	check    func(last any) error // of the last argument, where it is written out
	loop     func(list []any, each func(item any) (any, error)) (any, error)
}

var table = slices.Concat(textFunctions, listFunctions, numberFunctions, timeFunctions)

var functions, functionNames = indexed(table)

func indexed(table []function) (map[string]*function, []string) {
	index := make(map[string]*function, len(table))
	var names []string
	for i := range table {
		index[table[i].Name] = &table[i]
		names = append(names, table[i].Name)
	}
	return index, names
}
