package main

import (
	"os"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// space gives the free and the whole size of a folder's file system, in bytes.
func space(dir string) (free, total uint64, err error) {
	var s unix.Statfs_t
	if err := unix.Statfs(dir, &s); err != nil {
		return 0, 0, err
	}
	return s.Bavail * uint64(s.Bsize), s.Blocks * uint64(s.Bsize), nil
}

// clockSynced tells whether the kernel has been told that the clock is right.
func clockSynced() (synced, known bool) {
	state, err := unix.Adjtimex(&unix.Timex{})
	return state != unix.TIME_ERROR, err == nil
}

// limits looks at those that many tasks at a time or many files run into.
func (d *doctor) limits() {
	const check = "limits"
	const files, watches = 1024, 1024
	var open syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &open); err == nil && open.Max < files {
		d.warn(check, "raise it with ulimit -n or LimitNOFILE=", "a process may open only %d files", open.Max)
		return
	}
	if text, err := os.ReadFile("/proc/sys/fs/inotify/max_user_watches"); err == nil {
		if n, err := strconv.Atoi(strings.TrimSpace(string(text))); err == nil && n < watches {
			d.warn(check, "raise fs.inotify.max_user_watches with sysctl; until then changed files are found by looking", "only %d folders can be watched", n)
			return
		}
	}
	if _, err := os.Stat("/proc/self/stat"); err != nil {
		d.fail(check, "mount /proc", "/proc is not there: what tasks leave behind cannot be found")
		return
	}
	d.ok(check, "%d open files", open.Cur)
}
