package main

import (
	"os"
	"strconv"
	"strings"
	"syscall"
)

// dropPages lets go of the pages of the binary: nearly all have been touched when
// a server has come up, and half of them by that alone. They come back from the
// system's cache as they are needed. Where the system does not say what there is,
// they stay.
func dropPages() {
	exe, err := os.Readlink("/proc/self/exe")
	if err != nil {
		return
	}
	smaps, err := os.ReadFile("/proc/self/smaps")
	if err != nil {
		return
	}
	for _, m := range cleanMappings(string(smaps), exe) {
		_, _, _ = syscall.Syscall(syscall.SYS_MADVISE, m.from, m.to-m.from, syscall.MADV_DONTNEED) // or they stay
	}
}

// mapping is a part of the address space.
type mapping struct{ from, to uintptr }

// cleanMappings gives what a process has of a file and can have again: not what
// it may write to, nor what something has been written to, as where the linker
// has put addresses in, or a debugger its marks.
func cleanMappings(smaps, file string) (clean []mapping) {
	var m mapping
	candidate := false
	for line := range strings.Lines(smaps) {
		f := strings.Fields(line)
		if len(f) < 2 {
			continue
		}
		if from, to, ok := strings.Cut(f[0], "-"); ok { // ADDRESSES PERMISSIONS OFFSET DEVICE INODE FILE
			m.from, m.to = address(from), address(to)
			candidate = m.to > m.from && !strings.Contains(f[1], "w") && len(f) > 5 && strings.HasSuffix(line, " "+file+"\n")
		} else if f[0] == "Anonymous:" {
			if candidate && f[1] == "0" {
				clean = append(clean, m)
			}
			candidate = false
		}
	}
	return clean
}

// address reads one; 0 for none.
func address(hex string) uintptr {
	n, _ := strconv.ParseUint(hex, 16, 64) // 0 is no mapping of a file
	return uintptr(n)
}
