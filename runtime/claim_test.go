package runtime_test

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/ax-scheduler/ax/runtime"
)

func TestAClaimTellsWhetherItsProcessLives(t *testing.T) {
	data := t.TempDir()
	c, err := runtime.NewClaim(data)
	if err != nil {
		t.Fatal(err)
	}
	if !runtime.Alive(data, c.Owner) {
		t.Error("a held claim is dead")
	}
	if pid, err := runtime.Holder(data, c.Owner); pid != os.Getpid() || err != nil {
		t.Errorf("the holder is %d, %v", pid, err)
	}
	if err := c.Release(); err != nil {
		t.Fatal(err)
	}
	if runtime.Alive(data, c.Owner) || runtime.Alive(data, "nobody") {
		t.Error("a claim that was given up is alive")
	}
}

func TestOneProcessServesADataFolder(t *testing.T) {
	data := t.TempDir()
	if s, ok := runtime.FindServing(data); ok {
		t.Errorf("before anybody serves it is %+v", s)
	}
	lock, err := runtime.LockServing(data)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := runtime.LockServing(data); err == nil || !strings.Contains(err.Error(), strconv.Itoa(os.Getpid())) {
		t.Errorf("a second one got %v", err)
	}
	if err := lock.Announce("127.0.0.1:1", "secret"); err != nil {
		t.Fatal(err)
	}
	want := runtime.Serving{PID: os.Getpid(), Addr: "127.0.0.1:1", Token: "secret"}
	if s, ok := runtime.FindServing(data); !ok || s != want {
		t.Errorf("who serves is %+v, %v, want %+v", s, ok, want)
	}
	if info, err := os.Stat(filepath.Join(data, "serve.lock")); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("others may read the token: %v, %v", info.Mode(), err)
	}
	if err := lock.Release(); err != nil {
		t.Fatal(err)
	}
	if s, ok := runtime.FindServing(data); ok {
		t.Errorf("after its end it is %+v", s)
	}
	again, err := runtime.LockServing(data)
	if err != nil {
		t.Fatal(err)
	}
	if err := again.Release(); err != nil {
		t.Fatal(err)
	}
}
