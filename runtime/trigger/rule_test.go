package trigger_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/ax-scheduler/ax/dag"
	"github.com/ax-scheduler/ax/dsl"
	"github.com/ax-scheduler/ax/runtime/trigger"
)

func rules(t testing.TB, text string, o trigger.Options) []trigger.Rule {
	t.Helper()
	wf, ds := dsl.Parse("flow.yaml", []byte(text))
	if ds.Errors() {
		t.Fatalf("%v", ds)
	}
	p, ds := dag.Compile(wf)
	if ds.Errors() {
		t.Fatalf("%v", ds)
	}
	if o.Zone == nil {
		o.Zone = time.UTC
	}
	rs, err := trigger.Rules(p.Workflow, p.Entries, o)
	if err != nil {
		t.Fatal(err)
	}
	return rs
}

func at(t testing.TB, text string) time.Time {
	t.Helper()
	v, err := time.Parse(time.RFC3339, text)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func next(t testing.TB, r trigger.Rule, after string, n int) []string {
	var got []string
	for at := at(t, after); len(got) < n; {
		if at = r.Next(at); at.IsZero() {
			break
		}
		got = append(got, at.UTC().Format(time.RFC3339))
	}
	return got
}

func TestSchedulesOfTasksAreGroupedAndThoseOfDisabledTasksLeftOut(t *testing.T) {
	rs := rules(t, `
name: flow
timezone: Europe/Berlin
cron: "0 1 * * *"
tasks:
  a: {run: x, cron: ["0 2 * * *", "0 3 * * *"]}
  b: {run: x, cron: "0 2 * * *"}
  c: {run: x, depends_on: a}
  d: {run: x, cron: "0 9 * * *", disabled: true}
  e: {run: x, every: 90s}
`, trigger.Options{})
	var got []string
	for _, r := range rs {
		got = append(got, r.Schedule+": "+strings.Join(r.Tasks, ","))
	}
	want := []string{"0 1 * * *: ", "0 2 * * *: a,b", "0 3 * * *: a", "every 1m30s: e"}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestAScheduleThatIsGivenTwiceIsOneUnlessItsParametersDiffer(t *testing.T) {
	rs := rules(t, `
name: flow
params: {region: eu}
cron:
  - "0 2 * * *"
  - "0  2 * * *"
  - {cron: "0 2 * * *", params: {region: cn}}
  - {cron: "0 2 * * *", params: {region: us}}
  - {cron: "0 2 * * *", params: {region: cn}}
  - {cron: "0 2 * * *", timezone: Asia/Shanghai, params: {region: cn}}
tasks:
  a: {run: x}
`, trigger.Options{})
	var got []string
	for _, r := range rs {
		got = append(got, fmt.Sprintf("%s: %d", r.Schedule, len(r.Params)))
	}
	want := []string{"0 2 * * *: 0", "0 2 * * * region=cn: 1", "0 2 * * * region=us: 1", "Asia/Shanghai 0 2 * * *: 1"}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestAScheduleWithoutParametersBehindOneWithThemIsNotPassedOver(t *testing.T) {
	rs := rules(t, `
name: flow
params: {region: eu}
cron:
  - {cron: "0 2 * * *", params: {region: cn}}
  - "0 2 * * *"
  - "0 2 * * *"
tasks:
  a: {run: x}
`, trigger.Options{})
	var got []string
	for _, r := range rs {
		got = append(got, fmt.Sprintf("%s: %d", r.Schedule, len(r.Params)))
	}
	if want := []string{"0 2 * * *: 1", "0 2 * * * without params: 0"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestADisabledWorkflowHasNoSchedules(t *testing.T) {
	if rs := rules(t, "name: f\ncron: \"@daily\"\ndisabled: true\ntasks:\n  a: {run: x}\n", trigger.Options{}); len(rs) > 0 {
		t.Errorf("got %d rules", len(rs))
	}
}

func TestEveryCountsFromItsAnchor(t *testing.T) {
	r := rules(t, "name: f\nevery: 10m\ntasks:\n  a: {run: x}\n", trigger.Options{Anchor: at(t, "2026-01-01T00:03:00Z")})[0]
	for _, c := range []struct{ after, want string }{
		{"2025-12-31T00:00:00Z", "2026-01-01T00:13:00Z"},
		{"2026-01-01T00:03:00Z", "2026-01-01T00:13:00Z"},
		{"2026-01-01T00:12:59Z", "2026-01-01T00:13:00Z"},
		{"2026-01-01T00:13:00Z", "2026-01-01T00:23:00Z"},
	} {
		if got := next(t, r, c.after, 1)[0]; got != c.want {
			t.Errorf("after %s comes %s, want %s", c.after, got, c.want)
		}
	}
	if got := r.Prev(at(t, "2026-01-01T00:12:59Z")); !got.IsZero() {
		t.Errorf("before its first time it fired at %s", got)
	}
}

func TestSchedulesFireOnTheDaysOfTheWorkflowsZone(t *testing.T) {
	text := `
name: f
cron: "0 */12 * * *"
timezone: America/New_York
valid_from: 2026-03-07
valid_until: 2026-03-10
except: [2026-03-08, holidays.txt]
tasks:
  a: {run: x}
`
	o := trigger.Options{Dates: func(path string) ([]dsl.Date, error) {
		if path != "holidays.txt" {
			return nil, fmt.Errorf("asked for %q", path)
		}
		return []dsl.Date{{Year: 2026, Month: 3, Day: 9}}, nil
	}}
	r := rules(t, text, o)[0]
	want := []string{"2026-03-07T05:00:00Z", "2026-03-07T17:00:00Z", "2026-03-10T04:00:00Z", "2026-03-10T16:00:00Z"}
	if got := next(t, r, "2020-01-01T00:00:00Z", 10); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if got := r.Prev(at(t, "2030-01-01T00:00:00Z")).UTC().Format(time.RFC3339); got != want[3] {
		t.Errorf("the last time is %s, want %s", got, want[3])
	}
	if got := r.Prev(at(t, "2026-03-07T00:00:00Z")); !got.IsZero() {
		t.Errorf("before valid_from it fired at %s", got)
	}
}

func TestErrorsNameThePlace(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"name: f\ncron: \"61 * * * *\"\ntasks:\n  a: {run: x}\n", "f.yaml:2:7: "},
		{"name: f\ncron: \"@daily\"\ntimezone: Mars/Base\ntasks:\n  a: {run: x}\n", "f.yaml:3:11: "},
		{"name: f\ncron: \"@daily\"\nexcept: [gone.txt]\ntasks:\n  a: {run: x}\n", "f.yaml:3:10: except: "},
	} {
		wf, _ := dsl.Parse("f.yaml", []byte(c.text))
		p, ds := dag.Compile(wf)
		if p == nil {
			t.Fatal(ds)
		}
		_, err := trigger.Rules(p.Workflow, p.Entries, trigger.Options{Zone: time.UTC, Dates: func(string) ([]dsl.Date, error) { return nil, errors.New("gone") }})
		if err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%q gives %v, want %s…", c.text, err, c.want)
		}
	}
}

// Prev and Next are each other's inverse, and a day that is left out has no
// time.
func TestPrevAndNextAgree(t *testing.T) {
	crons := []string{"*/7 * * * *", "30 2 * * *", "0 0 * * *", "15 1 * * 0", "0 0 1 * *"}
	zones := []string{"UTC", "America/Havana", "Africa/Cairo", "Australia/Lord_Howe", "America/Santiago"}
	rapid.Check(t, func(t *rapid.T) {
		day := rapid.IntRange(0, 700).Draw(t, "day")
		except := time.Date(2026, 1, 1+day, 0, 0, 0, 0, time.UTC).Format(time.DateOnly)
		text := fmt.Sprintf("name: f\ncron: %q\ntimezone: %s\nexcept: [%s]\ntasks:\n  a: {run: x}\n",
			rapid.SampledFrom(crons).Draw(t, "cron"), rapid.SampledFrom(zones).Draw(t, "zone"), except)
		wf, ds := dsl.Parse("f.yaml", []byte(text))
		if ds.Errors() {
			t.Fatal(ds)
		}
		p, _ := dag.Compile(wf)
		rs, err := trigger.Rules(p.Workflow, p.Entries, trigger.Options{Zone: time.UTC})
		if err != nil {
			t.Fatal(err)
		}
		r := rs[0]
		from := time.Date(2026, 1, day, rapid.IntRange(0, 23).Draw(t, "hour"), 0, 0, 0, time.UTC)
		n := r.Next(from)
		if !n.After(from) || !r.Prev(n).Equal(n) || r.Prev(n.Add(-1)).After(from) {
			t.Fatalf("after %s comes %s, whose last times are %s and %s", from, n, r.Prev(n), r.Prev(n.Add(-1)))
		}
		if n.Format(time.DateOnly) == except {
			t.Fatalf("it fires at %s, on a day that is left out", n)
		}
	})
}
