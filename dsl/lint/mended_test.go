package lint

import (
	"slices"
	"strings"
	"testing"
)

func TestASlipInALineHidesNoOtherMistake(t *testing.T) {
	const below = `
    retries: 3
  report:
    depends_on: laod
    run: echo ${{ params.nix }}
`
	for _, c := range []struct {
		name, text string
		want       []string
	}{
		{"an asterisk that is no alias", "cron: * * * * *\ntimezone: UTC\ntasks:\n  load:\n    run: ./load.sh" + below,
			[]string{"1 syntax", "6 unknown-key", "8 unknown-task", "9 unknown-reference"}},
		{"a colon in a text", "timezone: UTC\ntasks:\n  load:\n    description: Load: all of it\n    run: ./load.sh" + below,
			[]string{"4 syntax", "6 unknown-key", "8 unknown-task", "9 unknown-reference"}},
		{"a quote that is not closed", "timezone: UTC\ntasks:\n  load:\n    description: \"all of it\n    run: ./load.sh" + below,
			[]string{"4 syntax", "6 unknown-key", "8 unknown-task", "9 unknown-reference"}},
		{"a bracket that is not closed", "timezone: UTC\ntasks:\n  load:\n    success_codes: [0, 1\n    run: ./load.sh" + below,
			[]string{"4 syntax", "6 unknown-key", "8 unknown-task", "9 unknown-reference"}},
		{"a tab", "timezone: UTC\ntasks:\n  load:\n\tdescription: all\n    run: ./load.sh" + below,
			[]string{"4 syntax", "6 unknown-key", "8 unknown-task", "9 unknown-reference"}},
		{"two slips", "description: a: b\ntimezone: UTC\ntasks:\n  load:\n    description: c: d\n    run: ./load.sh" + below,
			[]string{"1 syntax", "5 syntax", "7 unknown-key", "9 unknown-task", "10 unknown-reference"}},
		{"upstreams that could not be read", "tasks:\n  a: {run: \"true\"}\n  b:\n    depends_on: [a\n    run: echo ${{ tasks.a.state }}\n",
			[]string{"4 syntax"}},
		{"parameters that could not be read", "params: {a: 1\ntasks:\n  a: {run: \"echo ${{ params.a }} ${{ params.b }}\"}\n",
			[]string{"1 syntax"}},
		{"a slip that another line is a part of", "tasks:\n  load:\n    run: ./load.sh\n   retries: 3\n",
			[]string{"4 syntax"}},
		{"where lines end as on Windows", "description: a: b\r\ntasks:\r\n  load:\r\n    run: ./load.sh\r\n    retries: 3\r\n",
			[]string{"1 syntax", "5 unknown-key"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := reported(c.text); !slices.Equal(got, c.want) {
				t.Errorf("want %q, got\n%s", c.want, places(diagnose(c.text, Options{})))
			}
		})
	}
}

func TestOnlySoManyLinesAreMended(t *testing.T) {
	text := strings.Repeat("x-a: b: c\n", mostMended+1) + "tasks: {}\n"
	if got := reported(text); !slices.Equal(got, []string{"1 syntax"}) {
		t.Errorf("got %q", got)
	}
}
