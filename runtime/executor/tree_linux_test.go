package executor

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

func BenchmarkSurveyWithoutLeftovers(b *testing.B) {
	for b.Loop() {
		if kin.orphansOf(nil) != nil {
			b.Fatal("orphans")
		}
	}
}

func TestAStopEndsTheWholeTree(t *testing.T) {
	inEveryWorld(t, func(t *testing.T) {
		a := newAttempt(t, sh(treeScript+": > ready; wait"))
		o, took := inBackground(t, a).stopWhen(t, filepath.Join(a.Dir, "ready"))
		if !o.Stopped || o.Signal != "SIGTERM" || o.ExitCode != 143 || len(o.Leftovers) > 0 {
			t.Errorf("outcome %+v", o)
		}
		if took > a.KillAfter/2 {
			t.Errorf("all die of SIGTERM, but it took %v", took)
		}
		wantGone(t, a, treeSize)
	})
}

func TestWhatATaskLeavesBehindIsEndedWithIt(t *testing.T) {
	inEveryWorld(t, func(t *testing.T) {
		a := newAttempt(t, sh(treeScript+"exit 3"))
		wantExit(t, execute(a), 3)
		wantGone(t, a, treeSize)
	})
}

func TestATaskThatIgnoresTERMIsKilledAfterItsGrace(t *testing.T) {
	inEveryWorld(t, func(t *testing.T) {
		a := newAttempt(t, sh(`trap 'echo told' TERM; echo $$ > pids; : > ready; while :; do sleep 0.05 || true; done`))
		a.KillAfter = 400 * time.Millisecond
		o, took := inBackground(t, a).stopWhen(t, filepath.Join(a.Dir, "ready"))
		if !o.Stopped || o.Signal != "SIGKILL" || o.ExitCode != 137 || len(o.Leftovers) > 0 {
			t.Errorf("outcome %+v", o)
		}
		if took < a.KillAfter || took > a.KillAfter+5*time.Second {
			t.Errorf("it took %v with a grace of %v", took, a.KillAfter)
		}
		if !strings.Contains(string(readLog(t, a)), "told\n") {
			t.Error("it got no SIGTERM first")
		}
		wantGone(t, a, 1)
	})
}

func TestAllOfATreeThatIgnoresTERMIsKilled(t *testing.T) {
	a := newAttempt(t, sh("trap '' TERM\n"+treeScript+": > ready; wait"))
	a.KillAfter = 200 * time.Millisecond
	o, _ := inBackground(t, a).stopWhen(t, filepath.Join(a.Dir, "ready"))
	if !o.Stopped || o.Signal != "SIGKILL" || len(o.Leftovers) > 0 {
		t.Errorf("outcome %+v", o)
	}
	wantGone(t, a, treeSize)
}

func TestATaskMayTidyUpWhenItIsStopped(t *testing.T) {
	for name, c := range map[string]struct {
		script string
		code   int
	}{
		"and exit with 0":               {`trap 'sleep 0.1; echo tidy; exit 0' TERM`, 0},
		"and exit with a code":          {`trap 'sleep 0.1; echo tidy; exit 3' TERM`, 3},
		"with its children doing so":    {`sh -c 'trap "sleep 0.1; echo tidy; exit" TERM; : > ready; while :; do sleep 0.01; done' & sleep 300`, 143},
		"with children that left it":    {`setsid sh -c 'trap "sleep 0.1; echo tidy; exit" TERM; : > ready; while :; do sleep 0.01; done' & sleep 300`, 143},
		"though it was stopped (STOP)":  {`trap 'echo tidy; exit 0' TERM; (sleep 0.1; kill -STOP $$; : > ready) &`, 0},
		"by programs that it then runs": {`trap 'setsid sleep 0.2; echo tidy; exit 0' TERM`, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			script := c.script
			if !strings.Contains(script, "ready") {
				script += "; : > ready"
			}
			a := newAttempt(t, sh(script+"\nwhile :; do sleep 0.02 || true; done"))
			o, _ := inBackground(t, a).stopWhen(t, filepath.Join(a.Dir, "ready"))
			if !o.Stopped || o.ExitCode != c.code || len(o.Leftovers) > 0 {
				t.Errorf("outcome %+v", o)
			}
			if log := string(readLog(t, a)); !strings.HasSuffix(log, "tidy\n") { // a shell may say "Terminated" of its own
				t.Errorf("the log is %q", log)
			}
		})
	}
}

func TestAStopThatComesTooLateIsNone(t *testing.T) {
	// The main process has ended, and its leftover is being given its short grace.
	a := newAttempt(t, sh(`sh -c 'trap ": > ready" TERM; : > deaf; while :; do sleep 0.01 || true; done' & while ! [ -e deaf ]; do sleep 0.01; done; exit 4`))
	o, _ := inBackground(t, a).stopWhen(t, filepath.Join(a.Dir, "ready"))
	wantExit(t, o, 4)
}

func TestAnEndIsNoticedThoughTheStopCameFirst(t *testing.T) {
	inEveryWorld(t, func(t *testing.T) {
		null, err := devNull()
		if err != nil {
			t.Fatal(err)
		}
		c, err := start("/bin/sh", []string{"sh", "-c", "exit 3"}, &syscall.ProcAttr{
			Files: []uintptr{null.Fd(), null.Fd(), null.Fd()}, Sys: &syscall.SysProcAttr{Setpgid: true},
		}, "mark", nil)
		if err != nil {
			t.Fatal(err)
		}
		eventually(t, "it has ended", c.ended)
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		for range 20 {
			if !c.await(ctx) {
				t.Error("it is taken for stopped")
			}
		}
		if status, ok := c.reap(); !ok || status.ExitStatus() != 3 {
			t.Errorf("status %v, %v", status, ok)
		}
	})
}

func TestAStubbornLeftoverIsKilledSoon(t *testing.T) {
	a := newAttempt(t, sh(`setsid sh -c 'trap "" TERM; echo $$ >> pids; while :; do sleep 0.05; done' & while ! [ -e pids ]; do sleep 0.01; done`))
	a.KillAfter = time.Minute
	begin := time.Now()
	wantExit(t, execute(a), 0)
	if took := time.Since(begin); took > tidyGrace+5*time.Second {
		t.Errorf("it took %v", took)
	}
	wantGone(t, a, 1)
}

func TestNoProcessOfOneAttemptOutlivesItIntoTheNext(t *testing.T) {
	// Each attempt fails if one of those before it is alive.
	a := newAttempt(t, sh(`
		: >> pids
		for pid in $(cat pids); do [ ! -d /proc/$pid ] || exit 9; done
		(setsid sh -c 'echo $$ >> pids; sleep 300' &)
		sleep 300 & echo $! >> pids
		while [ "$(wc -l < pids)" -lt $((2*$N)) ]; do sleep 0.01; done
		exit 1`))
	for n := 1; n <= 10; n++ {
		a.Number = n
		a.Env = []string{"PATH=" + os.Getenv("PATH"), "N=" + strconv.Itoa(n)}
		wantExit(t, execute(a), 1)
	}
	wantGone(t, a, 20)
}

func TestADaemonThatShedEverySignBelongsToTheOnlyAttempt(t *testing.T) {
	const daemon = `(env -i PATH="$PATH" setsid sh -c 'echo $$ >> pids; cd /; exec sleep 300' >/dev/null 2>&1 <&- &)
		while ! [ -s pids ]; do sleep 0.01; done`
	a := newAttempt(t, sh(daemon))
	wantExit(t, execute(a), 0)
	wantGone(t, a, 1)

	// While there is another attempt that may have started it, it is left alone; the last one ends it.
	older := newAttempt(t, sh(`: > ready; while ! [ -e go ]; do sleep 0.01; done`))
	b := inBackground(t, older)
	eventually(t, "the older one is ready", func() bool { return exists(filepath.Join(older.Dir, "ready")) })
	a = newAttempt(t, sh(daemon))
	wantExit(t, execute(a), 0)
	pid := pidsOf(t, a)[0]
	if p, ok := readProcess(pid); !ok || p.dead {
		t.Error("what may be of another attempt was ended")
	}
	if err := os.WriteFile(filepath.Join(older.Dir, "go"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	wantExit(t, <-b.outcome, 0)
	wantGone(t, a, 1)
}

func TestALeftoverWithNoSignButItsGroupIsEnded(t *testing.T) {
	other := newAttempt(t, sh(`: > ready; exec sleep 300`)) // so that it is not the only one that may have started it
	inBackground(t, other)
	eventually(t, "the other one is ready", func() bool { return exists(filepath.Join(other.Dir, "ready")) })
	a := newAttempt(t, sh(`(env -i PATH="$PATH" sh -c 'echo $$ >> pids; exec sleep 300' >/dev/null 2>&1 &)
		while ! [ -s pids ]; do sleep 0.01; done`))
	wantExit(t, execute(a), 0)
	if pids := pidsOf(t, a); len(pids) != 1 || exists(fmt.Sprintf("/proc/%d", pids[0])) {
		t.Errorf("of %v some are there", pids)
	}
}

func TestAStopLeavesOtherAttemptsAlone(t *testing.T) {
	script := treeScript + ": > ready; while ! [ -e go ]; do sleep 0.01; done"
	// Without its mark and its output, a daemon could be of either.
	script = strings.ReplaceAll(script, ">/dev/null 2>&1", "")
	one, two := newAttempt(t, sh(script)), newAttempt(t, sh(script))
	b := inBackground(t, two)
	eventually(t, "the other one is ready", func() bool { return exists(filepath.Join(two.Dir, "ready")) })
	o, _ := inBackground(t, one).stopWhen(t, filepath.Join(one.Dir, "ready"))
	if !o.Stopped || len(o.Leftovers) > 0 {
		t.Errorf("outcome %+v", o)
	}
	for _, pid := range pidsOf(t, one) {
		if p, ok := readProcess(pid); ok {
			t.Errorf("%v of the stopped attempt is there", p)
		}
	}
	for _, pid := range pidsOf(t, two) {
		if p, ok := readProcess(pid); !ok || p.dead {
			t.Errorf("process %d of the other attempt is gone", pid)
		}
	}
	if err := os.WriteFile(filepath.Join(two.Dir, "go"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	wantExit(t, <-b.outcome, 0)
	wantGone(t, two, treeSize)
}

func TestOrphansThatEndDuringAnAttemptAreReaped(t *testing.T) {
	a := newAttempt(t, sh(`: > pids; (sh -c 'echo $$ >> pids' &); (setsid sh -c 'echo $$ >> pids' &)
		while [ "$(wc -l < pids)" -lt 2 ]; do sleep 0.01; done; : > ready; sleep 300`))
	b := inBackground(t, a)
	eventually(t, "it is ready", func() bool { return exists(filepath.Join(a.Dir, "ready")) })
	eventually(t, "there is no zombie", func() bool {
		return !slices.ContainsFunc(pidsOf(t, a), func(pid int) bool { _, there := readProcess(pid); return there })
	})
	b.stop()
	<-b.outcome
}

func TestChildrenOfOSExecAreLeftAlone(t *testing.T) {
	// One that is dead and not waited for, and one that is alive.
	dead, alive := startByOSExec(t, "true"), startByOSExec(t, "sleep", "300")
	eventually(t, "it is a zombie", func() bool { p, ok := readProcess(dead.Process.Pid); return ok && p.dead })
	eventually(t, "both are looked at", func() bool { return len(kin.strangers()) == 2 })
	a := newAttempt(t, sh("(setsid sleep 300 &)"))
	wantExit(t, execute(a), 0)
	kin.look()
	if err := dead.Wait(); err != nil {
		t.Errorf("its status is lost: %v", err)
	}
	if p, ok := readProcess(alive.Process.Pid); !ok || p.dead {
		t.Error("it was ended")
	}
	if err := alive.Process.Kill(); err != nil {
		t.Error(err)
	}
	_ = alive.Wait()
}

func TestASignalReachesNoOtherProcessOfThatNumber(t *testing.T) {
	inEveryWorld(t, func(t *testing.T) {
		cmd := startByOSExec(t, "sleep", "300")
		p, ok := readProcess(cmd.Process.Pid)
		if !ok {
			t.Fatal("it is not there")
		}
		earlier := p
		earlier.start--
		if !kin.send(earlier, syscall.SIGKILL) {
			t.Error("what is gone counts as out of reach")
		}
		if !kin.send(p, syscall.SIGTERM) {
			t.Error("it is out of reach")
		}
		err := cmd.Wait()
		if status := cmd.ProcessState.Sys().(syscall.WaitStatus); status.Signal() != syscall.SIGTERM {
			t.Errorf("it ended with %v", err)
		}
		if !kin.send(p, syscall.SIGKILL) {
			t.Error("what is reaped counts as out of reach")
		}
	})
}

func TestWhatCannotBeKilledIsNamedAndNotWaitedFor(t *testing.T) {
	for name, c := range map[string]struct{ failing error }{
		"it hangs in the kernel":       {nil},
		"it belongs to another person": {unix.EPERM},
	} {
		t.Run(name, func(t *testing.T) {
			kill, signalFD := kin.kill, kin.signalFD
			var lost int
			kin.kill = func(int, syscall.Signal) error { return c.failing }
			kin.signalFD = func(int, syscall.Signal) error { return c.failing }
			defer func() { kin.kill, kin.signalFD = kill, signalFD }()

			a := newAttempt(t, sh(`echo $$ > pids; : > ready; exec sleep 300`))
			a.KillAfter = 10 * time.Millisecond
			o, took := inBackground(t, a).stopWhen(t, filepath.Join(a.Dir, "ready"))
			lost = pidsOf(t, a)[0]
			want := []string{fmt.Sprintf("pid %d (sleep)", lost)}
			if !slices.Equal(o.Leftovers, want) || !o.Stopped || o.ExitCode != -1 || o.Message() != "could not be stopped" {
				t.Errorf("outcome %+v, want leftovers %q", o, want)
			}
			if took > killWait+5*time.Second || c.failing != nil && took > killWait {
				t.Errorf("it took %v", took)
			}

			// It is looked after when it ends at last.
			if err := kill(lost, syscall.SIGKILL); err != nil {
				t.Fatal(err)
			}
			eventually(t, "it is reaped", func() bool { _, there := readProcess(lost); return !there })
			wantNoChildren(t)
		})
	}
}

func TestAStatusThatSomebodyElseTookIsNotMadeUp(t *testing.T) {
	a := newAttempt(t, sh(`echo $$ > pids; : > ready; while ! [ -e go ]; do sleep 0.01; done`))
	b := inBackground(t, a)
	eventually(t, "it is ready", func() bool { return exists(filepath.Join(a.Dir, "ready")) })
	thief := make(chan error, 1)
	go func() {
		_, err := syscall.Wait4(pidsOf(t, a)[0], nil, 0, nil)
		thief <- err
	}()
	kin.mu.Lock() // the executor may not reap before the thief
	if err := os.WriteFile(filepath.Join(a.Dir, "go"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	err := <-thief
	kin.mu.Unlock()
	if err != nil {
		t.Fatal(err)
	}
	o := <-b.outcome
	if o.ExitCode != -1 || len(o.Warnings) != 1 || o.Message() != "exit status unknown" {
		t.Errorf("outcome %+v", o)
	}
}

func TestWaitingAttemptsAreNoThreads(t *testing.T) {
	const n = 100
	before := len(threads(os.Getpid()))
	attempts, running := make([]Attempt, n), make([]background, n)
	for i := range n {
		attempts[i] = newAttempt(t, sh("(setsid sh -c 'echo $$ >> pids; : > ready; exec sleep 300' &); exec sleep 300"))
		running[i] = inBackground(t, attempts[i])
	}
	for _, a := range attempts {
		eventually(t, "it is ready", func() bool { return exists(filepath.Join(a.Dir, "ready")) })
	}
	if now := len(threads(os.Getpid())); now > before+20 {
		t.Errorf("%d attempts made %d threads of %d", n, now, before)
	}
	for _, b := range running {
		b.stop()
	}
	for i, b := range running {
		if o := <-b.outcome; !o.Stopped || o.Signal != "SIGTERM" || len(o.Leftovers) > 0 {
			t.Errorf("outcome %+v", o)
		}
		if pids := pidsOf(t, attempts[i]); len(pids) != 1 || exists(fmt.Sprintf("/proc/%d", pids[0])) {
			t.Errorf("of %v some are there", pids)
		}
	}
	wantNoChildren(t)
}

// innerEngine tells a copy of the test program that it is a task and runs an engine. It holds the file for process ids.
const innerEngine = "AX_TEST_INNER_ENGINE"

func TestATaskMayItselfRunAnEngine(t *testing.T) {
	stubborn := `: > "$PIDS"; trap '' TERM; setsid sh -c 'echo $$ >> "$PIDS"; exec sleep 300' & echo $$ >> "$PIDS"
		while [ "$(wc -l < "$PIDS")" -lt 2 ]; do sleep 0.01; done; : > "$PIDS.ready"; while :; do sleep 0.1; done`
	if pids := os.Getenv(innerEngine); pids != "" {
		a := newAttempt(t, sh(stubborn))
		a.Env = append(a.Env, "PIDS="+pids)
		execute(a)
		return
	}
	// SIGTERM ends the inner engine; what it ran is orphaned, ignores the signal and belongs to the outer one all the same.
	a := newAttempt(t, Command{Argv: []string{testProgram(t), "-test.run=^TestATaskMayItselfRunAnEngine$"}})
	pids := filepath.Join(a.Dir, "pids")
	a.Env = append(a.Env, innerEngine+"="+pids, "TMPDIR="+a.Dir)
	a.KillAfter = 300 * time.Millisecond
	o, _ := inBackground(t, a).stopWhen(t, pids+".ready")
	if !o.Stopped || len(o.Leftovers) > 0 {
		t.Errorf("outcome %+v", o)
	}
	wantGone(t, a, 2)
}

func TestInstancesOfOneTaskAreToldApart(t *testing.T) {
	first, tenth := Attempt{RunID: "r", Task: "load[1]", Number: 1}, Attempt{RunID: "r", Task: "load[11]", Number: 1}
	whole := Attempt{RunID: "r", Task: "load", Number: 1}
	marks := map[string]bool{first.mark(): true, tenth.mark(): true, whole.mark(): true}
	files := map[string]bool{first.outputPath(): true, tenth.outputPath(): true, whole.outputPath(): true}
	if len(marks) != 3 || len(files) != 3 {
		t.Errorf("marks %v, files %v", marks, files)
	}
}

func TestWhatADeadEngineLeftIsEnded(t *testing.T) {
	inEveryWorld(t, func(t *testing.T) {
		// The engine is played by a shell that ends at once, the attempt's processes by its children.
		a, other := newAttempt(t, nil), newAttempt(t, nil)
		a.Task, other.Task, other.RunID = "load[1]", "load[11]", a.RunID
		a.KillAfter, other.KillAfter = 200*time.Millisecond, 200*time.Millisecond
		gone := newAttempt(t, nil)
		script := `trap '' TERM; setsid sh -c 'echo $$ >> pids; while :; do sleep 0.05; done' & setsid env -i sleep 300 & echo $! >> pids`
		for _, x := range []Attempt{a, other} {
			cmd := commandFor(x, script)
			log, err := openLog(x.Log)
			if err != nil {
				t.Fatal(err)
			}
			cmd.Stdout, cmd.Stderr = log, log
			if err := cmd.Run(); err != nil {
				t.Fatal(err)
			}
			log.Close()
			eventually(t, "both are there", func() bool {
				return exists(filepath.Join(x.Dir, "pids")) && len(pidsOf(t, x)) == 2
			})
		}
		survivors := EndLeftovers([]Attempt{gone, a})
		if len(survivors) != 2 || len(survivors[0])+len(survivors[1]) > 0 {
			t.Errorf("survivors %q", survivors)
		}
		dead := func(pid int) bool { p, ok := readProcess(pid); return !ok || p.dead }
		for _, pid := range pidsOf(t, a) {
			if !dead(pid) {
				t.Errorf("process %d is alive", pid)
			}
		}
		for _, pid := range pidsOf(t, other) {
			if dead(pid) {
				t.Errorf("process %d of another attempt is gone", pid)
			}
		}
		EndLeftovers([]Attempt{other})
		kin.look()
		wantNoChildren(t)
	})
}
