package dsl

import (
	"fmt"
	"strings"
	"testing"

	"gopkg.in/yaml.v3"
	"pgregory.net/rapid"
)

// longScalars are scalars that have stations and are remembered as a whole.
func longScalars() map[string]string {
	lines := func(form string) string {
		var b strings.Builder
		for i := range 300 {
			fmt.Fprintf(&b, form, i)
		}
		return b.String()
	}
	return map[string]string{
		"a literal":                     "k: |\n" + lines("  line é %d\n\n"),
		"a folded block":                "k: >\n" + lines("  line é %d\n   more\n\n"),
		"a literal of one line":         "k: |\n  " + lines("é %d;") + "\n",
		"double quotes":                 `k: "` + lines(`é %d\t   \u00e9`) + `"`,
		"double quotes over many lines": `k: "` + lines("é %d\\\n\n   b\n\n") + `"`,
		"single quotes":                 "k: '" + lines("it''s é %d") + "'",
		"a plain scalar":                "k: " + lines("word é %d\n  more\n\n  "),
	}
}

func valueAt(t *testing.T, text string) string {
	t.Helper()
	var doc yaml.Node
	if err := yaml.Unmarshal([]byte(text), &doc); err != nil {
		t.Fatal(err)
	}
	return lastScalar(&doc).Value
}

func TestAPlaceInAScalarDoesNotDependOnThoseThatWereAskedForBefore(t *testing.T) {
	at := Pos{1, 4}
	for name, text := range longScalars() {
		size := len(valueAt(t, text))
		t.Run(name, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				asked := NewSource("f", []byte(text))
				for _, offset := range rapid.SliceOfN(rapid.IntRange(0, size+2), 1, 8).Draw(t, "offsets") {
					for _, o := range []int{offset, offset + 1} {
						if got, want := asked.InScalar(at, o), NewSource("f", []byte(text)).InScalar(at, o); got != want {
							t.Fatalf("offset %d is at %v, on its own at %v", o, got, want)
						}
					}
				}
			})
		})
	}
}

// What would be read again is spoilt after the first look.
func TestAScalarIsNotReadAgainForAnotherPlaceInIt(t *testing.T) {
	at := Pos{1, 4}
	for name, text := range longScalars() {
		t.Run(name, func(t *testing.T) {
			value := valueAt(t, text)
			offset := len(strings.TrimRight(value, "\n")) - 1
			src := NewSource("f", []byte(text))
			want, span := src.InScalar(at, offset), src.Span(at)
			for i := len("k: |\n"); i < src.Offset(want)-2*trailStep; i++ {
				src.Text[i] = '\n'
			}
			if got := src.InScalar(at, offset); got != want {
				t.Errorf("offset %d is at %v, was at %v", offset, got, want)
			}
			if got := src.Span(at); text[3] != '|' && text[3] != '>' && got != span {
				t.Errorf("it reaches to %v, did to %v", got, span)
			}
		})
	}
}

func TestAnUnknownKeyCostsNoLookAtTheOtherKeysOfItsMap(t *testing.T) {
	p := &parser{src: NewSource("f", nil), wf: &Workflow{}, budget: freeNodes}
	one := &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!int", Value: "1"}
	f := given{p: p, there: gapOf(workflowKeys, "max_parallel")}
	unclear(&f, workflowKeys, p.value(one, one))
	if got := f.perhaps; len(got) == 0 || f.gaps.has(workflowKeys, "max_parallel") || !f.gaps.has(workflowKeys, "priority") {
		t.Errorf("it may have been %v; max_parallel is there, priority is not", got)
	}
}
