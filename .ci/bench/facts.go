package main

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// facts tells what the machine is and does by itself.
func (b *bench) facts() (string, error) {
	var spawns, syncs []float64
	for range 200 {
		begin := time.Now()
		if err := exec.Command("true").Run(); err != nil {
			return "", err
		}
		spawns = append(spawns, ms(time.Since(begin)))
	}
	f, err := os.Create(filepath.Join(b.dir, "sync"))
	if err != nil {
		return "", err
	}
	defer f.Close()
	for range 200 {
		begin := time.Now()
		if _, err := f.Write(make([]byte, 8192)); err != nil {
			return "", err
		}
		if err := unix.Fdatasync(int(f.Fd())); err != nil {
			return "", err
		}
		syncs = append(syncs, ms(time.Since(begin)))
	}
	var uts unix.Utsname
	if err := unix.Uname(&uts); err != nil {
		return "", err
	}
	return fmt.Sprintf(`Measured on %s: %s, %d cores, %s of memory, Linux %s, %s. By itself this machine starts and awaits
a process of `+"`true`"+` from Go in %s ms, and a write of 8 KiB is on disk in %s ms (medians of 200).

`, time.Now().Format(time.DateOnly), proc("/proc/cpuinfo", "model name"), runtime.NumCPU(), proc("/proc/meminfo", "MemTotal"),
		unix.ByteSliceToString(uts.Release[:]), goVersion(), number(median(spawns)), number(median(syncs))), nil
}

func goVersion() string {
	info, _ := debug.ReadBuildInfo()
	return "Go " + strings.TrimPrefix(info.GoVersion, "go")
}

// proc gives what a file of /proc says of a key.
func proc(name, key string) string {
	f, err := os.Open(name)
	if err != nil {
		return "unknown"
	}
	defer f.Close()
	for s := bufio.NewScanner(f); s.Scan(); {
		if k, v, ok := strings.Cut(s.Text(), ":"); ok && strings.TrimSpace(k) == key {
			return strings.TrimSpace(v)
		}
	}
	return "unknown"
}

func ms(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
