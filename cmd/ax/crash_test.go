package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/ax-scheduler/ax/runtime"
)

// axBinary gives a path under which this test binary is the command.
func axBinary(t *testing.T) string {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "ax")
	if err := os.Symlink(self, path); err != nil {
		t.Fatal(err)
	}
	return path
}

// chain is a workflow of n tasks in a row, each of which leaves a file.
func chain(n int) string {
	var b strings.Builder
	b.WriteString("name: chain\ntasks:\n")
	for i := range n {
		fmt.Fprintf(&b, "  t%d: {run: 'echo x >> \"$MARKS/t%d\"'", i, i)
		if i > 0 {
			fmt.Fprintf(&b, ", depends_on: t%d", i-1)
		}
		b.WriteString("}\n")
	}
	return b.String()
}

// A run that is killed at any moment leaves a database that can be read, and in
// it all that was told: promises 1 and 2 of the design.
func TestAKilledRunIsReadableWithAllThatWasTold(t *testing.T) {
	ax := axBinary(t)
	dir := t.TempDir()
	file := filepath.Join(dir, "chain.yaml")
	if err := os.WriteFile(file, []byte(chain(200)), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, killAfter := range []int{1, 2, 7, 20, 61} {
		data, marks := t.TempDir(), t.TempDir()
		told := runAndKill(t, ax, file, data, marks, killAfter)

		out, err := exec.Command(ax, "--data", data, "runs", "--json").Output()
		if err != nil {
			t.Fatalf("ax runs after the kill: %v", err)
		}
		var runs []runtime.Report
		if err := json.Unmarshal(out, &runs); err != nil || len(runs) != 1 {
			t.Fatalf("after the kill there are %d runs (%v)", len(runs), err)
		}
		out, err = exec.Command(ax, "--data", data, "show", "--json", runs[0].ID).Output()
		if err != nil {
			t.Fatalf("ax show after the kill: %v", err)
		}
		var rep runtime.Report
		if err := json.Unmarshal(out, &rep); err != nil {
			t.Fatal(err)
		}
		if rep.State != "running" || len(rep.Tasks) != 200 {
			t.Errorf("the killed run is %s with %d tasks", rep.State, len(rep.Tasks))
		}
		for _, task := range rep.Tasks {
			if told[task.ID] && task.State != "succeeded" {
				t.Errorf("killed after %d: %s was told as succeeded and is stored as %s", killAfter, task.ID, task.State)
			}
			if _, err := os.Stat(filepath.Join(marks, task.ID)); err == nil && task.Attempts != 1 {
				t.Errorf("killed after %d: %s has run and is stored with %d attempts", killAfter, task.ID, task.Attempts)
			}
		}
		text, err := exec.Command(ax, "--data", data, "show", rep.ID).Output()
		if err != nil || !strings.Contains(string(text), "the engine that ran it has ended: the next ax serve goes on with it; ax retry "+rep.ID) {
			t.Errorf("ax show does not tell that the engine is gone: %v\n%s", err, text)
		}
	}
}

// A run that is killed in the middle of a foreach goes on with the same items: no
// instance is lost, and of those that were under way alone some run twice.
func TestAKilledForeachGoesOn(t *testing.T) {
	ax := axBinary(t)
	dir, marks := t.TempDir(), t.TempDir()
	file := filepath.Join(dir, "each.yaml")
	text := `name: each
tasks:
  go: {run: 'true'}
  list: {run: 'seq -s " " 40 | sed "s/^/n=/" >> "$AX_OUTPUT"', depends_on: go}
  each:
    depends_on: list
    foreach: {items: 'split(tasks.list.outputs.n, " ")', max_parallel: 3}
    run: 'echo "$AX_ITEM" >> "$MARKS/$AX_INDEX"; sleep 0.02'
  all: {run: 'test ${{ tasks.each.state }} = succeeded', depends_on: each}
`
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	data := t.TempDir()
	cmd := exec.Command(ax, "--data", data, "run", file)
	cmd.Env = append(os.Environ(), "MARKS="+marks)
	for lines := begin(t, cmd); lines.Scan(); {
		if strings.Contains(lines.Text(), "each: 1") { // 12/40, or so
			if err := cmd.Process.Signal(syscall.SIGKILL); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := cmd.Wait(); err == nil {
		t.Fatal("the run was not killed")
	}
	out, err := exec.Command(ax, "--data", data, "runs", "--json").Output()
	var runs []runtime.Report
	if err := errors.Join(err, json.Unmarshal(out, &runs)); err != nil || len(runs) != 1 {
		t.Fatalf("after the kill there are %d runs (%v)", len(runs), err)
	}
	again := exec.Command(ax, "--data", data, "retry", "--json", runs[0].ID)
	again.Env = append(os.Environ(), "MARKS="+marks)
	out, err = again.Output()
	var rep runtime.Report
	if err := errors.Join(err, json.Unmarshal(out, &rep)); err != nil || rep.State != "succeeded" || len(rep.Tasks) != 44 {
		t.Fatalf("the run is %s with %d tasks (%v)", rep.State, len(rep.Tasks), err)
	}
	twice := 0
	for i := range 40 {
		mark, err := os.ReadFile(filepath.Join(marks, fmt.Sprint(i)))
		if err != nil || strings.Fields(string(mark))[0] != fmt.Sprint(i+1) {
			t.Errorf("instance %d has left %q (%v)", i, mark, err)
		}
		if task := rep.Tasks[3+i]; task.ID != fmt.Sprintf("each[%d]", i) || task.State != "succeeded" || task.Attempts > 2 {
			t.Errorf("instance %d is %+v", i, task)
		} else if task.Attempts == 2 {
			twice++
		}
	}
	if twice > 3 {
		t.Errorf("%d instances ran twice, though 3 at most were under way", twice)
	}
}

// begin starts a command and gives the lines of its progress.
func begin(t *testing.T, cmd *exec.Cmd) *bufio.Scanner {
	t.Helper()
	progress, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return bufio.NewScanner(progress)
}

// runAndKill runs a file and kills the engine once so many tasks are told as
// succeeded. It gives those that were.
func runAndKill(t *testing.T, ax, file, data, marks string, killAfter int) map[string]bool {
	t.Helper()
	cmd := exec.Command(ax, "--data", data, "run", file)
	cmd.Env = append(os.Environ(), "MARKS="+marks)
	told := map[string]bool{}
	for lines := begin(t, cmd); lines.Scan(); {
		words := strings.Fields(lines.Text())
		if len(words) > 2 && words[2] == "succeeded" {
			told[strings.TrimSuffix(words[1], ":")] = true
		}
		if len(told) == killAfter {
			if err := cmd.Process.Signal(syscall.SIGKILL); err != nil {
				t.Fatal(err)
			}
		}
	}
	_ = cmd.Wait() // it was killed
	if len(told) < killAfter {
		t.Fatalf("only %d tasks were told as succeeded", len(told))
	}
	return told
}

// Ctrl-C stops the run as a cancel does, records it so, and leaves no process.
func TestASignalCancelsTheRun(t *testing.T) {
	ax := axBinary(t)
	dir := t.TempDir()
	file := filepath.Join(dir, "long.yaml")
	text := "name: long\non_finish: tidy\ntasks:\n  a: {run: 'echo $$ > \"$MARKS/new\"; mv \"$MARKS/new\" \"$MARKS/pid\"; sleep 600 & wait'}\n  b: {run: 'true', depends_on: a}\n  tidy: {run: 'touch \"$MARKS/tidied\"'}\n"
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		signal syscall.Signal
		code   int
	}{{syscall.SIGINT, 130}, {syscall.SIGTERM, 143}} {
		data, marks := t.TempDir(), t.TempDir()
		cmd := exec.Command(ax, "--data", data, "run", "--json", file)
		cmd.Env = append(os.Environ(), "MARKS="+marks)
		var out strings.Builder
		cmd.Stdout = &out
		for lines := begin(t, cmd); lines.Scan(); {
			if strings.HasSuffix(lines.Text(), "a: running") {
				if err := cmd.Process.Signal(c.signal); err != nil {
					t.Fatal(err)
				}
			}
		}
		_ = cmd.Wait() // the code is looked at
		if got := cmd.ProcessState.ExitCode(); got != c.code {
			t.Errorf("%v: exit code %d, want %d", c.signal, got, c.code)
		}
		var rep runtime.Report
		if err := json.Unmarshal([]byte(out.String()), &rep); err != nil {
			t.Fatal(err)
		}
		if rep.State != "cancelled" || rep.Tasks[0].State != "cancelled" || rep.Tasks[1].State != "cancelled" || rep.Tasks[2].State != "succeeded" {
			t.Errorf("%v: the run is stored as %+v", c.signal, rep)
		}
		if pid, err := os.ReadFile(filepath.Join(marks, "pid")); err == nil {
			if _, err := os.Stat("/proc/" + strings.TrimSpace(string(pid))); err == nil {
				t.Errorf("%v: process %s of the task is alive", c.signal, pid)
			}
		}
	}
}

// A second signal kills what does not end by itself, and the run is recorded.
func TestASecondSignalKillsWhatIsDeafToTheFirst(t *testing.T) {
	ax := axBinary(t)
	dir := t.TempDir()
	file := filepath.Join(dir, "deaf.yaml")
	text := "name: deaf\non_finish: tidy\ntasks:\n  a: {run: \"trap 'echo told' TERM; while :; do sleep 0.1 || true; done\", kill_after: 10m}\n  tidy: {run: sleep 600}\n"
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(ax, "--data", t.TempDir(), "run", "--json", file)
	var out strings.Builder
	cmd.Stdout = &out
	for lines := begin(t, cmd); lines.Scan(); {
		if strings.HasSuffix(lines.Text(), "a: running") || strings.Contains(lines.Text(), "once more") {
			if err := cmd.Process.Signal(syscall.SIGINT); err != nil {
				t.Fatal(err)
			}
		}
	}
	_ = cmd.Wait() // the code is looked at
	var rep runtime.Report
	if err := json.Unmarshal([]byte(out.String()), &rep); err != nil {
		t.Fatal(err)
	}
	if code := cmd.ProcessState.ExitCode(); code != 130 || rep.State != "cancelled" || rep.Tasks[0].State != "cancelled" || rep.Tasks[1].State != "cancelled" {
		t.Errorf("exit code %d, the run is stored as %+v", code, rep)
	}
}
