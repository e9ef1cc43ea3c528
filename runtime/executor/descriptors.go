package executor

import (
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// sealDescriptors makes everything but standard input, output and error close at the next exec. What Go opens does so
// anyway; this is for what the engine was started with, and what other libraries open.
func sealDescriptors() {
	if !closeRangeOnExec() {
		closeEachOnExec()
	}
}

func closeEachOnExec() {
	folder, err := os.Open("/dev/fd")
	if err != nil {
		return
	}
	defer folder.Close()
	names, _ := folder.Readdirnames(-1)
	for _, name := range names {
		if fd, err := strconv.Atoi(name); err == nil && fd > 2 {
			unix.CloseOnExec(fd)
		}
	}
}
