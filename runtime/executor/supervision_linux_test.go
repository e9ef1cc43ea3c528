package executor

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// newSupervision is an engine's, in a folder. At the end of the test its supervisor is to be gone.
func newSupervision(t testing.TB, folder string) *Supervision {
	t.Helper()
	t.Setenv(superviseVariable, "1")
	s := &Supervision{Folder: folder, Command: []string{"/proc/self/exe", "supervisor"}}
	t.Cleanup(func() {
		s.Close()
		eventually(t, "the supervisor is gone", func() bool { return len(supervisors()) == 0 })
	})
	return s
}

// supervisors gives the process ids of those that this test has started.
func supervisors() (pids []int) {
	kin.mu.Lock()
	defer kin.mu.Unlock()
	for pid := range kin.helpers {
		pids = append(pids, pid)
	}
	return pids
}

func supervisorOf(t *testing.T) int {
	t.Helper()
	pids := supervisors()
	if len(pids) != 1 {
		t.Fatalf("there are %d supervisors", len(pids))
	}
	return pids[0]
}

// under carries out an attempt under a supervisor while the test goes on.
func under(ctx context.Context, s *Supervision, a Attempt) <-chan Outcome {
	outcome := make(chan Outcome, 1)
	go func() { outcome <- (&Executor{Supervision: s}).Execute(ctx, a) }()
	return outcome
}

// adopt is another engine that looks for one attempt.
func adopt(t *testing.T, folder string, a Attempt) Adopted {
	t.Helper()
	a.Action = nil // it is not needed
	return (&Executor{Supervision: &Supervision{Folder: folder}}).Adopt([]Attempt{a})[0]
}

const untilGo = `: > begun; until [ -e go ]; do sleep 0.01; done; `

func begun(t *testing.T, a Attempt) {
	t.Helper()
	eventually(t, "the task has begun", func() bool { return exists(filepath.Join(a.Dir, "begun")) })
}

func letGo(t *testing.T, a Attempt) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(a.Dir, "go"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestASupervisedAttemptIsLikeAnyOther(t *testing.T) {
	x := Executor{Supervision: newSupervision(t, t.TempDir())}
	for name, c := range map[string]struct {
		action Action
		want   func(t *testing.T, a Attempt, o Outcome)
	}{
		"its exit code": {sh("echo why; exit 3"), func(t *testing.T, _ Attempt, o Outcome) {
			if o.ExitCode != 3 || o.Signal != "" || o.Message() != "exit code 3: why" || o.Started.IsZero() {
				t.Errorf("outcome %+v", o)
			}
		}},
		"its signal": {sh("kill -KILL $$"), func(t *testing.T, _ Attempt, o Outcome) {
			if o.ExitCode != 137 || o.Signal != "SIGKILL" {
				t.Errorf("outcome %+v", o)
			}
		}},
		"a code that looks like a signal": {sh("exit 137"), func(t *testing.T, _ Attempt, o Outcome) { wantExit(t, o, 137) }},
		"bytes that are no text": {Command{Argv: []string{"printf", "%s", "a\xff\nb"}}, func(t *testing.T, a Attempt, o Outcome) {
			wantExit(t, o, 0)
			wantLog(t, a, "a\xff\nb")
		}},
		"its outputs, with what is secret masked": {sh(`echo a sesame; echo "n=to sesame" >> "$AX_OUTPUT"`), func(t *testing.T, a Attempt, o Outcome) {
			wantExit(t, o, 0)
			wantLog(t, a, "a ***\n")
			if o.Outputs["n"] != "to ***" || o.LastLine != "a ***" {
				t.Errorf("outcome %+v", o)
			}
		}},
		"a start error": {Command{Argv: []string{"no-such-program"}}, func(t *testing.T, _ Attempt, o Outcome) {
			wantStartError(t, o, "no-such-program")
		}},
		"signals that the supervisor outlives": {sh("kill -s TERM $$"), func(t *testing.T, _ Attempt, o Outcome) {
			if o.Signal != "SIGTERM" {
				t.Errorf("outcome %+v", o)
			}
		}},
	} {
		t.Run(name, func(t *testing.T) {
			a := newAttempt(t, c.action)
			a.Secrets = []string{"sesame"}
			o := x.Execute(t.Context(), a)
			c.want(t, a, o)
			o.Settled()
		})
	}
}

func TestAStopEndsTheWholeTreeOfASupervisedAttempt(t *testing.T) {
	s := newSupervision(t, t.TempDir())
	ctx, stop := context.WithCancel(t.Context())
	a := newAttempt(t, sh(treeScript+": > begun; wait"))
	outcome := under(ctx, s, a)
	begun(t, a)
	stop()
	o := <-outcome
	if !o.Stopped || o.Signal != "SIGTERM" || len(o.Leftovers) > 0 {
		t.Errorf("outcome %+v", o)
	}
	o.Settled()
	wantGone(t, a, treeSize)
}

func TestAnAttemptOutlivesItsEngineAndIsAdopted(t *testing.T) {
	for name, folder := range map[string]string{"": "s", "in a folder with a long path": strings.Repeat("long/", 30)} {
		t.Run(name, func(t *testing.T) {
			folder = filepath.Join(t.TempDir(), folder)
			s := newSupervision(t, folder)
			ctx, detach := context.WithCancelCause(t.Context())
			a := newAttempt(t, sh(untilGo+`echo told sesame; echo n=1 >> "$AX_OUTPUT"; exit 7`))
			a.Secrets = []string{"sesame"}
			outcome := under(ctx, s, a)
			begun(t, a)
			detach(ErrDetach)
			if o := <-outcome; !o.Detached || o.Stopped {
				t.Fatalf("outcome %+v", o)
			}
			s.Close()
			for range 2 { // the first to adopt it lets go of it again
				became := adopt(t, folder, a)
				if became.Await == nil {
					t.Fatalf("it is not adopted: %+v", became.Ended)
				}
				again, detach := context.WithCancelCause(t.Context())
				detach(ErrDetach)
				if o := became.Await(again); !o.Detached {
					t.Fatalf("outcome %+v", o)
				}
			}
			became := adopt(t, folder, a)
			letGo(t, a)
			o := became.Await(t.Context())
			wantExit(t, o, 7)
			wantLog(t, a, "told ***\n")
			if o.Outputs["n"] != "1" {
				t.Errorf("outputs %v", o.Outputs)
			}
			o.Settled()
		})
	}
}

func TestAnAdoptedAttemptCanBeStopped(t *testing.T) {
	folder := t.TempDir()
	s := newSupervision(t, folder)
	a := newAttempt(t, sh(treeScript+": > begun; wait"))
	ctx, detach := context.WithCancelCause(t.Context())
	outcome := under(ctx, s, a)
	begun(t, a)
	detach(ErrDetach)
	<-outcome
	s.Close()
	stopped, stop := context.WithCancel(t.Context())
	stop()
	o := adopt(t, folder, a).Await(stopped)
	if !o.Stopped || o.Signal != "SIGTERM" || len(o.Leftovers) > 0 {
		t.Errorf("outcome %+v", o)
	}
	o.Settled()
	wantGone(t, a, treeSize)
}

func TestWhatEndsWithoutAnEngineLeavesARecord(t *testing.T) {
	folder := t.TempDir()
	s := newSupervision(t, folder)
	a := newAttempt(t, sh(untilGo+`echo n=1 >> "$AX_OUTPUT"; exit 7`))
	ctx, detach := context.WithCancelCause(t.Context())
	outcome := under(ctx, s, a)
	begun(t, a)
	detach(ErrDetach)
	<-outcome
	s.Close()
	letGo(t, a)
	eventually(t, "the supervisor is gone", func() bool { return len(supervisors()) == 0 })
	became := adopt(t, folder, a)
	if became.Ended == nil {
		t.Fatal("there is no record")
	}
	wantExit(t, *became.Ended, 7)
	if o := became.Ended; o.Outputs["n"] != "1" || o.Started.IsZero() || o.Finished.Before(o.Started) {
		t.Errorf("outcome %+v", o)
	}
	became.Ended.Settled()
	if sockets, _ := filepath.Glob(filepath.Join(folder, "*"+socketSuffix)); len(sockets) > 0 {
		t.Errorf("%q are left", sockets)
	}
}

// An engine may die between being told and having stored it.
func TestAnOutcomeIsKeptUntilItIsSettled(t *testing.T) {
	folder := t.TempDir()
	s := newSupervision(t, folder)
	a := newAttempt(t, sh("exit 4"))
	wantExit(t, <-under(t.Context(), s, a), 4)
	stored := a
	stored.Number++
	o := <-under(t.Context(), s, stored)
	wantExit(t, o, 4)
	o.Settled()
	s.Close()
	eventually(t, "the supervisor is gone", func() bool { return len(supervisors()) == 0 })
	became := adopt(t, folder, a)
	if became.Ended == nil {
		t.Fatal("there is no record")
	}
	wantExit(t, *became.Ended, 4)
	became.Ended.Settled()
	for _, settled := range []Attempt{a, stored} {
		if again := adopt(t, folder, settled).Ended; again == nil || !again.Interrupted {
			t.Errorf("what was settled is there again: %+v", again)
		}
	}
}

func TestWithItsSupervisorAnAttemptIsLostAndEnded(t *testing.T) {
	s := newSupervision(t, t.TempDir())
	a := newAttempt(t, sh(treeScript+": > begun; wait"))
	outcome := under(t.Context(), s, a)
	begun(t, a)
	lost := supervisorOf(t)
	if err := syscall.Kill(lost, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	if o := <-outcome; !o.Interrupted || o.ExitCode != notRun || len(o.Leftovers) > 0 {
		t.Errorf("outcome %+v", o)
	}
	// They are ours since their parent died. What was killed is a zombie until somebody looks for orphans.
	eventually(t, "what is dead is reaped", func() bool {
		ReapOrphans()
		return len(kin.strangers()) == 0
	})
	wantGone(t, a, treeSize)
	a.Number++
	a.Action = sh("exit 5")
	o := <-under(t.Context(), s, a) // there is a new one
	wantExit(t, o, 5)
	o.Settled()
}

func TestASupervisorOutlivesSignalsAndTellsTheEndOfTheSystem(t *testing.T) {
	s := newSupervision(t, t.TempDir())
	a := newAttempt(t, sh(": > begun; sleep 300"))
	outcome := under(t.Context(), s, a)
	begun(t, a)
	pid := supervisorOf(t)
	for _, sig := range []syscall.Signal{syscall.SIGINT, syscall.SIGHUP, syscall.SIGQUIT, syscall.SIGTERM} {
		if err := syscall.Kill(pid, sig); err != nil {
			t.Fatal(err)
		}
	}
	// As when a machine is shut down: everything is asked to end.
	for _, p := range search(func(p process) bool { return p.parent == pid }) {
		_ = syscall.Kill(-p.group, syscall.SIGTERM) // it may have ended
	}
	o := <-outcome
	if !o.Interrupted || o.Signal != "SIGTERM" {
		t.Errorf("outcome %+v", o)
	}
	if got := supervisorOf(t); got != pid {
		t.Error("the supervisor did not outlive the signals")
	}
	o.Settled()
}

// stopped tells whether all threads of a process are.
func stopped(pid int) bool {
	for _, thread := range threads(pid) {
		status, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/status", pid, thread))
		if err != nil || !strings.Contains(string(status), "State:\tT") {
			return false
		}
	}
	return true
}

// A supervisor that hangs could go on later with what was begun again meanwhile.
func TestASupervisorThatDoesNotAnswerIsKilledBeforeItsTasksRunAgain(t *testing.T) {
	folder := t.TempDir()
	s := newSupervision(t, folder)
	a := newAttempt(t, sh(treeScript+": > begun; wait"))
	ctx, detach := context.WithCancelCause(t.Context())
	outcome := under(ctx, s, a)
	begun(t, a)
	detach(ErrDetach)
	<-outcome
	pid := supervisorOf(t)
	if err := syscall.Kill(pid, syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the supervisor hangs", func() bool { return stopped(pid) })
	s.Close()
	next := Executor{Supervision: &Supervision{Folder: folder, patience: 200 * time.Millisecond}}
	became := next.Adopt([]Attempt{a})[0]
	if became.Await == nil {
		t.Fatalf("what is left was not found: %+v", became.Ended)
	}
	if o := became.Await(t.Context()); !o.Interrupted || len(o.Leftovers) > 0 {
		t.Errorf("outcome %+v", o)
	}
	eventually(t, "the supervisor is gone", func() bool { return len(supervisors()) == 0 })
	ReapOrphans()
	wantGone(t, a, treeSize)
}

func TestWhatHasNoSupervisorIsEndedOrInterruptedAtOnce(t *testing.T) {
	a := newAttempt(t, sh("true"))
	if o := adopt(t, t.TempDir(), a).Ended; o == nil || !o.Interrupted || o.ExitCode != notRun {
		t.Errorf("outcome %+v", o)
	}
	cmd := commandFor(a, "exec sleep 300")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	gone := make(chan error, 1)
	go func() { gone <- cmd.Wait() }()
	became := adopt(t, t.TempDir(), a)
	if became.Await == nil {
		t.Fatalf("its process was not found: %+v", became.Ended)
	}
	if o := became.Await(t.Context()); !o.Interrupted || len(o.Leftovers) > 0 {
		t.Errorf("outcome %+v", o)
	}
	<-gone
}

func TestTheProcessesOfACopyAreNotThoseOfTheOriginal(t *testing.T) {
	original := newAttempt(t, sh("true"))
	original.Origin = "1.2"
	cmd := commandFor(original, "exec sleep 300")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait() // it was killed
	})
	copied := original
	copied.Origin, copied.Log = "1.3", original.Log+" of the copy"
	if o := adopt(t, t.TempDir(), copied).Ended; o == nil {
		t.Error("the process of the original was taken for the copy's")
	}
	if adopt(t, t.TempDir(), original).Await == nil {
		t.Error("the process of the original was not found")
	}
}

// BenchmarkSupervision alternates what it compares, as BenchmarkOverhead does: no supervisor, ours, and a shell for each.
func BenchmarkSupervision(b *testing.B) {
	x := Executor{Supervision: newSupervision(b, b.TempDir())}
	a := newAttempt(b, sh("true"))
	shell := newAttempt(b, Script{Text: `/bin/sh -eu -c true & wait $!; echo $? > ../record`})
	var alone, ours, shells []time.Duration
	timed := func(x *Executor, a Attempt) time.Duration {
		begin := time.Now()
		o := x.Execute(b.Context(), a)
		if o.ExitCode != 0 {
			b.Fatal(o.Message())
		}
		if o.Settled != nil {
			o.Settled()
		}
		return time.Since(begin)
	}
	for b.Loop() {
		a.Number++
		alone = append(alone, timed(new(Executor), a))
		ours = append(ours, timed(&x, a))
		shells = append(shells, timed(new(Executor), shell))
	}
	for name, times := range map[string][]time.Duration{"alone": alone, "ours": ours, "shells": shells} {
		slices.Sort(times)
		b.ReportMetric(float64(times[len(times)/2].Microseconds()), name+"-µs")
	}
	b.ReportMetric(0, "ns/op")
}
