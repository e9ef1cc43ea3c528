package runtime_test

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ax-scheduler/ax/runtime"
	"github.com/ax-scheduler/ax/runtime/executor"
	simulation "github.com/ax-scheduler/ax/runtime/sim"
	"github.com/ax-scheduler/ax/store"
)

func TestALargeRunThatMixesAllEndsAsTheModelSays(t *testing.T) {
	from, to := simulation.Seeds(t, usualSeeds)
	var mu sync.Mutex
	seen, ties := map[string]int{}, 0
	t.Run("seeds", func(t *testing.T) {
		for seed := from; seed <= to; seed++ {
			t.Run(fmt.Sprint(seed), func(t *testing.T) {
				t.Parallel()
				f := drawFlow(seed)
				m := newSim(f)
				m.run()
				want := m.lines()
				mu.Lock()
				for _, line := range want {
					what := strings.Fields(line)
					seen[what[1]+" "+what[2]]++
				}
				ties += min(m.ties, 1)
				mu.Unlock()
				if m.ties > 0 {
					return
				}
				if got := carryOut(t, f, t.TempDir()); !slices.Equal(got, want) {
					t.Errorf("repeat it with AX_SEED=%d; \"-\" is the engine's, \"+\" the model's, first in time:\n%s", seed, differing(got, want))
				}
			})
		}
	})
	t.Logf("%d seeds, %d of them with ends at one instant; what was seen: %v", to-from+1, ties, seen)
	if n := int(to - from + 1); 100*ties > n {
		t.Errorf("%d of %d seeds were left out since ends were at one instant", ties, n)
	}
	if to-from+1 < 100 {
		return
	}
	for _, what := range []string{
		"succeeded -", "failed exit", "failed signal", "failed timeout", "failed start_error", "failed condition",
		"failed interrupted", "failed run_timeout", "skipped exit", "skipped upstream", "skipped condition",
		"skipped disabled", "skipped busy", "cancelled cancelled", "cancelled run_timeout",
	} {
		if seen[what] == 0 {
			t.Errorf("nothing ended as %s: the workflows are not mixed enough", what)
		}
	}
}

// lines gives how the run and each of its tasks and instances ended, in a line each.
func (m *sim) lines() []string {
	lines := []string{simLine("run", m.outcome, m.reason, 0, nil, m.finished, "")}
	line := func(u simUnit) {
		s := m.at(u)
		lines = append(lines, simLine(m.name(u), s.state, s.reason, s.attempts, s.exit, s.finished, s.told))
	}
	for t := range m.tasks {
		line(simUnit{t, -1})
		for i := range m.tasks[t].each {
			line(simUnit{t, i})
		}
	}
	return lines
}

func simLine(id, state, reason string, attempts int, exit *int, finished time.Duration, told string) string {
	code := "-"
	if exit != nil {
		code = fmt.Sprint(*exit)
	}
	if reason == "" {
		reason = "-"
	}
	return fmt.Sprintf("%s %s %s %d %s %s [%s]", id, state, reason, attempts, code, finished, told)
}

// differing gives the lines that differ, the earliest end first.
func differing(got, want []string) string {
	var pairs []string
	for i := range max(len(got), len(want)) {
		var g, w string
		if i < len(got) {
			g = got[i]
		}
		if i < len(want) {
			w = want[i]
		}
		if g != w {
			pairs = append(pairs, "- "+g+"\n+ "+w+"\n")
		}
	}
	slices.SortStableFunc(pairs, func(a, b string) int { return cmp.Compare(endOf(a), endOf(b)) })
	return strings.Join(pairs, "")
}

// endOf gives when the engine's line of a pair says that it ended.
func endOf(pair string) time.Duration {
	words := strings.Fields(pair)
	d, _ := time.ParseDuration(words[min(6, len(words)-1)]) // 0 for none
	return d
}

// actor carries out the attempts of a drawn workflow.
type actor struct {
	f    *simFlow
	mu   sync.Mutex
	told map[string]string // by unit, the last attempt
}

func (x *actor) Execute(ctx context.Context, a executor.Attempt) executor.Outcome {
	by, got, n := "-", "-", "-"
	for _, v := range a.Env {
		switch key, value, _ := strings.Cut(v, "="); key {
		case "AX_FAILED_TASK":
			by = value
		case "GOT":
			got = value
		case "AX_PARAM_N":
			n = value
		}
	}
	x.mu.Lock()
	x.told[a.Task] = by + " " + got + " " + n
	x.mu.Unlock()
	m := x.f.move(a.Task, a.Number)
	o := executor.Outcome{Started: time.Now(), ExitCode: m.code, Signal: m.signal}
	select {
	case <-time.After(m.took):
		if m.signal == "" {
			o.Outputs = map[string]string{"v": fmt.Sprint(m.out)}
		}
	case <-ctx.Done():
		after, code, signal := m.stopped(a.KillAfter)
		time.Sleep(after)
		o.Stopped, o.ExitCode, o.Signal = true, code, signal
	}
	o.Finished = time.Now()
	return o
}

// carryOut has engines carry out a drawn workflow, and gives its lines.
func carryOut(t *testing.T, f *simFlow, data string) (lines []string) {
	p := plan(t, f.text())
	synctest.Test(t, func(t *testing.T) {
		t0 := time.Now()
		x, s, id := &actor{f: f, told: map[string]string{}}, &store.Memory{}, ""
		next := func(i int, do func(ctx context.Context, e *runtime.Engine)) {
			e := &runtime.Engine{Store: s, Executor: x, Data: data, Zone: time.UTC, MaxParallel: f.slots, Owner: fmt.Sprint("e", i)}
			e.SleepLong()
			serve(t, e, do)
		}
		steps := append(slices.Clone(f.steps), simStep{at: 1000 * time.Hour})
		for i, over := 0, false; !over; i++ {
			next(i, func(ctx context.Context, e *runtime.Engine) {
				if i == 0 {
					run, err := e.Start(ctx, runtime.Request{Plan: p, Params: map[string]string{"n": fmt.Sprint(f.n), "flag": fmt.Sprint(f.flag)}})
					if err != nil {
						t.Fatal(err)
					}
					id = run.ID
				} else if err := e.Resume(ctx, id); err != nil {
					t.Fatal(err)
				}
				over = endsBefore(ctx, e, id, t0.Add(steps[0].at))
				if !over && steps[0].cancel {
					if err := e.Cancel(ctx, id, "the test"); err != nil {
						t.Fatal(err)
					}
					over = endsBefore(ctx, e, id, t0.Add(1000*time.Hour))
				}
			})
			time.Sleep(time.Until(t0.Add(steps[0].at + steps[0].gap)))
			steps = steps[1:]
		}
		rep, err := runtime.ReadReport(t.Context(), s, id)
		if err != nil {
			t.Fatal(err)
		}
		since := func(at *time.Time) (d time.Duration) {
			if at != nil {
				d = at.Sub(t0)
			}
			return d
		}
		lines = append(lines, simLine("run", rep.State, rep.Reason, 0, nil, since(rep.FinishedAt), ""))
		for _, k := range rep.Tasks {
			lines = append(lines, simLine(k.ID, k.State, k.Reason, k.Attempts, k.ExitCode, since(k.FinishedAt), x.told[k.ID]))
		}
	})
	return lines
}

// endsBefore waits for the end of a run, until a time at the latest.
func endsBefore(ctx context.Context, e *runtime.Engine, id string, at time.Time) bool {
	ctx, done := context.WithDeadline(ctx, at)
	defer done()
	_, err := e.Wait(ctx, id)
	return err == nil
}
