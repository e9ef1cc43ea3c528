package main

import (
	"errors"
	"io/fs"

	"github.com/ax-scheduler/ax/store"
)

// isAbsent tells whether something is not there: a file, or the database.
func isAbsent(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, store.ErrNotFound)
}
