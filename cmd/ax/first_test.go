package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// childrenOf gives the children of the first thread of a process.
func childrenOf(t *testing.T, pid int) (pids []int) {
	t.Helper()
	id := strconv.Itoa(pid)
	text, _ := os.ReadFile(filepath.Join("/proc", id, "task", id, "children"))
	for _, word := range strings.Fields(string(text)) {
		child, err := strconv.Atoi(word)
		if err != nil {
			t.Fatal(err)
		}
		pids = append(pids, child)
	}
	return pids
}

// As the first process of a container ax is given the orphans of others, such as
// those of a health check, and must not let them pile up as zombies.
func TestAsTheFirstProcessOfAContainerItReapsTheOrphansOfOthers(t *testing.T) {
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "workflows"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := exec.Command("unshare", "--fork", "--pid", "--mount-proc", "nsenter", "--version").Run(); err != nil {
		t.Skipf("only who may make PID namespaces (root, with unshare and nsenter of util-linux) can have ax be process 1: %v", err)
	}
	outer := exec.Command("unshare", "--fork", "--pid", "--mount-proc", "--kill-child",
		axBinary(t), "--data", filepath.Join(dir, "data"), "--workflows", filepath.Join(dir, "workflows"), "serve", "--addr", "127.0.0.1:0")
	if err := outer.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		_ = outer.Process.Kill() // and with it all that is in there
		_ = outer.Wait()
	}()
	until := func(what string, holds func() bool) {
		t.Helper()
		tick := time.NewTicker(10 * time.Millisecond)
		defer tick.Stop()
		for over := time.After(20 * time.Second); !holds(); {
			select {
			case <-tick.C:
			case <-over:
				t.Fatalf("in 20 s it did not come about: %s", what)
			}
		}
	}
	first := 0
	until("ax serves", func() bool {
		if inner := childrenOf(t, outer.Process.Pid); len(inner) == 1 {
			first = inner[0]
		}
		text, _ := os.ReadFile(filepath.Join(dir, "data", "serve.lock"))
		return strings.Contains(string(text), "127.0.0.1:")
	})
	// A process that begins one in the background, and leaves it to whom it may concern.
	orphan := filepath.Join(dir, "orphan")
	check := exec.Command("nsenter", "-t", strconv.Itoa(first), "-p", "-m", "sh", "-c",
		"setsid sh -c 'until test -e "+orphan+"; do sleep 0.01; done' >/dev/null 2>&1 &")
	if out, err := check.CombinedOutput(); err != nil {
		t.Fatalf("nsenter: %v %s", err, out)
	}
	until("the orphan has come to ax", func() bool { return len(childrenOf(t, first)) == 1 })
	if err := os.WriteFile(orphan, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	until("it was reaped", func() bool { return len(childrenOf(t, first)) == 0 })
	if err := syscall.Kill(first, 0); err != nil {
		t.Errorf("ax has ended: %v", err)
	}
}
