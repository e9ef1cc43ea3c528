package lint

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestRedundantDependency(t *testing.T) {
	runCases(t, Options{}, []ruleCase{
		{"by one task", `
tasks:
  a: {run: "true"}
  b: {run: "true", depends_on: a}
  c: {run: "true", depends_on: [b, a]}
`, []string{"5:36 redundant-dependency"}},
		{"over many tasks, several at once", `
tasks:
  a: {run: "true"}
  b: {run: "true", depends_on: a}
  c: {run: "true", depends_on: b}
  d: {run: "true", depends_on: c}
  e: {run: "true", depends_on: [a, b, d]}
`, []string{"7:33 redundant-dependency", "7:36 redundant-dependency"}},
		{"a condition that the way does not imply", `
tasks:
  a: {run: "true"}
  b: {run: "true", depends_on: {a: finished}}
  c: {run: "true", depends_on: [a, b]}
  d: {run: "true", depends_on: {a: failed, e: succeeded}}
  e: {run: "true", depends_on: {a: failed}}
`, nil},
		{"a condition that it implies", `
tasks:
  a: {run: "true"}
  b: {run: "true", depends_on: a}
  c: {run: "true", depends_on: {a: finished, b: succeeded}}
`, []string{"5:33 redundant-dependency"}},
		{"a task between that may be skipped", `
tasks:
  a: {run: "true"}
  b: {run: "true", depends_on: a}
  c: {run: "true", depends_on: {a: succeeded, b: finished}}
`, nil},
		{"one of several is enough", `
tasks:
  a: {run: "true"}
  b: {run: "true"}
  c: {run: "true", depends_on: [a, b], join: any}
  d: {run: "true", depends_on: [a, c]}
  e: {run: "true", depends_on: [a, d], join: any}
`, nil},
	})
}

// Against the definition: an edge is redundant if a longer way of edges on
// success leads where it leads.
func TestRedundantDependencyAgreesWithItsDefinition(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(2, 8).Draw(t, "tasks")
		edge := make([][]bool, n)
		text := "tasks:\n"
		for i := range n {
			edge[i] = make([]bool, n)
			var deps []string
			for u := range i {
				if edge[i][u] = rapid.Bool().Draw(t, "edge"); edge[i][u] {
					deps = append(deps, fmt.Sprintf("t%d", u))
				}
			}
			text += fmt.Sprintf("  t%d: {run: \"true\", depends_on: [%s]}\n", i, strings.Join(deps, ", "))
		}
		var want, got []string
		for i := range n {
			for u := range i {
				if edge[i][u] && longerWay(edge, i, u) {
					want = append(want, fmt.Sprintf(`task "t%d" need not depend on "t%d"`, i, u))
				}
			}
		}
		for _, d := range diagnose(text, Options{}) {
			if d.Rule == "redundant-dependency" {
				message, _, _ := strings.Cut(d.Message, ":")
				got = append(got, message)
			}
		}
		if slices.Sort(want); !slices.Equal(want, slices.Sorted(slices.Values(got))) {
			t.Fatalf("want %q, got %q of\n%s", want, got, text)
		}
	})
}

func longerWay(edge [][]bool, from, to int) bool {
	var reaches func(i int) bool
	reaches = func(i int) bool {
		for u := range i {
			if edge[i][u] && (u == to || reaches(u)) {
				return true
			}
		}
		return false
	}
	for u := range from {
		if u != to && edge[from][u] && reaches(u) {
			return true
		}
	}
	return false
}
