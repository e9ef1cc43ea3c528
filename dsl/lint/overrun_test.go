package lint

import (
	"strings"
	"testing"
	"time"

	"github.com/ax-scheduler/ax/dsl"
)

func TestOverrun(t *testing.T) {
	const chain = `
tasks:
  load: {run: "true", timeout: 20m, retry: {max: 2, delay: 5m, backoff: constant}}
  clean: {run: "true", timeout: 10m, depends_on: load}
  other: {run: "true", timeout: 30m}
`
	runCases(t, Options{}, []ruleCase{
		{"the longest way is longer than the interval", "every: 1h" + chain, []string{"1:8 overrun"}},
		{"it fits", "every: 80m" + chain, nil},
		{"it does not fit by a second", "every: 4799s" + chain, []string{"1:8 overrun"}},
		{"a cron expression: the shortest distance counts", "timezone: UTC\ncron: \"0 9,10,20 * * 1-5\"" + chain, []string{"2:7 overrun"}},
		{"a day between two ticks", "timezone: UTC\ncron: \"0 9 * * *\"" + chain, nil},
		{"two expressions together", "timezone: UTC\ncron: [\"0 9 * * *\", \"30 9 * * *\"]" + chain, []string{"2:8 overrun"}},
		{"who says what happens is not told", "every: 1h\noverlap: skip" + chain, nil},
		{"nor who allows several runs", "every: 1h\nmax_active: 0" + chain, nil},
		{"the timeout of the run ends it", "every: 1h\ntimeout: 50m" + chain, nil},
		{"but not before the tick", "every: 1h\ntimeout: 70m" + chain, []string{"1:8 overrun"}},
		{"a task without a timeout may take all of that of the run", "timezone: UTC\ncron: \"*/10 * * * *\"\ntimeout: 90m\ntasks: {t: {run: \"true\"}}\n", []string{"2:7 overrun"}},
		{"which fits", "timezone: UTC\ncron: \"*/10 * * * *\"\ntimeout: 10m\ntasks: {t: {run: \"true\"}}\n", nil},
		{"tasks with timeouts do not take that of the run", "every: 1h\ntimeout: 90m\ntasks: {t: {run: \"true\", timeout: 10m}}\n", nil},
		{"handlers come after all else", "every: 85m\non_finish: tidy" + chain + "  tidy: {run: \"true\", timeout: 10m}\n", []string{"1:8 overrun"}},
		{"a handler of a task is on the way", "every: 85m" + chain[:len(chain)-1] + "\n  late: {run: \"true\", depends_on: clean, on_failure: fix, timeout: 1s}\n  fix: {run: \"true\", timeout: 10m}\n",
			[]string{"1:8 overrun"}},
		{"the schedule of a task: what is downstream of it", "tasks:\n  a: {run: \"true\", every: 1h, timeout: 40m}\n  b: {run: \"true\", depends_on: a, timeout: 30m}\n  c: {run: \"true\", timeout: 10h}\n",
			[]string{"2:27 overrun"}},
		{"no timeout, no sum", "every: 1h\ntasks: {t: {run: \"true\"}}\n", nil},
		{"pauses alone", "every: 1m\ntasks: {t: {run: \"true\", retry: 30}}\n", []string{"1:8 overrun"}},
	})
}

func TestOverrunShowsTheSum(t *testing.T) {
	ds := diagnose("every: 1h\ntasks:\n  load: {run: \"true\", timeout: 20m, retry: {max: 2, delay: 5m, backoff: constant}}\n  clean: {run: \"true\", timeout: 10m, depends_on: load}\n", Options{})
	if len(ds) != 1 || ds[0].Message != "in the worst case a run takes 1h20m, but the next tick comes after 1h" ||
		!strings.HasPrefix(ds[0].Hint, "load 3 × 20m and 10m of pauses + clean 10m: ") {
		t.Errorf("got\n%s", places(ds))
	}
}

func TestPauses(t *testing.T) {
	second := func(n int) dsl.Value[time.Duration] {
		return dsl.Value[time.Duration]{V: time.Duration(n) * time.Second, Pos: dsl.Pos{Line: 1, Col: 1}}
	}
	retries := func(n int) dsl.Value[int] { return dsl.Value[int]{V: n} }
	for _, c := range []struct {
		name string
		r    *dsl.Retry
		want time.Duration
	}{
		{"none", nil, 0},
		{"doubling up to a minute", &dsl.Retry{Max: retries(8)}, (1 + 2 + 4 + 8 + 16 + 32 + 60 + 60) * time.Second},
		{"doubling from beyond the limit", &dsl.Retry{Max: retries(3), Delay: second(100)}, 300 * time.Second},
		{"constant", &dsl.Retry{Max: retries(4), Delay: second(10), Backoff: dsl.Value[dsl.Backoff]{V: dsl.Constant}}, 40 * time.Second},
		{"rising", &dsl.Retry{Max: retries(4), Delay: second(10), MaxDelay: second(25), Backoff: dsl.Value[dsl.Backoff]{V: dsl.Linear}}, (10 + 20 + 25 + 25) * time.Second},
		{"no pause", &dsl.Retry{Max: retries(4), Delay: second(0)}, 0},
		{"with jitter", &dsl.Retry{Max: retries(2), Delay: second(1), Jitter: second(5)}, 13 * time.Second},
		{"as often as can be written, in no time", &dsl.Retry{Max: retries(1<<31 - 1), Delay: dsl.Value[time.Duration]{V: 1, Pos: dsl.Pos{Line: 1, Col: 1}},
			Backoff: dsl.Value[dsl.Backoff]{V: dsl.Linear}}, times(1, (1<<31-1)*(1<<30))},
	} {
		if got := pauses(c.r); got != c.want {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}
