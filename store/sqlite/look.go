package sqlite

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"github.com/ax-scheduler/ax/store"
)

// What stands at bytes 68 to 71 of a database of ax, by which file(1) and ax
// tell it from others: "axDB".
const applicationID = 0x61784442

// A database up to this size is checked as a whole when it is opened, which
// takes about 4 ms a MiB.
const checkedSize = 8 << 20

// fresh is the version of a database that is still to be created.
const fresh = 0

// look finds out what the file at path is before anything may change it: fresh,
// the version of a database of ax, or an error. deep asks for a check of the
// contents as well.
//
// Where no other file of SQLite stands beside it, nobody has the database open
// and nothing is left to recover, and SQLite can be told that it is immutable:
// then it takes no lock, creates no file and writes nothing. Otherwise it has to
// be read by the rules, but read only.
func look(ctx context.Context, path string, deep bool) (version int, err error) {
	fi, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fresh, nil
	case err != nil:
		return 0, err
	case fi.Size() == 0 && !logged(path):
		return fresh, nil
	case fi.Size() == 1:
		// which SQLite takes for an empty file
		return 0, fmt.Errorf("%w: it is one byte long", store.ErrDamaged)
	}
	deep = deep && fi.Size() <= checkedSize
	if !accompanied(path) {
		version, err := inspect(dsn(path, "mode", "ro", "immutable", "1"), deep)
		if err == nil || !accompanied(path) {
			return version, err
		}
		// somebody has begun to write in the meantime
	}
	err = patient(ctx, func() error {
		version, err = inspect(dsn(path, "mode", "ro", "_busy_timeout", "0"), deep)
		return err
	})
	if err == nil || damage(err) || code(err) == 0 {
		return version, err
	}
	// It cannot be read just now, for something is to be recovered first. What
	// is half-written looks damaged, so only what it says of itself counts.
	version, err = inspect(dsn(path, "mode", "ro", "immutable", "1"), false)
	if code(err) != 0 {
		return fresh, nil
	}
	return version, err
}

// setAside renames a log that belongs to a database which stood here before: where a
// backup was put in the place of one whose engine had been killed, SQLite would add
// the last changes of that to it. A backup is not in WAL mode, and what is has said
// so in its header before its log had anything in it.
func setAside(path string) error {
	log := path + "-wal"
	fi, err := os.Stat(log)
	if err != nil || fi.Size() == 0 {
		return nil
	}
	c, err := connect(dsn(path, "mode", "ro", "immutable", "1"))
	if err != nil {
		return nil // look says what it is
	}
	mode, err := c.value(context.Background(), "SELECT hex(substr(data, 19, 2)) FROM sqlite_dbpage WHERE pgno = 1")
	if err := errors.Join(err, c.Close()); err != nil || mode != "0101" {
		return nil
	}
	if err := os.Rename(log, log+"."+fi.ModTime().UTC().Format("20060102T150405")); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%s belongs to the database that was here before: remove it: %w", log, err)
	}
	return nil
}

// accompanied tells whether a log or an index of it stands beside the file.
func accompanied(path string) bool {
	return exists(path+"-wal") || exists(path+"-shm") || exists(path+"-journal")
}

// live tells whether somebody may have the database open.
func live(path string) bool { return exists(path+"-wal") && exists(path+"-shm") }

// logged tells whether there is a log with something in it.
func logged(path string) bool {
	for _, ext := range []string{"-wal", "-journal"} {
		if fi, err := os.Stat(path + ext); err == nil && fi.Size() > 0 {
			return true
		}
	}
	return false
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// inspect opens a database and tells what it is.
func inspect(dsn string, deep bool) (version int, err error) {
	c, err := connect(dsn)
	if err != nil {
		return 0, err
	}
	defer func() {
		if closed := c.Close(); err == nil {
			err = closed
		}
	}()
	version, err = identify(c)
	if err != nil || !deep || version == fresh {
		return version, err
	}
	found, err := c.value(context.Background(), "PRAGMA quick_check(1)")
	if err == nil && found != "ok" {
		err = fmt.Errorf("%w: %s", store.ErrDamaged, strings.Join(strings.Fields(fmt.Sprint(found)), " "))
	}
	return version, err
}

// identify gives the version of a database, fresh if there is nothing in it,
// and an error if it is not one that this program may use.
func identify(c conn) (version int, err error) {
	ctx := context.Background()
	id, err := c.number(ctx, "PRAGMA application_id")
	if err != nil {
		return 0, err
	}
	if version, err = c.number(ctx, "PRAGMA user_version"); err != nil {
		return 0, err
	}
	// reads the whole schema
	tables, err := c.number(ctx, "SELECT count(*) FROM sqlite_schema")
	switch {
	case id != applicationID && id != 0, id == 0 && (version != 0 || tables != 0):
		return 0, fmt.Errorf("%w: it belongs to another program (application id %#x)", store.ErrForeign, uint32(id))
	case err != nil:
		return 0, err
	case id == 0:
		return fresh, nil
	case version == 0 || tables == 0:
		return 0, fmt.Errorf("%w: it has no version or no tables", store.ErrDamaged)
	}
	return version, known(version)
}

// known refuses versions that this program does not know.
func known(version int) error {
	if version > latest {
		return fmt.Errorf("%w: its format is %d, and this ax knows those up to %d", store.ErrNewer, version, latest)
	}
	return nil
}
