package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// restless are the system calls whose number depends on how the threads of a
// process happen to meet, not on what it does.
var restless = map[string]bool{
	"futex": true, "nanosleep": true, "sched_yield": true, "epoll_pwait": true, "tgkill": true, "rt_sigreturn": true,
	"getpid": true, "restart_syscall": true, "madvise": true, "munmap": true, "mmap": true, "clone": true, "clone3": true,
	"sigaltstack": true, "rt_sigprocmask": true, "gettid": true, "rt_sigaction": true, "set_robust_list": true, "rseq": true,
}

// systemCalls gives how many system calls a command and its children make, but
// for restless ones.
func systemCalls(t *testing.T, name string, args ...string) int {
	t.Helper()
	out := filepath.Join(t.TempDir(), "calls")
	cmd := exec.Command("strace", append([]string{"-f", "-c", "-U", "calls,name", "-o", out, name}, args...)...)
	cmd.Env = append(os.Environ(), "PATH=/usr/bin:/bin")
	if text, err := cmd.CombinedOutput(); err != nil {
		if strings.Contains(string(text), "PTRACE") {
			t.Skipf("the system forbids to trace processes, without which their system calls cannot be counted (ptrace_scope, or a container without SYS_PTRACE): %s", text)
		}
		t.Fatalf("%v: %s", err, text)
	}
	table, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	sum := 0
	for line := range strings.Lines(string(table)) {
		words := strings.Fields(line)
		if len(words) != 2 || restless[words[1]] || words[1] == "total" {
			continue
		}
		if n, err := strconv.Atoi(words[0]); err == nil {
			sum += n
		}
	}
	return sum
}

// What a task costs in system calls is the same on every machine, but for what
// the loader does for its program, which is measured by itself and taken off.
func TestATaskCostsFewSystemCalls(t *testing.T) {
	if _, err := exec.LookPath("strace"); err != nil {
		t.Skip("system calls are counted with strace(1), which is not there: install strace")
	}
	chain := func(n int) int {
		dir := t.TempDir()
		var w strings.Builder
		w.WriteString("tasks:\n")
		for i := range n {
			fmt.Fprintf(&w, "  t%d:\n    command: [/bin/true]\n", i)
			if i > 0 {
				fmt.Fprintf(&w, "    depends_on: t%d\n", i-1)
			}
		}
		file := filepath.Join(dir, "flow.yaml")
		if err := os.WriteFile(file, []byte(w.String()), 0o600); err != nil {
			t.Fatal(err)
		}
		return systemCalls(t, axBinary(t), "--data", filepath.Join(dir, "data"), "run", file)
	}
	const more = 100
	each := (chain(50+more)-chain(50))/more - systemCalls(t, "/bin/true")
	t.Logf("%d system calls a task", each)
	if each > 65 {
		t.Errorf("a task costs %d system calls, at most 65 are wanted", each)
	}
}
