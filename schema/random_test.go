package schema

import (
	"slices"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/ax-scheduler/ax/dsl"
)

// branch is a piece of a file: a scalar as it is written, a list or a map.
type branch struct {
	text    string
	kind    byte // 's', 'l' or 'm'
	keys    []string
	entries []*branch
}

// String writes it in brackets.
func (b *branch) String() string {
	if b.kind == 's' {
		return b.text
	}
	var parts []string
	for i, e := range b.entries {
		part := e.String()
		if b.kind == 'm' {
			part = b.keys[i] + ": " + part
		}
		parts = append(parts, part)
	}
	if b.kind == 'l' {
		return "[" + strings.Join(parts, ", ") + "]"
	}
	return "{" + strings.Join(parts, ", ") + "}"
}

// all lists a branch and what hangs on it.
func (b *branch) all() []*branch {
	list := []*branch{b}
	for _, e := range b.entries {
		list = append(list, e.all()...)
	}
	return list
}

// grower draws files that the parser takes, from what dsl says of its keys.
type grower struct {
	*rapid.T
	mappings map[string]dsl.Mapping
}

func newGrower(t *rapid.T) *grower {
	g := &grower{t, map[string]dsl.Mapping{}}
	for _, m := range dsl.Mappings() {
		g.mappings[m.Name] = m
	}
	return g
}

func (g *grower) oneOf(label string, all ...string) string {
	return rapid.SampledFrom(all).Draw(g.T, label)
}

func (g *grower) chance(label string, of int) bool {
	return rapid.IntRange(1, of).Draw(g.T, label) == 1
}

// mapping draws what it must have and some of what it may have.
func (g *grower) mapping(name string) *branch {
	m := g.mappings[name]
	var keys []string
	optional := func(key string) bool {
		return !slices.Contains(m.Required, key) && !slices.Contains(m.OneOf, key) && !slices.Contains(m.SomeOf, key) && len(m.Needs[key]) == 0
	}
	for _, key := range m.Keys {
		if slices.Contains(m.Required, key) || optional(key) && g.chance(key, 6) {
			keys = append(keys, key)
		}
	}
	if len(m.OneOf) > 0 {
		keys = append(keys, g.oneOf("one", m.OneOf...))
	}
	if len(m.SomeOf) > 0 {
		keys = append(keys, g.oneOf("some", m.SomeOf...))
	}
	for key, needed := range m.Needs {
		if slices.Contains(keys, needed[0]) && g.chance(key, 2) {
			keys = append(keys, key)
		}
	}
	if name == "a parameter" {
		return g.parameter()
	}
	b := &branch{kind: 'm'}
	for _, key := range rapid.Permutation(keys).Draw(g.T, "order") {
		b.keys = append(b.keys, key)
		b.entries = append(b.entries, g.shape(m.Shapes[key]))
	}
	if m.Name == "the workflow" && g.chance("x-", 4) {
		b.keys = append(b.keys, "x-note")
		b.entries = append(b.entries, &branch{kind: 's', text: "[1, {a: ~}]"})
	}
	return b
}

// parameter draws one whose values fit each other.
func (g *grower) parameter() *branch {
	return &branch{kind: 's', text: g.oneOf("parameter", "{}", "{required: true}", "{type: int, default: 5, min: 1, max: 9}", "{default: 5, min: -1}",
		`{type: string, choices: [a, 010, "5"], default: a}`, `{pattern: "[a-z]+", default: abc}`, "{type: date, min: 2026-01-31}",
		"{type: duration, default: 1h30m, max: 2d, description: how long}", "{type: bool, default: true}", "{type: float, choices: [1.5, .5, 1e3]}")}
}

// shape draws one of the forms that a value may have.
func (g *grower) shape(s dsl.Shape) *branch {
	var forms []func() *branch
	if s.Scalar != dsl.NoScalar {
		forms = append(forms, func() *branch { return &branch{kind: 's', text: g.scalar(s)} })
	}
	if s.Items != nil {
		forms = append(forms, func() *branch { return g.list(s) })
	}
	if s.Values != nil {
		forms = append(forms, func() *branch { return g.free(s) })
	}
	if s.Mapping != "" {
		forms = append(forms, func() *branch { return g.mapping(s.Mapping) })
	}
	if s.Any {
		forms = append(forms, func() *branch {
			return &branch{kind: 's', text: g.oneOf("any", "[]", "{a: [1, ~, {b: c}]}", "[x, null]")}
		})
	}
	return rapid.SampledFrom(forms).Draw(g.T, "form")()
}

func (g *grower) list(s dsl.Shape) *branch {
	b, least := &branch{kind: 'l'}, 0
	if s.Some || s.First != nil {
		least = 1
	}
	for i := range rapid.IntRange(least, 3).Draw(g.T, "items") {
		item := *s.Items
		if i == 0 && s.First != nil {
			item = *s.First
		}
		b.entries = append(b.entries, g.shape(item))
	}
	return b
}

func (g *grower) free(s dsl.Shape) *branch {
	b, least := &branch{kind: 'm'}, 0
	if s.Some {
		least = 1
	}
	names := []string{"a", "_b", "C9", "true", `"d"`, "'e'"}
	if s.Names == dsl.ScalarIdentifier {
		names = append(names, "f-g")
	}
	for _, name := range rapid.Permutation(names).Draw(g.T, "names")[:rapid.IntRange(least, 3).Draw(g.T, "entries")] {
		b.keys = append(b.keys, name)
		b.entries = append(b.entries, g.shape(*s.Values))
	}
	return b
}

// scalar draws a text that the parser takes, in one of its spellings.
func (g *grower) scalar(s dsl.Shape) string {
	texts := map[dsl.Scalar][]string{
		dsl.ScalarText:       {"x", "a b", `""`, "010", "no", "true", "1.50", "5", `"${{ params.a }}"`, `"größe\n"`, "'it''s'", "2026-01-31", "12:30", "0x1F", ".inf"},
		dsl.ScalarLine:       {"x", `""`, "5", `"${{ a }}"`},
		dsl.ScalarFilled:     {"x", "./a.sh", "5", "007", "true", `"${{ a }}"`, `" x "`},
		dsl.ScalarExpression: {"params.a > 5", "5", "true"},
		dsl.ScalarAddress:    {"http://x", `"https://${{ a }}"`, `"${{ a }}"`},
		dsl.ScalarDatabase:   {`"sqlite:a.db"`, "postgres://u@h/n", `"${{ a }}"`},
		dsl.ScalarTableFile:  {"a.csv", "b/c.json", `"${{ a }}"`},
		dsl.ScalarProgram:    {"bash", "python3", `"${{a}}"`},
		dsl.ScalarException:  {"2028-02-29", "days.txt", "2026-01-31.txt"},
		dsl.ScalarFunction:   {"f", "a.b", "5"},
		dsl.ScalarCronTime:   {`"30 2 * * *"`, `"@daily"`, "0 5 * * 1-5"},
		dsl.ScalarTaskID:     {"a", "nobody", "5", "true"},
		dsl.ScalarIdentifier: {"a", "true", `"a-b"`, "_9"},
		dsl.ScalarVariable:   {"A", "false", "_9"},
		dsl.ScalarWord:       s.Words,
		dsl.ScalarBoolean:    {"true", "FALSE", `"true"`, "'False'"},
		dsl.ScalarDuration:   {"5s", "1h30m", "90", "1.5h", `"2d"`, "01m", "1.5"},
		dsl.ScalarDay:        {"2026-01-31", `"2028-02-29"`},
		dsl.ScalarParamValue: {"x", `""`, "5", "1.5", "true", "2026-01-31", "010", `"${{ a }}"`},
	}
	if s.Scalar == dsl.ScalarInteger {
		n := strings.Repeat("0", rapid.IntRange(0, 2).Draw(g.T, "zeros")) + rapid.SampledFrom([]string{strconv.Itoa(s.Low), strconv.Itoa(s.High), strconv.Itoa(s.Low + 1)}).Draw(g.T, "integer")
		return g.oneOf("quotes", n, `"`+n+`"`)
	}
	return g.oneOf("text", texts[s.Scalar]...)
}

func TestGeneratedFilesHaveOneVerdict(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := newGrower(t)
		text := g.mapping("the workflow").String()
		v := judge("w.yaml", []byte(text))
		if bad := v.dispute(); bad != "" {
			t.Fatalf("%s\n%s", text, bad)
		}
		if bad := expressible(v.diagnostics); bad != "" {
			t.Fatalf("%s\nis no good file: %s", text, bad)
		}
	})
}

// mutate makes one mistake, or perhaps none.
func (g *grower) mutate(root *branch) {
	all := root.all()
	at := all[rapid.IntRange(0, len(all)-1).Draw(g.T, "at")]
	value := &branch{kind: 's', text: rapid.SampledFrom(values).Draw(g.T, "value")}
	if len(at.entries) == 0 {
		*at = *value
		return
	}
	i := rapid.IntRange(0, len(at.entries)-1).Draw(g.T, "entry")
	switch g.oneOf("mistake", "replace", "drop", "swap", "rename", "add", "wrap") {
	case "replace":
		*at = *value
	case "drop":
		at.entries = slices.Delete(at.entries, i, i+1)
		if at.kind == 'm' {
			at.keys = slices.Delete(at.keys, i, i+1)
		}
	case "swap":
		*at.entries[i] = *all[rapid.IntRange(0, len(all)-1).Draw(g.T, "other")].copy()
	case "rename":
		if at.kind == 'm' {
			at.keys[i] = g.oneOf("name", "nothing", "name", "run", "env", "cron", "x-a", `""`, "9", "größe")
		}
	case "add":
		at.entries = append(at.entries, value)
		if at.kind == 'm' {
			at.keys = append(at.keys, g.oneOf("name", "nothing", "timeout", "call", "file", "url", "x-a", "'a b'"))
		}
	case "wrap":
		inner := *at.entries[i]
		*at.entries[i] = branch{kind: 'l', entries: []*branch{&inner}}
	}
}

func (b *branch) copy() *branch {
	c := *b
	c.keys, c.entries = slices.Clone(b.keys), nil
	for _, e := range b.entries {
		c.entries = append(c.entries, e.copy())
	}
	return &c
}

func TestOneMistakeHasOneVerdict(t *testing.T) {
	good, bad := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		g := newGrower(t)
		root := g.mapping("the workflow")
		before := root.String()
		g.mutate(root)
		text := root.String()
		v := judge("w.yaml", []byte(text))
		if dispute := v.dispute(); dispute != "" {
			t.Fatalf("%s\nof\n%s\n%s", text, before, dispute)
		}
		if len(v.diagnostics) == 0 {
			good++
		} else {
			bad++
		}
	})
	if bad < good/20 {
		t.Errorf("%d changes gave %d bad files", good+bad, bad)
	}
}
