package executor

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// atTerminal tells a copy of the test program that it plays an engine at a terminal.
const atTerminal = "AX_TEST_AT_TERMINAL"

func TestATaskHasNoTerminalToWaitFor(t *testing.T) {
	if os.Getenv(atTerminal) != "" {
		playEngineAtTerminal(t)
		return
	}
	terminal, screen := openTerminal(t)
	// The shell is the session's leader, as it is where a person types; the engine is its child.
	cmd := exec.Command("/bin/sh", "-c", `"$0" -test.run='^TestATaskHasNoTerminalToWaitFor$' -test.v; exit $?`, testProgram(t))
	cmd.Env = append(os.Environ(), atTerminal+"=1")
	cmd.Stdin, cmd.Stdout, cmd.Stderr = screen, screen, screen
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	screen.Close()
	text, _ := io.ReadAll(terminal) // fails with EIO once nobody has the screen
	if err := cmd.Wait(); err != nil || !strings.Contains(string(text), "PASS") {
		t.Errorf("error %v, on the screen:\n%s", err, text)
	}
}

func playEngineAtTerminal(t *testing.T) {
	ask := sh(`if read -r answer < /dev/tty; then echo "asked"; else echo "no terminal"; fi 2>/dev/null`)
	stuck := newAttempt(t, ask)
	b := inBackground(t, stuck)
	over := time.AfterFunc(300*time.Millisecond, b.stop)
	defer over.Stop()
	if o := <-b.outcome; !o.Stopped {
		t.Errorf("with a terminal it should have waited: %+v, log %q", o, readLog(t, stuck))
	}
	if err := LeaveTerminal(); err != nil {
		t.Fatal(err)
	}
	a := newAttempt(t, ask)
	wantExit(t, execute(a), 0)
	wantLog(t, a, "no terminal\n")
	if err := LeaveTerminal(); err != nil {
		t.Errorf("without one it should do nothing: %v", err)
	}
}

// openTerminal returns both sides of a pseudo terminal.
func openTerminal(t *testing.T) (terminal, screen *os.File) {
	t.Helper()
	terminal, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		t.Skip("there are no pseudo terminals")
	}
	t.Cleanup(func() { terminal.Close() })
	fd := int(terminal.Fd())
	number, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	if err == nil {
		err = unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0)
	}
	if err != nil {
		t.Fatal(err)
	}
	screen, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	return terminal, screen
}
