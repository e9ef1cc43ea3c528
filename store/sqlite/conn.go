package sqlite

import (
	"context"
	"database/sql/driver"
	"errors"
	"io"
	"net/url"
	"path/filepath"

	modernc "modernc.org/sqlite"
)

// conn is a connection of the driver without the pool of database/sql: for the
// writer, which is one goroutine, and for what happens before there is a pool.
type conn struct{ driver.Conn }

// dsn names a file for the driver, with parameters in pairs.
func dsn(path string, params ...string) string {
	v := url.Values{}
	for i := 0; i < len(params); i += 2 {
		v.Add(params[i], params[i+1])
	}
	// with file: in front, SQLite takes mode and immutable as parameters
	u := url.URL{Scheme: "file", Path: filepath.ToSlash(path), RawQuery: v.Encode()}
	return u.String()
}

func connect(dsn string) (conn, error) {
	c, err := new(modernc.Driver).Open(dsn)
	return conn{c}, err
}

// exec runs one or several statements.
func (c conn) exec(ctx context.Context, sql string) error {
	_, err := c.Conn.(driver.ExecerContext).ExecContext(ctx, sql, nil)
	return err
}

// value gives the first value of the first row, nil if there is none.
func (c conn) value(ctx context.Context, sql string) (any, error) {
	rows, err := c.Conn.(driver.QueryerContext).QueryContext(ctx, sql, nil)
	if err != nil {
		return nil, err
	}
	return first(rows)
}

func first(rows driver.Rows) (any, error) {
	row := make([]driver.Value, len(rows.Columns()))
	err := rows.Next(row)
	if errors.Is(err, io.EOF) {
		row[0], err = nil, nil
	}
	if closed := rows.Close(); err == nil {
		err = closed
	}
	if err != nil {
		return nil, err
	}
	return row[0], nil
}

// number is value for a whole number.
func (c conn) number(ctx context.Context, sql string) (int, error) {
	v, err := c.value(ctx, sql)
	n, _ := v.(int64)
	return int(n), err
}

// writable tells whether SQLite could open the file for writing; where it may
// only be read it is opened all the same.
func (c conn) writable() (bool, error) {
	no, err := c.Conn.(interface{ IsReadOnly(string) (bool, error) }).IsReadOnly("main")
	return !no, err
}
