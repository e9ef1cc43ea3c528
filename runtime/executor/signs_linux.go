package executor

import (
	"bytes"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"
)

// signs are what an orphan still shows of the attempt that it came from.
type signs struct {
	marks   []string
	outputs []os.FileInfo // standard output and error
}

func (s signs) has(mark string) bool { return slices.Contains(s.marks, mark) }

func (s signs) holds(out os.FileInfo) bool {
	return slices.ContainsFunc(s.outputs, func(o os.FileInfo) bool { return os.SameFile(o, out) })
}

// readSigns gives up after a while: reading the memory of a process that hangs in the kernel may hang as well.
func readSigns(pid int) signs {
	read := make(chan signs, 1)
	go func() {
		var s signs
		env, _ := os.ReadFile(fmt.Sprintf("/proc/%d/environ", pid))
		for entry := range bytes.SplitSeq(env, []byte{0}) {
			if marks, ok := bytes.CutPrefix(entry, []byte(markVariable+"=")); ok {
				s.marks = strings.Fields(string(marks))
			}
		}
		for _, fd := range []int{1, 2} {
			if info, err := os.Stat(fmt.Sprintf("/proc/%d/fd/%d", pid, fd)); err == nil {
				s.outputs = append(s.outputs, info)
			}
		}
		read <- s
	}()
	select {
	case s := <-read:
		return s
	case <-time.After(time.Second):
		return signs{}
	}
}
