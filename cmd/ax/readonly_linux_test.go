package main

import (
	"os/exec"
	"strings"
	"testing"
)

// On a file system that cannot be written ax says what to do; what is there can
// be read, and backed up elsewhere.
func TestWhatCannotBeWrittenIsToldWithARemedy(t *testing.T) {
	if err := exec.Command("unshare", "--mount", "true").Run(); err != nil {
		t.Skipf("only who may make mount namespaces (root, with unshare of util-linux) can mount a disk that cannot be written: %v", err)
	}
	const prepare = `set -eu
mount -t tmpfs none "$2" && cd "$2"
printf 'name: flow\ntasks:\n  a: {run: "true"}\n' >flow.yaml
"$0" --data there run flow.yaml
mount -o remount,ro "$2"
exec "$0" $1`
	remedy := "see to its permissions, and that the file system is not mounted read-only, or name another folder with --data"
	mounted := "see to the permissions of the file and its folder, and that the file system is not mounted read-only, or name another folder with --data"
	elsewhere := t.TempDir() + "/copy.db"
	for _, c := range []struct{ command, out, err string }{
		{"--data there run flow.yaml", "", mounted},
		{"--data new run flow.yaml", "", remedy},
		{"--data there serve --addr 127.0.0.1:0", "", mounted},
		{"--data new serve --addr 127.0.0.1:0", "", remedy},
		{"--data new --workflows . trigger flow", "", remedy},
		{"--data there --workflows . trigger flow", "", mounted},
		{"--data there runs flow", "succeeded", ""},
		{"--data there backup " + elsewhere, "bytes", ""},
		{"--data there backup copy.db", "", "name a file in a folder that is there and can be written"},
	} {
		cmd := exec.Command("unshare", "--mount", "sh", "-c", prepare, axBinary(t), c.command, t.TempDir())
		var out, said strings.Builder
		cmd.Stdout, cmd.Stderr = &out, &said
		err := cmd.Run()
		if (err == nil) != (c.err == "") || !strings.Contains(out.String(), c.out) || !strings.Contains(said.String(), c.err) {
			t.Errorf("ax %s ended with %v and said\n%s%s", c.command, err, &out, &said)
		}
	}
}
