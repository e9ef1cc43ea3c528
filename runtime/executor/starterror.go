package executor

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// oneStringLimit is what Linux takes in one argument or variable: 32 pages, with the zero byte at its end.
const oneStringLimit = 32 * 4096

// explain turns the error of a start into what is wrong and what to do. It looks at the file system only now, for the
// kernel's error does not tell a missing folder from a missing program.
func (a *Attempt) explain(err error, argv, env []string) string {
	if text := a.dirTrouble(); text != "" {
		return text
	}
	name := argv[0]
	switch {
	case errors.Is(err, syscall.E2BIG):
		return tooBig(argv, env)
	case errors.Is(err, syscall.EINVAL):
		return hasNUL(argv, env)
	case errors.Is(err, syscall.ENOEXEC):
		return fmt.Sprintf("program %q is neither made for this machine nor a script with a %q line: give it one, or put its interpreter first", name, "#!")
	case errors.Is(err, syscall.EAGAIN), errors.Is(err, syscall.ENOMEM):
		return fmt.Sprintf("the system has no room for another process (%v): run fewer at a time, or raise its limit", err)
	case errors.Is(err, fs.ErrPermission):
		return fmt.Sprintf("program %q may not be executed: correct its mode with chmod +x, or name its interpreter", name)
	case errors.Is(err, fs.ErrNotExist) && !strings.Contains(name, "/"):
		return fmt.Sprintf("program %q is not in PATH (%q): install it, or give its path", name, lookupEnv(env, "PATH"))
	case errors.Is(err, fs.ErrNotExist):
		return a.notThere(name)
	default:
		return fmt.Sprintf("program %q could not be started: %v", name, err)
	}
}

func (a *Attempt) dirTrouble() string {
	if !filepath.IsAbs(a.Dir) {
		return fmt.Sprintf("working folder %q is not an absolute path", a.Dir)
	}
	info, err := os.Stat(a.Dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Sprintf("working folder %q does not exist: create it, or correct \"workdir\"", a.Dir)
	case err != nil:
		return fmt.Sprintf("working folder %q cannot be used: %v", a.Dir, err)
	case !info.IsDir():
		return fmt.Sprintf("working folder %q is not a folder: correct \"workdir\"", a.Dir)
	case unix.Faccessat(unix.AT_FDCWD, a.Dir, unix.X_OK, unix.AT_EACCESS) != nil:
		return fmt.Sprintf("working folder %q may not be entered: correct its mode", a.Dir)
	default:
		return ""
	}
}

// notThere tells a missing file from a script whose interpreter is missing: the kernel says ENOENT to both.
func (a *Attempt) notThere(name string) string {
	file := name
	if !filepath.IsAbs(file) {
		file = filepath.Join(a.Dir, file)
	}
	f, err := os.Open(file)
	if err != nil {
		return fmt.Sprintf("program %q does not exist in %q: correct its path", name, a.Dir)
	}
	defer f.Close()
	head, _ := io.ReadAll(io.LimitReader(f, 256))
	line, _, _ := bytes.Cut(head, []byte("\n"))
	if interpreter, ok := bytes.CutPrefix(line, []byte("#!")); ok {
		return fmt.Sprintf("program %q asks in its first line for %q, which does not exist: correct the line (a line end of another system counts too)", name, interpreter)
	}
	return fmt.Sprintf("program %q needs a loader that does not exist here: it was built for another system", name)
}

// tooBig names the largest string, which is nearly always the one to blame.
func tooBig(argv, env []string) string {
	const remedy = "pass large values in a file"
	total, largest, what := 0, 0, ""
	weigh := func(s, name string) {
		total += len(s) + 1
		if len(s) > largest {
			largest, what = len(s), name
		}
	}
	for i, s := range argv {
		weigh(s, fmt.Sprintf("argument %d", i))
	}
	for _, s := range env {
		key, _, _ := strings.Cut(s, "=")
		weigh(s, fmt.Sprintf("variable %q", key))
	}
	if largest >= oneStringLimit {
		return fmt.Sprintf("%s has %d KiB, the system takes 128 in one string: %s", what, largest>>10, remedy)
	}
	return fmt.Sprintf("arguments and environment have %d KiB together (the most, %d, in %s), more than the system takes: %s",
		total>>10, largest>>10, what, remedy)
}

func hasNUL(argv, env []string) string {
	const text = "%s holds a zero byte, which no program can be given: remove it"
	for i, s := range argv {
		if strings.Contains(s, "\x00") {
			return fmt.Sprintf(text, fmt.Sprintf("argument %d", i))
		}
	}
	for _, s := range env {
		if strings.Contains(s, "\x00") {
			key, _, _ := strings.Cut(s, "=")
			return fmt.Sprintf(text, fmt.Sprintf("variable %q", key))
		}
	}
	return fmt.Sprintf("program %q could not be started: %v", argv[0], syscall.EINVAL)
}
