// Package sqlite keeps the records of package store in one SQLite file.
//
// One connection writes, driven by one goroutine that puts all batches that
// wait into one transaction (group commit); a few connections that cannot write
// read beside it. The log is a write-ahead log and, unless asked otherwise,
// synced before Commit returns.
//
// The package must not open the database file by other means than SQLite:
// closing any descriptor of a file drops the locks that the process holds on
// it. For the same reason nobody else may, within the process.
package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"github.com/ax-scheduler/ax/store"
)

// Synchronous says when what was committed survives a power cut. A crash of the
// process loses nothing either way.
type Synchronous uint8

// The ways to commit.
const (
	Full   Synchronous = iota // Commit returns when the batch is on disk
	Normal                    // the last batches before a power cut may be lost, the database stays sound
)

// Options for Open. The zero value is the right choice for an engine.
type Options struct {
	Synchronous Synchronous
	// BusyTimeout is how long Open waits for a lock that another process holds;
	// 5 s if 0. Commit waits until its context ends, and so does a read, but for
	// 30 s at most.
	BusyTimeout time.Duration
	// MayMigrate is asked before a database that an older ax has written is
	// brought up to date: an ax of that version which has it open would go on
	// writing in the old way. Its error is that of Open. nil for no objection.
	MayMigrate func() error
}

const (
	defaultBusyTimeout = 5 * time.Second
	defaultReadLimit   = 30 * time.Second
	readConns          = 4
)

// Store is a store.Store in a file.
type Store struct {
	path    string
	version atomic.Int32 // of the database when it was last looked at
	reads   *sql.DB
	queries sync.Map // text → *sql.Stmt of reads
	writer  *writer  // nil when opened for reading
	close   func() error
	// limit is how long a read may take: it keeps the log from being emptied.
	limit time.Duration
}

var _ store.Store = (*Store)(nil)

// Open opens the database at path for reading and writing, and creates it,
// and its folder (mode 0700), where there is none or an empty file. Several
// processes may have it open.
//
// A file that is not a sound database of ax, or one of a newer version, is not
// touched: the error wraps store.ErrDamaged, store.ErrForeign or store.ErrNewer
// and says what to do. A database up to 8 MiB is checked as a whole, of a larger
// one only the length, the header and the schema; damage elsewhere is found when
// it is read. Other errors wrap store.ErrReadOnly or store.ErrFull where they
// apply.
func Open(path string, opts Options) (*Store, error) {
	if opts.BusyTimeout <= 0 {
		opts.BusyTimeout = defaultBusyTimeout
	}
	path, err := place(path)
	if err != nil {
		return nil, err
	}
	s, err := openBoth(path, opts)
	if err != nil {
		return nil, explain(path, err)
	}
	return s, nil
}

func openBoth(path string, opts Options) (*Store, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(context.Background(), opts.BusyTimeout)
	defer cancel()
	version, err := look(ctx, path, true)
	if err != nil {
		return nil, err
	}
	c, err := openWriter(ctx, path, version, opts)
	if err != nil {
		return nil, err
	}
	s, err := openReads(ctx, path, readDSN(path))
	if err != nil {
		return nil, errors.Join(err, c.Close())
	}
	if s.writer, err = startWriter(path, c); err != nil {
		return nil, errors.Join(err, s.reads.Close(), c.Close())
	}
	s.close = sync.OnceValue(func() error {
		// the last connection to close empties and removes the log
		return errors.Join(s.reads.Close(), s.writer.stop())
	})
	return s, nil
}

// OpenReader opens the database at path for reading, beside an engine or
// without one; Commit then gives store.ErrReadOnly. Where there is no database,
// or an empty file, the error wraps store.ErrNotFound; nothing is created. It
// works on a read-only file system too, unless the last engine left work
// behind there that only a writer can finish.
func OpenReader(path string) (*Store, error) {
	path, err := place(path)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(context.Background(), defaultBusyTimeout)
	defer cancel()
	version, err := look(ctx, path, false)
	switch {
	case err != nil:
		return nil, explain(path, err)
	case version == fresh:
		return nil, fmt.Errorf("database %q: %w", path, store.ErrNotFound)
	}
	s, err := openReads(ctx, path, readDSN(path))
	if err != nil && errors.Is(explain(path, err), store.ErrReadOnly) {
		s, err = openUnwritable(ctx, path, err)
	}
	if err != nil {
		return nil, explain(path, err)
	}
	s.close = sync.OnceValue(s.reads.Close)
	return s, nil
}

// openUnwritable opens a database for reading where SQLite could not make the
// files that its readers share, for a reason.
func openUnwritable(ctx context.Context, path string, reason error) (*Store, error) {
	switch {
	case live(path):
		return nil, reason
	case logged(path):
		return nil, fmt.Errorf("%w: its last changes stand in a log beside it, which can be read only where files can be written", store.ErrReadOnly)
	}
	// nobody has it open and nothing is missing: it can be read without locks
	return openReads(ctx, path, dsn(path, "mode", "ro", "immutable", "1"))
}

// place gives the path as SQLite will see it, with no log beside it that is another
// database's.
func place(path string) (string, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return "", fmt.Errorf("database %q: %w", path, err)
	}
	switch real, err := filepath.EvalSymlinks(abs); {
	case err == nil:
		abs = real // SQLite puts its other files beside the file, not the link
	case !errors.Is(err, fs.ErrNotExist):
		return "", explain(abs, err)
	}
	if fi, err := os.Stat(abs); err == nil && !fi.Mode().IsRegular() {
		return "", explain(abs, fmt.Errorf("%w: it is a folder or a device", store.ErrForeign))
	}
	if err := setAside(abs); err != nil {
		return "", explain(abs, err)
	}
	return abs, nil
}

func readDSN(path string) string {
	// not mode=ro: the last connection to close could then not tidy up
	return dsn(path, "mode", "rw", "_busy_timeout", "0", "_query_only", "1")
}

func openReads(ctx context.Context, path, dsn string) (*Store, error) {
	db, err := sql.Open("sqlite", dsn)
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(readConns)
	db.SetMaxIdleConns(readConns)
	s := &Store{path: path, reads: db, limit: defaultReadLimit}
	var version int
	err = patient(ctx, func() error { return db.QueryRow("PRAGMA user_version").Scan(&version) })
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	// look saw the file without its log, perhaps
	err = known(version)
	if version == fresh { // its making was cut off, and has been taken back now
		err = fmt.Errorf("database %q: %w", path, store.ErrNotFound)
	}
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	s.version.Store(int32(version))
	return s, nil
}

// has tells whether the database is of a version or a later one. One that was opened
// for reading may have been brought up to date since.
func (s *Store) has(ctx context.Context, version int32) bool {
	if s.version.Load() >= version {
		return true
	}
	var now int32
	if err := s.reads.QueryRowContext(ctx, "PRAGMA user_version").Scan(&now); err != nil {
		return false // what is asked for next will tell
	}
	s.version.Store(now)
	return now >= version
}

// Close waits for the batches that are being written, empties the log and
// closes the file. Batches that still wait for another process's lock fail.
func (s *Store) Close() error {
	if err := s.close(); err != nil {
		return explain(s.path, err)
	}
	return nil
}

// Commit writes a batch; see store.Store. While another process holds the lock
// it goes on trying. It never gives up a batch whose writing has begun, so an
// error means that nothing was written, unless it is the disk's own and a crash
// follows before the next commit.
func (s *Store) Commit(ctx context.Context, b *store.Batch) error {
	if s.writer == nil {
		return fmt.Errorf("database %q: %w: it was opened for reading", s.path, store.ErrReadOnly)
	}
	return s.writer.commit(ctx, b)
}
