package lint

import (
	"fmt"
	"strings"
	"testing"
)

func TestMixedSchedules(t *testing.T) {
	const two = `
timezone: UTC
tasks:
  a: {run: "true", cron: "0 2 * * *"}
  b: {run: "true", cron: "0 3 * * *"}
`
	runCases(t, Options{}, []ruleCase{
		{"two schedules meet", two + `  c: {run: "true", depends_on: [a, b]}
  d: {run: "true", depends_on: c}
`, []string{"6:36 mixed-schedules"}},
		{"behind tasks of their own, and one that nothing starts", two + `  free: {run: "true"}
  x: {run: "true", depends_on: [a, free]}
  y: {run: "true", depends_on: [free, b]}
  z: {run: "true", depends_on: [free, x, y]}
`, []string{"9:33 redundant-dependency", "9:42 mixed-schedules"}},
		{"one schedule for both", strings.Replace(two, "0 3", "0 2", 1) + `  c: {run: "true", depends_on: [a, b]}
`, nil},
		{"a schedule in common", `
timezone: UTC
tasks:
  a: {run: "true", cron: ["0 2 * * *", "0 3 * * *"]}
  b: {run: "true", cron: "0 3 * * *"}
  c: {run: "true", depends_on: [a, b]}
`, nil},
		{"one schedule in two zones is two", `
tasks:
  a: {run: "true", cron: [{cron: "0 4 * * *", timezone: UTC}]}
  b: {run: "true", cron: [{cron: "0 4 * * *", timezone: Asia/Tokyo}]}
  c: {run: "true", depends_on: [a, b]}
`, []string{"5:36 mixed-schedules"}},
		{"a handler serves both", strings.ReplaceAll(two, "run: \"true\"", "run: \"true\", on_failure: page") + `  page: {run: "true"}
  after: {run: "true", depends_on: page}
`, nil},
		{"a handler that depends on a task of another schedule", strings.Replace(two, "* * *\"", "* * *\", on_failure: page", 1) + `  page: {run: "true", depends_on: b}
`, []string{"6:35 mixed-schedules"}},
		{"the workflow is started as a whole, too", "every: 1d\n" + two + `  c: {run: "true", depends_on: [a, b]}
`, nil},
		{"a disabled task is checked", strings.Replace(two, "0 2 * * *\"", "0 2 * * *\", disabled: true", 1) + `  c: {run: "true", depends_on: [a, b]}
`, []string{"6:36 mixed-schedules"}},
	})
}

func TestMixedSchedulesIsLinearInTheSchedules(t *testing.T) {
	var b strings.Builder
	b.WriteString("tasks:\n  page: {run: \"true\"}\n")
	const n = 20_000
	for i := range n {
		fmt.Fprintf(&b, "  t%d: {run: \"true\", every: %ds, on_failure: page}\n", i, i+1)
		fmt.Fprintf(&b, "  u%d: {run: \"true\", depends_on: [t%d, page]}\n", i, i)
	}
	if got := check(b.String(), Options{}); len(got) > 0 {
		t.Errorf("got %q", got[0])
	}
}
