package main

import (
	"context"
	"errors"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"syscall"
	"testing"
	"time"
)

// listenForNotes is the socket of a systemd.
func listenForNotes(t *testing.T) (path string, next func() string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "notify")
	conn, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: path, Net: "unixgram"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	return path, func() string {
		t.Helper()
		if err := conn.SetReadDeadline(time.Now().Add(20 * time.Second)); err != nil {
			t.Fatal(err)
		}
		buf := make([]byte, 100)
		n, err := conn.Read(buf)
		if err != nil {
			t.Fatal(err)
		}
		return string(buf[:n])
	}
}

func TestSystemdIsToldHowTheServiceDoes(t *testing.T) {
	path, next := listenForNotes(t)
	n := newNotifier([]string{"NOTIFY_SOCKET=" + path, "WATCHDOG_USEC=20000", "WATCHDOG_PID=7"}, 7)
	defer n.conn.Close()
	n.say("READY=1")
	if got := next(); got != "READY=1" {
		t.Errorf("systemd was told %q", got)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	checks := make(chan error)
	go n.keepAlive(ctx, func(context.Context) error {
		select {
		case err := <-checks:
			return err
		case <-ctx.Done():
			return ctx.Err()
		}
	})
	for range 2 {
		checks <- nil
		if got := next(); got != "WATCHDOG=1" {
			t.Errorf("systemd was told %q", got)
		}
	}
	checks <- errors.New("the loop does not answer")
	checks <- errors.New("nor now")
	n.say("STOPPING=1")
	if got := next(); got != "STOPPING=1" {
		t.Errorf("of an engine that does not answer systemd was told %q", got)
	}
}

func TestWithoutSystemdNobodyIsTold(t *testing.T) {
	for name, env := range map[string][]string{
		"no socket":          {"WATCHDOG_USEC=20000"},
		"a socket that died": {"NOTIFY_SOCKET=" + filepath.Join(t.TempDir(), "gone"), "WATCHDOG_USEC=20000"},
	} {
		t.Run(name, func(t *testing.T) {
			n := newNotifier(env, 7)
			n.say("READY=1")
			n.keepAlive(t.Context(), func(context.Context) error {
				t.Error("it is checked for nobody")
				return nil
			})
		})
	}
	path, _ := listenForNotes(t)
	n := newNotifier([]string{"NOTIFY_SOCKET=" + path, "WATCHDOG_USEC=20000", "WATCHDOG_PID=8"}, 7)
	if n.watchdog != 0 {
		t.Error("the watchdog of another process was taken for ours")
	}
	n.conn.Close()
}

func TestWhatSystemdSaysIsNotForTasks(t *testing.T) {
	got := taskEnvironment([]string{"A=1", "NOTIFY_SOCKET=/run/x", "WATCHDOG_USEC=1", "WATCHDOG_PID=2", "NOTIFY_SOCKETS=b"})
	if len(got) != 2 || got[0] != "A=1" || got[1] != "NOTIFY_SOCKETS=b" {
		t.Errorf("tasks inherit %q", got)
	}
}

func TestAServiceIsReadyAliveAndStopping(t *testing.T) {
	path, next := listenForNotes(t)
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "workflows"), 0o755); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(axBinary(t), "--data", filepath.Join(dir, "data"), "--workflows", filepath.Join(dir, "workflows"), "serve", "--addr", "127.0.0.1:0")
	cmd.Env = append(os.Environ(), "NOTIFY_SOCKET="+path, "WATCHDOG_USEC=100000")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer cmd.Process.Kill()
	got := []string{next(), next()}
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	note := next()
	for note == "WATCHDOG=1" {
		note = next()
	}
	if got = append(got, note); !slices.Equal(got, []string{"READY=1", "WATCHDOG=1", "STOPPING=1"}) {
		t.Errorf("systemd was told %q", got)
	}
	if err := cmd.Wait(); err != nil {
		t.Error(err)
	}
}
