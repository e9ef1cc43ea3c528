package executor

import (
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
)

type (
	writer      = io.Writer
	writeCloser = io.WriteCloser
)

// lineMask replaces the word "secret" line by line.
type lineMask struct {
	w    io.Writer
	held string
}

func newLineMask(w io.Writer) io.WriteCloser { return &lineMask{w: w} }

func (m *lineMask) Write(p []byte) (int, error) {
	m.held += string(p)
	end := strings.LastIndexByte(m.held, '\n') + 1
	whole := m.held[:end]
	m.held = m.held[end:]
	return len(p), m.put(whole)
}

func (m *lineMask) put(text string) error {
	if text == "" {
		return nil
	}
	_, err := io.WriteString(m.w, strings.ReplaceAll(text, "secret", "******"))
	return err
}

func (m *lineMask) Close() error { return m.put(m.held) }

// openInheritable opens a file as careless code does: for every process that is started.
func openInheritable(t *testing.T, path string) int {
	t.Helper()
	fd, err := syscall.Open(path, syscall.O_RDONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { syscall.Close(fd) })
	return fd
}

func openInheritableCopy(t *testing.T, f *os.File) *os.File {
	t.Helper()
	fd, err := syscall.Dup(int(f.Fd()))
	if err != nil {
		t.Fatal(err)
	}
	return os.NewFile(uintptr(fd), "copy")
}

func writeProgram(t testing.TB, path, text string, mode os.FileMode) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	syscall.ForkLock.RLock() // see writeScript
	defer syscall.ForkLock.RUnlock()
	if err := os.WriteFile(path, []byte(text), mode); err != nil {
		t.Fatal(err)
	}
}

// startByOSExec starts a process from a thread that then ends, so that it becomes a child of the first thread, as
// orphans do.
func startByOSExec(t *testing.T, argv ...string) *exec.Cmd {
	t.Helper()
	cmd := exec.Command(argv[0], argv[1:]...)
	started := make(chan error)
	go func() {
		runtime.LockOSThread()
		started <- cmd.Start()
	}()
	if err := <-started; err != nil {
		t.Fatal(err)
	}
	return cmd
}

func commandFor(a Attempt, script string) *exec.Cmd {
	cmd := exec.Command("/bin/sh", "-c", script)
	cmd.Dir, cmd.Env = a.Dir, a.environment()
	return cmd
}

// testProgram is the path of this program, for a test that needs a second one of it.
func testProgram(t *testing.T) string {
	t.Helper()
	path, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// superviseVariable has the test program supervise instead of test.
const superviseVariable = "AX_TEST_SUPERVISE"

// superviseInstead is the main function of a supervisor in tests.
func superviseInstead() {
	conn, err := net.FileConn(os.NewFile(3, "engine"))
	if err == nil {
		err = Supervise(".", os.Args[len(os.Args)-1], conn)
	}
	if err != nil {
		panic(err)
	}
	os.Exit(0)
}
