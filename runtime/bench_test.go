package runtime_test

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ax-scheduler/ax/dag"
	"github.com/ax-scheduler/ax/runtime"
	"github.com/ax-scheduler/ax/runtime/machine"
	"github.com/ax-scheduler/ax/store"
	"github.com/ax-scheduler/ax/store/sqlite"
)

// callsOf gives the text of a workflow of n tasks that call a Go function, with
// the dependencies that deps tells by number.
func callsOf(n int, deps func(i int) []int) string {
	var b strings.Builder
	b.WriteString("name: calls\ntasks:\n")
	for i := range n {
		fmt.Fprintf(&b, "  t%d:\n    call: nothing\n", i)
		if of := deps(i); len(of) > 0 {
			names := make([]string, len(of))
			for j, d := range of {
				names[j] = fmt.Sprint("t", d)
			}
			fmt.Fprintf(&b, "    depends_on: [%s]\n", strings.Join(names, ", "))
		}
	}
	return b.String()
}

// layers draws three edges from each task into the layer of a hundred before its own.
func layers(i int) []int {
	if i < 100 {
		return nil
	}
	first := (i/100 - 1) * 100
	return []int{first + i*7%100, first + (i*7+13)%100, first + (i*7+29)%100}
}

// toOne draws an edge from each of n-1 tasks into the last.
func toOne(n int) func(i int) []int {
	return func(i int) (all []int) {
		if i < n-1 {
			return nil
		}
		for j := range n - 1 {
			all = append(all, j)
		}
		return all
	}
}

// calling gives an engine on a store on disk that confirms every commit, with a
// function that does nothing.
func calling(tb testing.TB) *runtime.Engine {
	tb.Helper()
	return callingOn(tb, func(st store.Store) store.Store { return st })
}

func callingOn(tb testing.TB, wrap func(store.Store) store.Store) *runtime.Engine {
	tb.Helper()
	dir := tb.TempDir()
	st, err := sqlite.Open(filepath.Join(dir, "ax.db"), sqlite.Options{Synchronous: sqlite.Full})
	if err != nil {
		tb.Fatal(err)
	}
	// the default is for processes, of which so many would be in each other's way
	e := &runtime.Engine{Store: wrap(st), Data: dir, MaxParallel: 256}
	if err := e.Register("nothing", func(context.Context, struct{}) error { return nil }); err != nil {
		tb.Fatal(err)
	}
	ctx, stop := context.WithCancel(tb.Context())
	served := make(chan error, 1)
	go func() { served <- e.Serve(ctx) }()
	tb.Cleanup(func() {
		stop()
		if err := <-served; err != nil {
			tb.Error(err)
		}
		if err := st.Close(); err != nil {
			tb.Error(err)
		}
	})
	return e
}

func carryOutCalls(tb testing.TB, e *runtime.Engine, p *dag.Plan) {
	tb.Helper()
	run, err := e.Start(tb.Context(), runtime.Request{Plan: p})
	if err != nil {
		tb.Fatal(err)
	}
	if run, err = e.Wait(tb.Context(), run.ID); err != nil || run.State != machine.RunSucceeded {
		tb.Fatal(run.State, err)
	}
}

// BenchmarkRunOfCalls tells what the engine itself costs: tasks that start no
// process, each recorded on disk before it begins and when it has ended. A first run
// makes what is made once.
func BenchmarkRunOfCalls(b *testing.B) {
	for _, n := range []int{1000, 10_000, 100_000} {
		for name, deps := range map[string]func(int) []int{"layers": layers, "to-one": toOne(n)} {
			b.Run(fmt.Sprintf("%s-%d", name, n), func(b *testing.B) {
				p, e := plan(b, callsOf(n, deps)), calling(b)
				carryOutCalls(b, e, p)
				b.ReportAllocs()
				for b.Loop() {
					carryOutCalls(b, e, p)
				}
				b.ReportMetric(float64(n*b.N)/b.Elapsed().Seconds(), "tasks/s")
			})
		}
	}
}

// BenchmarkChainOfCalls tells what a small transaction costs: the end of one task
// and the beginning of the next.
func BenchmarkChainOfCalls(b *testing.B) {
	const n = 1000
	p, e := plan(b, callsOf(n, chain)), calling(b)
	b.ReportAllocs()
	for b.Loop() {
		carryOutCalls(b, e, p)
	}
	b.ReportMetric(float64(n*b.N)/b.Elapsed().Seconds(), "tasks/s")
}
