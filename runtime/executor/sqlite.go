package executor

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"modernc.org/sqlite"
)

// memory is the path of a database that is gone after the attempt.
const memory = ":memory:"

// sqliteSession is a connection to a database of SQLite.
type sqliteSession struct {
	db   *sql.DB
	conn *sql.Conn
}

// openSQLite opens a database file, and makes it where told to. A lock of others is waited for, a minute at most.
func openSQLite(ctx context.Context, path string, create bool) (session, error) {
	name := path
	if path != memory {
		if info, err := os.Stat(filepath.Dir(path)); err != nil || !info.IsDir() {
			return nil, cannotStart("folder %q of the database does not exist: create it, or correct \"db\"", filepath.Dir(path))
		}
		mode := "rw"
		if create {
			mode = "rwc"
		}
		// The URL keeps apart what belongs to the path and what to the options.
		name = (&url.URL{Scheme: "file", Path: path, RawQuery: "mode=" + mode + "&_busy_timeout=60000"}).String()
	}
	db, err := sql.Open("sqlite", name)
	if err != nil {
		return nil, notStarted{err}
	}
	conn, err := db.Conn(ctx)
	if err == nil {
		_, err = conn.ExecContext(ctx, "select count(*) from sqlite_schema") // it is opened only now
	}
	if err != nil {
		_ = db.Close()
		if _, gone := os.Stat(path); errors.Is(gone, fs.ErrNotExist) && path != memory {
			return nil, fmt.Errorf("database %q does not exist", path)
		}
		return nil, fmt.Errorf("database %q: %w", path, sqliteError(err))
	}
	return &sqliteSession{db, conn}, nil
}

func (s *sqliteSession) close() {
	_ = s.conn.Close() // what is not committed is rolled back
	_ = s.db.Close()
}

func (s *sqliteSession) open(ctx context.Context) bool {
	_, err := s.conn.ExecContext(ctx, "rollback")
	return err == nil
}

func (s *sqliteSession) run(ctx context.Context, st rendered, to *table) (int64, error) {
	if st.text == "begin" {
		st.text = "begin immediate" // a lock that is taken later could not be waited for
	}
	if st.columns {
		return 0, s.query(ctx, st, to)
	}
	before, err := s.changes(ctx)
	if err == nil {
		err = s.rows(ctx, st.text, st.args, to)
	}
	if err != nil {
		return 0, sqliteError(err)
	}
	after, err := s.changes(ctx)
	if err != nil || after.total == before.total {
		return 0, sqliteError(err)
	}
	return after.last, nil
}

// query gathers the rows of a query in a table of its own first. A statement can be interrupted, the reading of its rows
// cannot; and the driver would make times of the texts in columns of other tables.
func (s *sqliteSession) query(ctx context.Context, st rendered, to *table) error {
	if _, err := s.conn.ExecContext(ctx, "create temp table ax_rows as "+st.text, st.args...); err != nil {
		return sqliteError(err)
	}
	err := s.rows(ctx, "select * from temp.ax_rows", nil, to)
	if _, drop := s.conn.ExecContext(ctx, "drop table temp.ax_rows"); err == nil {
		err = drop
	}
	return sqliteError(err)
}

// rows runs a statement and hands on what it gives.
func (s *sqliteSession) rows(ctx context.Context, text string, args []any, to *table) error {
	rows, err := s.conn.QueryContext(ctx, text, args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	columns, err := rows.Columns()
	if err != nil {
		return err
	}
	if len(columns) > 0 {
		if err := to.begin(columns); err != nil {
			return err
		}
	}
	for rows.Next() {
		values, to1 := make([]any, len(columns)), make([]any, len(columns))
		for i := range values {
			to1[i] = &values[i]
		}
		if err := rows.Scan(to1...); err != nil {
			return err
		}
		if err := to.row(values); err != nil {
			return err
		}
	}
	return errors.Join(rows.Err(), rows.Close())
}

// changes are the counts of changed rows: by the last statement that changes any, and by all of them.
type changes struct{ last, total int64 }

func (s *sqliteSession) changes(ctx context.Context) (c changes, err error) {
	err = s.conn.QueryRowContext(ctx, "select changes(), total_changes()").Scan(&c.last, &c.total)
	return c, err
}

// sqliteError leaves out what the driver puts around the words of SQLite.
func sqliteError(err error) error {
	var e *sqlite.Error
	if !errors.As(err, &e) {
		return err
	}
	text := strings.TrimSuffix(e.Error(), fmt.Sprintf(" (%d)", e.Code()))
	return sqliteFailure{strings.TrimPrefix(text, "SQL logic error: "), e.Code()}
}

type sqliteFailure struct {
	text string
	code int
}

func (f sqliteFailure) Error() string { return f.text }
