package main

import (
	"os"
	"slices"
	"testing"
)

func TestOnlyPagesThatCanBeHadAgainAreLetGo(t *testing.T) {
	const smaps = `00400000-0120e000 r-xp 00000000 fe:01 77 /opt/my ax
Size:              14392 kB
Anonymous:             0 kB
0120e000-020a4000 r--p 00e0e000 fe:01 77 /opt/my ax
Anonymous:             0 kB
020a4000-020b0000 r--p 01ca4000 fe:01 77 /opt/my ax
Anonymous:            48 kB
020b0000-02172000 rw-p 01cb0000 fe:01 77 /opt/my ax
Anonymous:             0 kB
7f0000000000-7f0000001000 r--p 00000000 fe:01 78 /opt/not/my ax
Anonymous:             0 kB
7f0000002000-7f0000003000 r--s 00000000 fe:01 79 /srv/.ax/ax.db-shm
Anonymous:             0 kB
7f0000004000-7f0000005000 ---p 00000000 00:00 0
Anonymous:             0 kB
7ffd00000000-7ffd00002000 r-xp 00000000 00:00 0 [vdso]
Anonymous:             0 kB
VmFlags: rd ex mr mw me de
`
	for _, c := range []struct {
		name, file string
		want       []mapping
	}{
		{"code and constants, but not what the linker has written to", "/opt/my ax", []mapping{{0x400000, 0x120e000}, {0x120e000, 0x20a4000}}},
		{"a file that is not there", "/opt/ax", nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := cleanMappings(smaps, c.file); !slices.Equal(got, c.want) {
				t.Errorf("let go are %x, want %x", got, c.want)
			}
		})
	}
}

func TestAProcessThatHasLetItsPagesGoGoesOn(t *testing.T) {
	exe, err := os.Readlink("/proc/self/exe")
	if err != nil {
		t.Fatal(err)
	}
	smaps, err := os.ReadFile("/proc/self/smaps")
	if err != nil {
		t.Fatal(err)
	}
	if len(cleanMappings(string(smaps), exe)) == 0 {
		t.Error("the process has no code")
	}
	dropPages()
	if code := versionText(); code == "" {
		t.Error("it has no version any more")
	}
}
