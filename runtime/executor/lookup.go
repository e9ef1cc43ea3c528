package executor

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

// lookProgram finds the file to execute as a shell in dir with that PATH would: a name with a slash is a path, any other
// is looked for in the folders of path. What it returns is absolute or relative to dir, for that is where it is executed.
// The error is fs.ErrNotExist, or fs.ErrPermission if there are only files that may not be executed.
func lookProgram(name, dir, path string) (string, error) {
	if strings.Contains(name, "/") {
		return name, executable(name, dir)
	}
	failure := fs.ErrNotExist
	for _, folder := range filepath.SplitList(path) {
		file := filepath.Join(folder, name)
		if !filepath.IsAbs(file) {
			file = "./" + file
		}
		err := executable(file, dir)
		if err == nil {
			return file, nil
		}
		if errors.Is(err, fs.ErrPermission) {
			failure = fs.ErrPermission
		}
	}
	return "", failure
}

func executable(file, dir string) error {
	if !filepath.IsAbs(file) {
		file = filepath.Join(dir, file)
	}
	if err := unix.Faccessat(unix.AT_FDCWD, file, unix.X_OK, unix.AT_EACCESS); err != nil {
		return err
	}
	info, err := os.Stat(file)
	if err != nil {
		return err
	}
	if info.IsDir() {
		return fs.ErrPermission
	}
	return nil
}
