package runtime_test

import (
	"os"
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
	if err := c.Announce("127.0.0.1:1"); err != nil {
		t.Fatal(err)
	}
	if pid, addr, err := runtime.Holder(data, c.Owner); pid != os.Getpid() || addr != "127.0.0.1:1" || err != nil {
		t.Errorf("the holder is %d at %q, %v", pid, addr, err)
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
	release, err := runtime.LockServing(data)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := runtime.LockServing(data); err == nil || !strings.Contains(err.Error(), strconv.Itoa(os.Getpid())) {
		t.Errorf("a second one got %v", err)
	}
	if err := release(); err != nil {
		t.Fatal(err)
	}
	again, err := runtime.LockServing(data)
	if err != nil {
		t.Fatal(err)
	}
	if err := again(); err != nil {
		t.Fatal(err)
	}
}
