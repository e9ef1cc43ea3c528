//go:build unix

package executor

import (
	"fmt"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// LeaveTerminal gives up the controlling terminal of this process, so that no task has one: a program that wants to ask
// for a password then fails with a message, where it would otherwise be stopped by SIGTTIN for ever, being in the
// background. Keys such as ctrl-C still reach this process, and its own files stay open. The main function of an engine
// that may be started at a terminal calls it once. There is nothing to do without a terminal, and nothing is done in the
// leader of a session, which would hang up on all of it.
func LeaveTerminal() error {
	tty, err := os.OpenFile("/dev/tty", os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		return nil // there is none
	}
	defer tty.Close()
	if leader, err := unix.Getsid(0); err != nil || leader == os.Getpid() {
		return err
	}
	if err := unix.IoctlSetInt(int(tty.Fd()), unix.TIOCNOTTY, 0); err != nil {
		return fmt.Errorf("leave the terminal: %w", err)
	}
	return nil
}
