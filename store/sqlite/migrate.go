package sqlite

import (
	"context"
	"embed"
	"fmt"
	"io/fs"
	"strings"

	modernc "modernc.org/sqlite"

	"github.com/ax-scheduler/ax/store"
)

//go:embed migrations/*.sql
var migrations embed.FS

// latest is the version of databases that this program writes: the number of
// the last migration. OpenReader reads older ones as they are: what a migration
// has added since is not asked for where nothing can be written.
const latest = 5

// migration gives the statements that lead from version n-1 to n.
func migration(n int) (string, error) {
	found, err := fs.Glob(migrations, fmt.Sprintf("migrations/%04d_*.sql", n))
	if err != nil || len(found) != 1 {
		return "", fmt.Errorf("migration %d is not there exactly once: %q", n, found)
	}
	text, err := migrations.ReadFile(found[0])
	return string(text), err
}

// openWriter opens the connection for writing, brings the database up to date
// and sets it up. version is what look said; it is asked for again, for another
// process may have been quicker.
func openWriter(ctx context.Context, path string, version int, opts Options) (c conn, err error) {
	mode := "rw"
	if version == fresh {
		mode = "rwc"
	}
	// What fsync(2) confirms beyond fdatasync(2) is the time of the last change: on
	// a file system with a journal a second write, for a figure that nobody reads.
	// Where the system has no fdatasync it stays with the former.
	_, _ = modernc.Fdatasync(true)
	c, err = connect(dsn(path, "mode", mode, "_busy_timeout", "0"))
	if err != nil {
		return c, err
	}
	defer func() {
		if err != nil {
			c.Close()
		}
	}()
	switch ok, err := c.writable(); {
	case err != nil:
		return c, err
	case !ok:
		return c, store.ErrReadOnly
	}
	return c, patient(ctx, func() error { return prepare(c, opts) })
}

func prepare(c conn, opts Options) error {
	ctx := context.Background()
	version, err := identify(c)
	if err == nil && version == fresh {
		err = c.exec(ctx, "PRAGMA auto_vacuum = INCREMENTAL") // possible only before there is a first page
	}
	if err == nil && version != fresh && version < latest && opts.MayMigrate != nil {
		err = opts.MayMigrate()
	}
	if err == nil && version < latest {
		err = migrate(ctx, c)
	}
	if err != nil {
		return err
	}
	if err := settle(ctx, c, opts); err != nil {
		return err
	}
	return mayWrite(ctx, c)
}

// migrate does in one transaction all that leads to the latest version. A new
// database is not in WAL mode yet, so that what it says of itself stands in the
// file from the beginning and is seen without reading a log.
func migrate(ctx context.Context, c conn) (err error) {
	if err := c.exec(ctx, "BEGIN IMMEDIATE"); err != nil {
		return err
	}
	defer func() {
		if err != nil {
			c.exec(ctx, "ROLLBACK") // fails where the error has ended the transaction
		}
	}()
	version, err := identify(c)
	if err != nil {
		return err
	}
	for n := version + 1; n <= latest; n++ {
		text, err := migration(n)
		if err != nil {
			return err
		}
		if err := c.exec(ctx, text); err != nil {
			return fmt.Errorf("migration %d: %w", n, err)
		}
	}
	if err := c.exec(ctx, fmt.Sprintf("PRAGMA application_id = %d; PRAGMA user_version = %d", applicationID, latest)); err != nil {
		return err
	}
	if err := c.exec(ctx, "COMMIT"); err != nil {
		return err
	}
	if version == fresh {
		return nil
	}
	return c.exec(ctx, "PRAGMA wal_checkpoint(TRUNCATE)")
}

// settle puts a connection into the state that the writer needs, and reads it
// back: SQLite passes over what it does not know or cannot do.
func settle(ctx context.Context, c conn, opts Options) error {
	synchronous := map[Synchronous]string{Full: "2", Normal: "1"}[opts.Synchronous]
	for _, p := range []struct{ name, value string }{
		{"journal_mode", "wal"},
		{"synchronous", synchronous},
		{"busy_timeout", "0"},          // waiting is done in Go, where it can be ended
		{"temp_store", "2"},            // savepoints keep old pages: in memory
		{"cache_size", "-16000"},       // KiB
		{"wal_autocheckpoint", "4000"}, // pages: fewer checkpoints write fewer pages twice
	} {
		if err := c.exec(ctx, "PRAGMA "+p.name+" = "+p.value); err != nil {
			return fmt.Errorf("set %s to %s: %w", p.name, p.value, err)
		}
		switch got, err := c.value(ctx, "PRAGMA "+p.name); {
		case err != nil:
			return fmt.Errorf("read %s: %w", p.name, err)
		case !strings.EqualFold(fmt.Sprint(got), p.value):
			return fmt.Errorf("%s is %v and cannot be set to %s here", p.name, got, p.value)
		}
	}
	return nil
}

// mayWrite sees to it that the log can be written too, which SQLite finds out
// only when a transaction begins. While one of another process is under way it
// can be.
func mayWrite(ctx context.Context, c conn) error {
	err := c.exec(ctx, "BEGIN IMMEDIATE")
	switch {
	case err == nil:
		return c.exec(ctx, "ROLLBACK")
	case busy(err):
		return nil
	}
	return err
}
