package executor

import (
	"context"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"testing"
	"time"
)

// The first two and the next two are pairs: what the executor adds to starting a process.

func BenchmarkTrueByOSExec(b *testing.B) {
	for b.Loop() {
		cmd := exec.Command("true")
		cmd.Env = []string{"PATH=" + os.Getenv("PATH")}
		if err := cmd.Run(); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkTrueByCommand(b *testing.B) {
	benchmarkAttempt(b, Command{Argv: []string{"true"}})
}

func BenchmarkShellTrueByOSExec(b *testing.B) {
	for b.Loop() {
		if err := exec.Command("/bin/sh", "-eu", "-c", "true").Run(); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkShellTrueByScript(b *testing.B) {
	benchmarkAttempt(b, sh("true"))
}

func BenchmarkShellTrueByScriptFile(b *testing.B) {
	benchmarkAttempt(b, Script{Shell: []string{"/bin/sh", "-eu"}, Text: "true"})
}

func BenchmarkCall(b *testing.B) {
	var r Registry
	if err := r.Register("f", func(context.Context, struct{ Count int }) error { return nil }); err != nil {
		b.Fatal(err)
	}
	x := Executor{Calls: &r}
	a := newAttempt(b, Call{Name: "f", With: map[string]string{"count": "3"}})
	for b.Loop() {
		if o := x.Execute(context.Background(), a); o.ExitCode != 0 {
			b.Fatal(o.Message())
		}
	}
}

func BenchmarkTrueByCommandSixteenSideBySide(b *testing.B) {
	a := newAttempt(b, Command{Argv: []string{"true"}})
	b.SetParallelism(16 / runtime.GOMAXPROCS(0))
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			if o := execute(a); o.ExitCode != 0 {
				b.Error(o.Message())
			}
		}
	})
}

func benchmarkAttempt(b *testing.B, action Action) {
	a := newAttempt(b, action)
	for b.Loop() {
		if o := execute(a); o.ExitCode != 0 {
			b.Fatal(o.Message())
		}
	}
}

// BenchmarkOverhead alternates the two, so that a busy machine weighs on both alike, and reports the medians.
func BenchmarkOverhead(b *testing.B) {
	pairs := map[string]struct {
		argv   []string
		action Action
	}{
		"Command": {[]string{"true"}, Command{Argv: []string{"true"}}},
		"Script":  {[]string{"/bin/sh", "-eu", "-c", "true"}, sh("true")},
	}
	for name, pair := range pairs {
		b.Run(name, func(b *testing.B) {
			a := newAttempt(b, pair.action)
			var plain, ours []time.Duration
			for b.Loop() {
				begin := time.Now()
				cmd := exec.Command(pair.argv[0], pair.argv[1:]...)
				cmd.Env = a.Env
				if err := cmd.Run(); err != nil {
					b.Fatal(err)
				}
				middle := time.Now()
				if o := execute(a); o.ExitCode != 0 {
					b.Fatal(o.Message())
				}
				plain, ours = append(plain, middle.Sub(begin)), append(ours, time.Since(middle))
			}
			slices.Sort(plain)
			slices.Sort(ours)
			m, n := plain[len(plain)/2], ours[len(ours)/2]
			b.ReportMetric(0, "ns/op")
			b.ReportMetric(float64(m.Microseconds()), "plain-µs")
			b.ReportMetric(float64(n.Microseconds()), "ours-µs")
			b.ReportMetric(float64(n)/float64(m), "ratio")
		})
	}
}
