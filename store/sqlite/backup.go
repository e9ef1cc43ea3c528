package sqlite

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/ax-scheduler/ax/store"
)

// Backup writes the database at path, as it stands at one moment, into a new
// file, whole or not at all. Others may go on writing to the database. It fails
// with fs.ErrExist where there is such a file already.
func Backup(ctx context.Context, path, to string) (err error) {
	path, err = place(path)
	if err != nil {
		return err
	}
	if to, err = filepath.Abs(to); err != nil {
		return fmt.Errorf("backup: %w", err)
	}
	switch version, err := look(ctx, path, false); {
	case err != nil:
		return explain(path, err)
	case version == fresh:
		return fmt.Errorf("database %q: %w: there is nothing to back up", path, store.ErrNotFound)
	}
	if _, err := os.Lstat(to); err == nil {
		return fmt.Errorf("backup %q: %w", to, fs.ErrExist)
	}
	part, err := os.MkdirTemp(filepath.Dir(to), ".ax-backup-") // SQLite wants to make the file itself
	if err != nil {
		return fmt.Errorf("backup: %w; name a file in a folder that is there and can be written", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(part)) }()
	copied := filepath.Join(part, "ax.db")
	err = copyInto(ctx, dsn(path, "mode", "rw", "_busy_timeout", "10000"), copied)
	if err != nil && errors.Is(explain(path, err), store.ErrReadOnly) && !live(path) && !logged(path) {
		// Its folder cannot be written, nobody has it open and nothing is missing.
		err = copyInto(ctx, dsn(path, "mode", "ro", "immutable", "1"), copied)
	}
	if err != nil {
		return explain(path, err)
	}
	if _, err := look(ctx, copied, true); err != nil {
		return fmt.Errorf("backup %q: %w", to, err)
	}
	if err := flush(copied); err != nil {
		return fmt.Errorf("backup %q: %w", to, err)
	}
	// A link, unlike a rename, replaces nothing that has come up meanwhile; not
	// every file system has them.
	if err := os.Link(copied, to); errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("backup: %w", err)
	} else if err != nil {
		if err := os.Rename(copied, to); err != nil {
			return fmt.Errorf("backup: %w", err)
		}
	}
	return flush(filepath.Dir(to))
}

func copyInto(ctx context.Context, dsn, to string) error {
	c, err := connect(dsn)
	if err != nil {
		return err
	}
	return errors.Join(c.exec(ctx, "VACUUM INTO '"+strings.ReplaceAll(to, "'", "''")+"'"), c.Close())
}

// flush has the disk keep a file, or the names in a folder.
func flush(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

// Check reads the whole database and tells whether it is sound, however large it
// is. It writes nothing.
func Check(ctx context.Context, path string) error {
	path, err := place(path)
	if err != nil {
		return err
	}
	if _, err := look(ctx, path, false); err != nil {
		return explain(path, err)
	}
	err = patient(ctx, func() error {
		c, err := connect(dsn(path, "mode", "ro", "_busy_timeout", "0"))
		if err != nil {
			return err
		}
		found, err := c.value(ctx, "PRAGMA integrity_check(1)")
		if err == nil && found != nil && found != "ok" {
			err = fmt.Errorf("%w: %v", store.ErrDamaged, found)
		}
		return errors.Join(err, c.Close())
	})
	if err != nil {
		return explain(path, err)
	}
	return nil
}
