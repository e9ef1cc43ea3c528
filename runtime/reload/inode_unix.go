package reload

import (
	"io/fs"
	"syscall"
)

// inodeOf gives the number of a file, which a rename over it changes.
func inodeOf(info fs.FileInfo) uint64 {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return uint64(st.Ino)
	}
	return 0
}
