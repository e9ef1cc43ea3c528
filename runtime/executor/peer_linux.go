package executor

import (
	"net"
	"syscall"

	"golang.org/x/sys/unix"
)

// killPeer kills the process that made the socket at the other end.
func killPeer(conn net.Conn) {
	uc, ok := conn.(*net.UnixConn)
	if !ok {
		return
	}
	raw, err := uc.SyscallConn()
	if err != nil {
		return
	}
	_ = raw.Control(func(fd uintptr) { // it fails for a connection that is closed
		if peer, err := unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED); err == nil && peer.Pid > 1 {
			_ = syscall.Kill(int(peer.Pid), syscall.SIGKILL) // it may have ended by itself
		}
	})
}
