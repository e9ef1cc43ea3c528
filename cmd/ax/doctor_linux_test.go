package main

import (
	"os/exec"
	"regexp"
	"testing"
)

// A disk with little room, and one that cannot be written, are told of before a
// run finds out.
func TestADoctorLooksAtTheDiskOfTheDataFolder(t *testing.T) {
	if err := exec.Command("unshare", "--mount", "true").Run(); err != nil {
		t.Skipf("only who may make mount namespaces (root, with unshare of util-linux) can mount a small disk: %v", err)
	}
	ax := axBinary(t)
	for _, c := range []struct{ options, want string }{
		{"size=64m", `(?m)^warning +data folder +\S+ has 64 MiB left$\n +.*= help: remove old runs with ax prune, or make room`},
		{"size=64m,ro", `(?m)^error +data folder +\S+ cannot be written: .*read-only file system$\n +.*= help: see to its permissions`},
		{"size=1g", `(?m)^ok +data folder +\S+, 1 of 1 GiB left$`},
	} {
		cmd := exec.Command("unshare", "--mount", "sh", "-c", `mount -t tmpfs -o "$1" none "$2" && "$0" doctor --data "$2"`, ax, c.options, t.TempDir())
		out, err := cmd.Output() // it fails where something is wrong
		if !regexp.MustCompile(c.want).Match(out) {
			t.Errorf("with %s it says\n%s\nwant %s; %v", c.options, out, c.want, err)
		}
	}
}
