package executor

import (
	"bufio"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// savedFile is a file that is there as a whole or not at all: it is written beside its place, and put there at the end.
type savedFile struct {
	path string
	file *os.File
	*bufio.Writer
}

// newSavedFile begins the file that is to be at an absolute path.
func (a *Attempt) newSavedFile(path string) (*savedFile, error) {
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		return nil, cannotStart("%q cannot be saved to: it is no ordinary file", path)
	}
	by := sha256.Sum256([]byte(a.mark()))
	beside := filepath.Join(filepath.Dir(path), fmt.Sprintf(".%s.%x.tmp", filepath.Base(path), by[:6]))
	file, err := os.OpenFile(beside, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o666)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, cannotStart("folder %q, to save %q to, does not exist: create it", filepath.Dir(path), filepath.Base(path))
	case err != nil:
		return nil, notStarted{err}
	}
	return &savedFile{path: path, file: file, Writer: bufio.NewWriter(file)}, nil
}

// put makes the file appear.
func (s *savedFile) put() error {
	err := errors.Join(s.Flush(), s.file.Sync(), s.file.Close())
	if err == nil {
		err = os.Rename(s.file.Name(), s.path)
	}
	if err != nil {
		_ = os.Remove(s.file.Name())
		return fmt.Errorf("save: %w", err)
	}
	return nil
}

// drop gives the file up; nothing happens after put.
func (s *savedFile) drop() {
	if s.file.Close() == nil {
		_ = os.Remove(s.file.Name())
	}
}

// restart forgets what was written so far.
func (s *savedFile) restart() error {
	s.Reset(s.file)
	if _, err := s.file.Seek(0, 0); err != nil {
		return err
	}
	return s.file.Truncate(0)
}
