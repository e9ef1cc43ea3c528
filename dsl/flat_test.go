package dsl

import (
	"strings"
	"testing"
)

func TestParseFlat(t *testing.T) {
	for _, c := range []struct{ name, text, want, fault string }{
		{"YAML", "b: 010\na: \"x y\" # note\nc: ${{ d\n", `[{Name:"b" Value:"010"} {Name:"a" Value:"x y"} {Name:"c" Value:"${{ d"}]`, ""},
		{"JSON", "{\"a\": 1.50, \"b\": true}", `[{Name:"a" Value:"1.50"} {Name:"b" Value:"true"}]`, ""},
		{"nothing", "# nothing\n", `[]`, ""},
		{"a list", "- a\n", `[]`, "f:1:1: expected names with values, as in NAME: value, for the file, got a list"},
		{"a list for a value", "a: b\nc: [d]\n", `[{Name:"a" Value:"b"}]`, `f:2:4: expected one value for "c", got a list`},
		{"a name twice", "a: b\na: c\nd: {}", `[{Name:"a" Value:"b"}]`, `f:2:1: key "a" is given twice in the file, first in line 1` + "\n" + `f:3:4: expected one value for "d", got a map`},
		{"a name without a value", "a:\n", `[]`, `f:1:1: "a" has no value`},
		{"a slip", "a: b: c\n", `[]`, `f:1:5: ": " inside of a text without quotes`},
		{"two documents", "a: b\n---\nc: d\n", `[{Name:"a" Value:"b"}]`, "f:2:1: a second document in one file"},
		{"too large", strings.Repeat("#", MaxSize+1), `[]`, "f: the file has more than 16 MiB, which is the most that is read"},
	} {
		t.Run(c.name, func(t *testing.T) {
			fields, err := ParseFlat("f", []byte(c.text))
			fault := ""
			if err != nil {
				fault = err.Error()
			}
			if got := bare(fields); got != c.want || fault != c.fault {
				t.Errorf("got  %s\n     %s\nwant %s\n     %s", got, fault, c.want, c.fault)
			}
		})
	}
}
