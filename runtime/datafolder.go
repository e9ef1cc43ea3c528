package runtime

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"
)

// MakeData makes a data folder, or a folder in it, where there is none. An error
// says what to do.
func MakeData(dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return remedied("make the data folder", err)
	}
	return nil
}

// remedied says what was being tried in the data folder, why it could not be done,
// and what helps.
func remedied(trying string, err error) error {
	remedy := ""
	switch {
	case errors.Is(err, fs.ErrPermission), errors.Is(err, syscall.EROFS):
		remedy = "; see to its permissions, and that the file system is not mounted read-only, or name another folder with --data"
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		remedy = "; free some space, or name another folder with --data"
	}
	return fmt.Errorf("%s: %w%s", trying, err, remedy)
}
