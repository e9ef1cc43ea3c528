package executor

import (
	"bytes"
	"os"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// readProcess reads /proc/PID/stat, see proc_pid_stat(5). It fails if there is no such process.
func readProcess(pid int) (process, bool) {
	data, err := readProc("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return process{}, false
	}
	return parseStat(data)
}

// Places among the fields after the name, of which the first is field 3 of the manual.
const (
	statState   = 0
	statParent  = 1
	statGroup   = 2
	statThreads = 17
	statStart   = 19
)

// readProc is os.ReadFile without the latter's preparations, which here cost more than the reading.
func readProc(path string) ([]byte, error) {
	fd, err := unix.Open(path, unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	defer unix.Close(fd)
	data := make([]byte, 0, 1024)
	for {
		n, err := unix.Read(fd, data[len(data):cap(data)])
		switch {
		case err == unix.EINTR:
		case err != nil || n == 0:
			return data, err
		default:
			data = slices.Grow(data[:len(data)+n], 1024)
		}
	}
}

func parseStat(data []byte) (p process, ok bool) {
	open, shut := bytes.IndexByte(data, '('), bytes.LastIndexByte(data, ')') // a name may hold both
	if open < 1 || shut < open {
		return process{}, false
	}
	fields := strings.Fields(string(data[shut+1:]))
	if len(fields) <= statStart {
		return process{}, false
	}
	failed := false
	number := func(s string) int {
		n, err := strconv.Atoi(s)
		failed = failed || err != nil
		return n
	}
	p = process{
		pid:    number(strings.TrimSpace(string(data[:open]))),
		name:   string(data[open+1 : shut]),
		parent: number(fields[statParent]),
		group:  number(fields[statGroup]),
		start:  uint64(number(fields[statStart])),
	}
	// The first thread of a process may end before the others: it is shown as a zombie then, though the process lives.
	p.dead = strings.ContainsAny(fields[statState], "ZX") && number(fields[statThreads]) <= 1
	return p, !failed
}

func childrenFile(pid, thread int) string {
	return "/proc/" + strconv.Itoa(pid) + "/task/" + strconv.Itoa(thread) + "/children"
}

// childrenOf returns the children of one thread of a process; of the whole process where the kernel does not tell.
func childrenOf(pid, thread int) (pids []int) {
	if !kin.childrenFiles.Load() {
		for _, p := range search(func(p process) bool { return p.parent == pid }) {
			pids = append(pids, p.pid)
		}
		return pids
	}
	data, err := readProc(childrenFile(pid, thread))
	if err != nil {
		return nil
	}
	return numbers(strings.Fields(string(data)))
}

func numbers(words []string) []int {
	list := make([]int, 0, len(words))
	for _, w := range words {
		if n, err := strconv.Atoi(w); err == nil {
			list = append(list, n)
		}
	}
	return list
}

// threads returns the threads of a process; only the first where the kernel does not tell their children apart.
func threads(pid int) []int {
	if !kin.childrenFiles.Load() {
		return []int{pid}
	}
	return listNumbers("/proc/" + strconv.Itoa(pid) + "/task")
}

func listNumbers(folder string) []int {
	f, err := os.Open(folder)
	if err != nil {
		return nil
	}
	defer f.Close()
	names, _ := f.Readdirnames(-1)
	return numbers(names)
}

// withDescendants returns the living of the roots and of everything below them, each once.
func withDescendants(roots []process) []process {
	var living []process
	seen := map[int]bool{os.Getpid(): true} // an engine may run inside a task, and sweep up after another one
	for work := roots; len(work) > 0; {
		p := work[0]
		work = work[1:]
		if seen[p.pid] {
			continue
		}
		seen[p.pid] = true
		if !p.dead {
			living = append(living, p)
		}
		for _, thread := range threads(p.pid) {
			for _, pid := range childrenOf(p.pid, thread) {
				if c, ok := readProcess(pid); ok && c.parent == p.pid {
					work = append(work, c)
				}
			}
		}
	}
	return living
}

// search looks at all processes of the machine and returns those that match, zombies among them.
func search(match func(process) bool) (found []process) {
	for _, pid := range listNumbers("/proc") {
		if p, ok := readProcess(pid); ok && match(p) {
			found = append(found, p)
		}
	}
	return found
}
