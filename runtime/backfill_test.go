package runtime_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/ax-scheduler/ax/runtime"
	"github.com/ax-scheduler/ax/store"
)

func TestABackfillKeepsItsOwnLimitAndLetsAllElseGoFirst(t *testing.T) {
	x := &script{took: map[string]time.Duration{"a": 10 * time.Minute}}
	serving(t, x, func(ctx context.Context, e *runtime.Engine) {
		text := "name: flow\ncron: '0 * * * *'\ntimezone: UTC\ncatchup: none\nmax_active: 3\ntasks:\n  a: {run: x}\n"
		load(ctx, t, e, text)
		day := x.t0.Add(-24 * time.Hour).Format(time.DateOnly)
		filled, err := e.Backfill(ctx, runtime.Backfill{Plan: plan(t, text), From: day, To: day, MaxParallel: 2})
		if err != nil || len(filled.Ticks) != 24 {
			t.Fatalf("%d ticks, %v", len(filled.Ticks), err)
		}
		time.Sleep(15 * time.Minute)
		manual := start(ctx, t, e, runtime.Request{Plan: plan(t, text)})
		time.Sleep(time.Minute)
		if run, err := e.Store.Run(ctx, manual.ID); err != nil || run.State.String() != "running" {
			t.Errorf("beside the backfill a manual run is %s, %v", run.State, err)
		}
		time.Sleep(3 * time.Hour)
		if most := x.peak(); most != 3 {
			t.Errorf("%d attempts went at a time, want two of the backfill and one other", most)
		}
		last := time.Time{}
		for i, f := range filled.Ticks {
			run, err := e.Store.Run(ctx, f.Run.ID)
			if err != nil || run.State.String() != "succeeded" || run.StartedAt.Before(last) {
				t.Fatalf("run %d is %s, started %s after %s, %v", i, run.State, run.StartedAt, last, err)
			}
			if want := x.t0.Add(time.Duration(i-24) * time.Hour); !run.ScheduledFor.Equal(want) || !run.IntervalFrom.Equal(want.Add(-time.Hour)) {
				t.Errorf("run %d stands for %s from %s", i, run.ScheduledFor, run.IntervalFrom)
			}
			last = run.StartedAt
		}
		equal(t, ledger(ctx, t, e, x), []string{"1h0m0s fired", "2h0m0s fired", "3h0m0s fired"})
	})
}

func TestABackfillOfWhatCannotRunMakesNoRun(t *testing.T) {
	x := &script{}
	serving(t, x, func(ctx context.Context, e *runtime.Engine) {
		for text, b := range map[string]runtime.Backfill{
			"name: flow\ncron: '0 * * * *'\nparams: {p: {required: true}}\ntasks:\n  a: {run: x}\n":           {From: "2026-01-01", To: "2026-01-02"},
			"name: flow\ncron: '0 * * * *'\ntasks:\n  a: {run: 'true'}\n":                                     {From: "2026-01-01", To: "2026-01-02", Params: map[string]string{"q": "1"}},
			"name: flow\ncron: '0 * * * *'\ndisabled: true\ntasks:\n  a: {run: x}\n":                          {From: "2026-01-01", To: "2026-01-02"},
			"name: flow\ncron: '0 * * * *'\nexcept: [no/such/file.txt]\ntasks:\n  a: {run: x}\n":              {From: "2026-01-01", To: "2026-01-02"},
			"name: flow\ncron: '0 * * * *'\nmax_active: 7\ntasks:\n  a: {run: x}\n":                           {From: "2026-01-01", To: "soon"},
			"name: flow\ncron: '0 * * * *'\nmax_active: 8\ntasks:\n  a: {run: x}\n":                           {From: "2026-01-01", To: "2026-01-02", MaxParallel: -1},
			"name: flow\ncron: '0 * * * *'\nmax_active: 9\ntasks:\n  a: {run: x}\n":                           {From: "2026-01-02T00:00:00Z", To: "2026-01-01T23:59:59Z"},
			"name: flow\ncron: '* * * * *'\nmax_active: 10\ntasks:\n  a: {run: x}\n# as many as in 190 years": {From: "1900-01-01", To: "2100-01-01"},
		} {
			b.Plan = plan(t, text)
			if filled, err := e.Backfill(ctx, b); !errors.Is(err, runtime.ErrRefused) {
				t.Errorf("%s\ngave %d ticks, %v", text, len(filled.Ticks), err)
			}
		}
		if runs, err := e.Store.Runs(ctx, store.RunFilter{}); err != nil || len(runs) > 0 {
			t.Errorf("there are %d runs, %v", len(runs), err)
		}
	})
}

// filledAs gives the ticks of a backfill as "time after t0, schedule, params: what".
func filledAs(x *script, f runtime.Filling) []string {
	var all []string
	for _, t := range runtime.NewFilledList(f).Items {
		schedule, params := t.Names()
		what := "made"
		switch {
		case t.Left:
			what = "left"
		case t.Run == nil:
			what = t.State
		}
		all = append(all, strings.Join(strings.Fields(fmt.Sprint(t.At.Sub(x.t0), " ", schedule, " ", params)), " ")+": "+what)
	}
	return all
}

const (
	euCron = "{cron: '0 * * * *', params: {region: eu}}"
	cnCron = "{cron: '0 * * * *', params: {region: cn}}"
)

func regions(crons string) string {
	return "name: flow\ntimezone: UTC\nmax_active: 0\nparams: {region: eu}\ncron: [" + crons + "]\ntasks:\n  a: {run: x}\n"
}

// fillHour fills what was due an hour after the start.
func fillHour(ctx context.Context, t *testing.T, e *runtime.Engine, x *script, text string, redo runtime.Redo) runtime.Filling {
	t.Helper()
	at := x.t0.Add(time.Hour).UTC().Format(time.RFC3339)
	f, err := e.Backfill(ctx, runtime.Backfill{Plan: plan(t, text), From: at, To: at, Redo: redo})
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func TestEachScheduleOfAnInstantHasItsOwnRun(t *testing.T) {
	for name, c := range map[string]struct {
		text string
		want []string
	}{
		"they differ by parameters": {regions(euCron + ", " + cnCron), []string{"0 * * * * region=eu", "0 * * * * region=cn region=cn"}},
		"they differ by how often":  {regions("'0 * * * *', '0 1,5 * * *'"), []string{"0 * * * *", "0 1,5 * * *"}},
		"they differ by zone": {regions("'0 1 * * *', {cron: '0 9 * * *', timezone: Asia/Shanghai}"),
			[]string{"0 1 * * *", "Asia/Shanghai 0 9 * * *"}},
		"they start tasks": {"name: flow\ntimezone: UTC\nmax_active: 0\ntasks:\n  a: {run: x, cron: ['0 1 * * *', '0 * * * *']}\n  b: {run: x, cron: '0 1 * * *'}\n",
			[]string{"0 1 * * * of a,b", "0 * * * * of a"}},
		"their parameters are expressions": {regions(euCron + ", {cron: '0 * * * *', params: {region: '${{ run.date }}'}}"),
			[]string{"0 * * * * region=eu", "0 * * * * region=${{ run.date }} region=2000-01-01"}},
	} {
		t.Run(name, func(t *testing.T) {
			x := &script{}
			serving(t, x, func(ctx context.Context, e *runtime.Engine) {
				time.Sleep(90 * time.Minute)
				for _, round := range []struct {
					redo runtime.Redo
					what string
				}{{runtime.RedoNone, "made"}, {runtime.RedoNone, "left"}, {runtime.RedoAll, "made"}, {runtime.RedoAll, "made"}, {runtime.RedoNone, "left"}} {
					f := fillHour(ctx, t, e, x, c.text, round.redo)
					var want []string
					for _, w := range c.want {
						want = append(want, "1h0m0s "+w+": "+round.what)
					}
					equal(t, filledAs(x, f), want)
					for _, one := range f.Ticks {
						wait(ctx, t, e, one.Run.ID)
					}
				}
			})
		})
	}
}

func TestARunOfTheScheduleIsThereForItsOwnScheduleAlone(t *testing.T) {
	x := &script{}
	serving(t, x, func(ctx context.Context, e *runtime.Engine) {
		load(ctx, t, e, regions(euCron))
		time.Sleep(90 * time.Minute)
		equal(t, ledger(ctx, t, e, x), []string{"1h0m0s fired"})
		for _, c := range []struct {
			text string
			want []string
		}{
			{regions(cnCron + ", " + euCron), []string{"1h0m0s 0 * * * * region=cn: made", "1h0m0s 0 * * * * region=eu region=eu: left"}},
			{regions(euCron + ", " + cnCron), []string{"1h0m0s 0 * * * * region=eu: left", "1h0m0s 0 * * * * region=cn region=cn: left"}},
			{regions(euCron + ", '0 1 * * *'"), []string{"1h0m0s 0 * * * * region=eu: left", "1h0m0s 0 1 * * *: made"}},
			{regions("'0 */1 * * *'"), []string{"1h0m0s 0 */1 * * *: left"}}, // it was written otherwise then
		} {
			equal(t, filledAs(x, fillHour(ctx, t, e, x, c.text, runtime.RedoNone)), c.want)
		}
	})
}

func TestARunOfNoScheduleIsThereForTheTickWithItsParameters(t *testing.T) {
	both := regions(euCron + ", " + cnCron)
	for name, c := range map[string]struct {
		q    runtime.Request
		text string
		want []string
	}{
		"by hand, of one region": {runtime.Request{Params: map[string]string{"region": "cn"}}, both,
			[]string{"1h0m0s 0 * * * * region=eu: made", "1h0m0s 0 * * * * region=cn region=cn: left"}},
		"by hand, of another": {runtime.Request{Params: map[string]string{"region": "us"}}, both,
			[]string{"1h0m0s 0 * * * * region=eu: made", "1h0m0s 0 * * * * region=cn region=cn: made"}},
		"by hand, where there is one schedule": {runtime.Request{Params: map[string]string{"region": "us"}}, regions(euCron), []string{"1h0m0s 0 * * * * region=us: left"}},
		"by an earlier version": {runtime.Request{Trigger: store.TriggerBackfill, Key: "backfill 2000-01-01T01:00:00Z  #1"}, both,
			[]string{"1h0m0s 0 * * * * region=eu: left", "1h0m0s 0 * * * * region=cn region=cn: made"}},
		"after another workflow": {runtime.Request{Trigger: store.TriggerAfter}, regions(euCron), []string{"1h0m0s 0 * * * * region=eu: made"}},
	} {
		t.Run(name, func(t *testing.T) {
			x := &script{}
			serving(t, x, func(ctx context.Context, e *runtime.Engine) {
				time.Sleep(90 * time.Minute)
				c.q.Plan, c.q.ScheduledFor = plan(t, regions(euCron)), x.t0.Add(time.Hour)
				start(ctx, t, e, c.q)
				equal(t, filledAs(x, fillHour(ctx, t, e, x, c.text, runtime.RedoNone)), c.want)
			})
		})
	}
}

func TestTheParametersOfABackfillDoNotTellWhichScheduleItsRunsAreOf(t *testing.T) {
	x := &script{}
	serving(t, x, func(ctx context.Context, e *runtime.Engine) {
		time.Sleep(90 * time.Minute)
		at := x.t0.Add(time.Hour).UTC().Format(time.RFC3339)
		if _, err := e.Backfill(ctx, runtime.Backfill{Plan: plan(t, regions(euCron+", "+cnCron)), From: at, To: at, Params: map[string]string{"region": "cn"}}); err != nil {
			t.Fatal(err)
		}
		for _, text := range []string{regions(euCron + ", " + cnCron), regions(cnCron + ", " + euCron)} {
			for _, f := range fillHour(ctx, t, e, x, text, runtime.RedoNone).Ticks {
				if !f.Left {
					t.Errorf("the tick of %s is run again", f.Schedule)
				}
			}
		}
	})
}

func TestWhatIsStillToComeIsLeftToTheSchedules(t *testing.T) {
	x := &script{}
	serving(t, x, func(ctx context.Context, e *runtime.Engine) {
		text := regions("'*/10 * * * *'")
		load(ctx, t, e, text)
		time.Sleep(25 * time.Minute)
		b := runtime.Backfill{Plan: plan(t, text), From: "2000-01-01", To: "2000-01-01T01:00:00Z"}
		for _, do := range []func(context.Context, runtime.Backfill) (runtime.Filling, error){e.PlanBackfill, e.Backfill} {
			f, err := do(ctx, b)
			if err != nil || f.LeftOut != 4 {
				t.Errorf("%d are left out, want 4; %v", f.LeftOut, err)
			}
		}
		time.Sleep(time.Hour)
		equal(t, runsOf(ctx, t, e, x), []string{"10m0s succeeded", "20m0s succeeded", "0s succeeded", "30m0s succeeded", "40m0s succeeded",
			"50m0s succeeded", "1h0m0s succeeded", "1h10m0s succeeded", "1h20m0s succeeded"})
		b.From, b.To = "2000-01-02", "2000-01-03"
		if _, err := e.Backfill(ctx, b); !errors.Is(err, runtime.ErrRefused) || !strings.Contains(err.Error(), "begin it before 2000-01-01T01:25:00Z") {
			t.Errorf("a backfill of tomorrow gives %v", err)
		}
	})
}

func TestATickThatJitterHoldsBackIsStillToCome(t *testing.T) {
	x := &script{}
	serving(t, x, func(ctx context.Context, e *runtime.Engine) {
		text := "name: flow\ntimezone: UTC\ncron: '0 * * * *'\njitter: 40m\ntasks:\n  a: {run: x}\n"
		load(ctx, t, e, text)
		time.Sleep(time.Hour + time.Second)
		if f := fillHour(ctx, t, e, x, text, runtime.RedoNone); f.LeftOut != 1 {
			t.Errorf("%d are left out, and it was to be one; %q", f.LeftOut, filledAs(x, f))
		}
		time.Sleep(40 * time.Minute)
		equal(t, runsOf(ctx, t, e, x), []string{"1h0m0s succeeded"})
	})
}

func TestAPlannedRunHasNoIdAndAFirstTickItsTime(t *testing.T) {
	x := &script{}
	serving(t, x, func(ctx context.Context, e *runtime.Engine) {
		time.Sleep(90 * time.Minute)
		b := runtime.Backfill{Plan: plan(t, "name: flow\nevery: 20m\nmax_active: 0\ntasks:\n  a: {run: x}\n"), From: "2000-01-01T00:00:00Z", To: "2000-01-01T00:40:00Z"}
		f, err := e.PlanBackfill(ctx, b)
		if err != nil {
			t.Fatal(err)
		}
		equal(t, filledAs(x, f), []string{"20m0s every 20m0s: would run", "40m0s every 20m0s: would run"})
		if f, err = e.Backfill(ctx, b); err != nil {
			t.Fatal(err)
		}
		for i, one := range f.Ticks {
			if want := x.t0.Add(time.Duration(i) * 20 * time.Minute); !one.Run.IntervalFrom.Equal(want) {
				t.Errorf("run %d stands for the time from %s, want %s", i, one.Run.IntervalFrom, want)
			}
		}
	})
}
