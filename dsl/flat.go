package dsl

import (
	"errors"
	"fmt"
	"slices"
)

// ParseFlat reads a small file that is one YAML or JSON map of names to
// scalars, such as parameters or settings, in file order. Values are the
// characters as written; expressions mean nothing in them. The error has a line
// for everything that is wrong, each with file, line and column. Empty text and
// text of comments alone have no entries. An entry whose name is one of maps is
// such a map itself, and its entries come as name.entry.
func ParseFlat(file string, text []byte, maps ...string) ([]Field, error) {
	p, root, bad := open(file, text)
	if bad != nil {
		return nil, flatError(*bad)
	}
	var fields []Field
	if root != nil {
		v := p.value(nil, root)
		v.what = "the file"
		v.entries("names with values, as in NAME: value,", func(name Value[string], v val) {
			if slices.Contains(maps, name.V) {
				v.entries("names with values, as in NAME: value,", func(entry Value[string], v val) {
					if value, ok := v.scalar("one value"); ok {
						entry.V = name.V + "." + entry.V
						fields = append(fields, Field{entry, value})
					}
				})
				return
			}
			if value, ok := v.scalar("one value"); ok {
				fields = append(fields, Field{name, value})
			}
		})
	}
	p.ds.Sort()
	var errs []error
	for _, d := range p.ds {
		errs = append(errs, flatError(d))
	}
	return fields, errors.Join(errs...)
}

func flatError(d Diagnostic) error {
	place := d.File
	if d.Pos.Written() {
		place = fmt.Sprintf("%s:%d:%d", d.File, d.Pos.Line, d.Pos.Col)
	}
	return fmt.Errorf("%s: %s", place, d.Message)
}
