package executor

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgconn/ctxwatch"
)

// postgresSession is a connection to PostgreSQL. Values go there and back as texts, so that the server alone decides on
// types.
type postgresSession struct{ conn *pgconn.PgConn }

// connectTimeout bounds the time for a connection where the address does not.
const connectTimeout = 30 * time.Second

// openPostgres connects to a server. What the address leaves open is taken from the PG… variables of the attempt.
func openPostgres(ctx context.Context, address string, env []string, log io.Writer) (session, error) {
	config, err := postgresConfig(address, env)
	if err != nil {
		return nil, cannotStart(`"db" cannot be used: %v`, withoutPassword(err))
	}
	config.OnNotice = func(_ *pgconn.PgConn, n *pgconn.Notice) {
		say(log, "%s: %s", strings.ToLower(n.Severity), n.Message)
	}
	// The server goes on with a statement whose client has gone: it is to be told.
	config.BuildContextWatcherHandler = func(conn *pgconn.PgConn) ctxwatch.Handler {
		return &pgconn.CancelRequestContextWatcherHandler{Conn: conn, DeadlineDelay: 5 * time.Second}
	}
	conn, err := pgconn.ConnectConfig(ctx, config)
	if err != nil {
		return nil, fmt.Errorf("no connection to database %q at %s:%d: %w", config.Database, config.Host, config.Port, withoutPassword(err))
	}
	return &postgresSession{conn}, nil
}

// postgresConfig reads an address. The library would take what is missing from the engine's own environment.
func postgresConfig(address string, env []string) (*pgconn.Config, error) {
	u, err := url.Parse(address)
	if err != nil {
		return nil, errors.New("it is no address like postgres://USER@HOST/NAME")
	}
	q := u.Query()
	add := func(key, variable, otherwise string) {
		if value := lookupEnv(env, variable); !q.Has(key) && value != "" {
			q.Set(key, value)
		} else if !q.Has(key) && otherwise != "" {
			q.Set(key, otherwise)
		}
	}
	if u.Hostname() == "" {
		add("host", "PGHOST", "localhost")
	}
	if u.Port() == "" {
		add("port", "PGPORT", "5432")
	}
	if u.User.Username() == "" {
		add("user", "PGUSER", lookupEnv(env, "USER"))
	}
	if _, has := u.User.Password(); !has {
		add("password", "PGPASSWORD", "")
	}
	add("sslmode", "PGSSLMODE", "prefer")
	add("sslrootcert", "PGSSLROOTCERT", "")
	add("application_name", "PGAPPNAME", "ax")
	u.RawQuery = q.Encode()
	config, err := pgconn.ParseConfig(u.String())
	if err != nil {
		return nil, err
	}
	if config.ConnectTimeout == 0 {
		config.ConnectTimeout = connectTimeout
	}
	return config, nil
}

// withoutPassword gives the reason alone: the library's texts have the address in them.
func withoutPassword(err error) error {
	var refused *pgconn.ConnectError
	var bad *pgconn.ParseConfigError
	switch {
	case errors.As(err, &refused):
		return errors.New(strings.TrimSpace(lastPart(refused.Unwrap())))
	case errors.As(err, &bad):
		return errors.New("it is no address like postgres://USER@HOST/NAME?sslmode=prefer")
	}
	return err
}

// lastPart gives the innermost of wrapped errors; of several that were tried, the last.
func lastPart(err error) string {
	lines := strings.Split(strings.TrimSpace(err.Error()), "\n")
	return lines[len(lines)-1]
}

func (s *postgresSession) close() {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	_ = s.conn.Close(ctx) // what is not committed is rolled back
}

func (s *postgresSession) open(context.Context) bool { return s.conn.TxStatus() != 'I' }

func (s *postgresSession) run(ctx context.Context, st rendered, to *table) (int64, error) {
	if st.spec.Verb() == "COPY" && (slices.Contains(st.spec.Words, "STDIN") || slices.Contains(st.spec.Words, "STDOUT")) {
		return 0, errors.New("copy from and to the client is not possible here: select and save, or copy a file of the server")
	}
	args := make([][]byte, len(st.args))
	for i, v := range st.args {
		args[i] = []byte(argumentText(v))
	}
	reader := s.conn.ExecParams(ctx, st.text, args, nil, nil, nil)
	fields := reader.FieldDescriptions()
	if len(fields) > 0 {
		columns := make([]string, len(fields))
		for i, f := range fields {
			columns[i] = f.Name
		}
		if err := to.begin(columns); err != nil {
			_, _ = reader.Close()
			return 0, err
		}
	}
	for reader.NextRow() {
		values := make([]any, len(fields))
		for i, text := range reader.Values() {
			if text != nil {
				values[i] = postgresValue(string(text), fields[i].DataTypeOID)
			}
		}
		if err := to.row(values); err != nil {
			_, _ = reader.Close()
			return 0, err
		}
	}
	tag, err := reader.Close()
	if err != nil {
		return 0, postgresError(err, st.text)
	}
	if tag.Insert() || tag.Update() || tag.Delete() || strings.HasPrefix(tag.String(), "MERGE") {
		return tag.RowsAffected(), nil
	}
	return 0, nil
}

func argumentText(v any) string {
	switch v := v.(type) {
	case int:
		return strconv.Itoa(v)
	case float64:
		return floatText(v)
	}
	return cellText(v)
}

// The types whose texts JSON has values for (pg_type.oid).
const (
	oidBool, oidJSON, oidJSONB                                          = 16, 114, 3802
	oidInt8, oidInt2, oidInt4, oidOID, oidFloat4, oidFloat8, oidNumeric = 20, 21, 23, 26, 700, 701, 1700
)

// postgresValue gives what a text of the server stands for.
func postgresValue(text string, oid uint32) any {
	switch oid {
	case oidBool:
		return text == "t"
	case oidJSON, oidJSONB:
		return json.RawMessage(text)
	case oidInt8, oidInt2, oidInt4, oidOID, oidFloat4, oidFloat8, oidNumeric:
		if json.Valid([]byte(text)) { // NaN is not
			return json.Number(text)
		}
	}
	return text
}

// postgresError puts what the server says of a statement into one line.
func postgresError(err error, text string) error {
	var e *pgconn.PgError
	if !errors.As(err, &e) {
		return err
	}
	failure := postgresFailure{e.Message, e.Code}
	for _, more := range []string{e.Detail, e.Hint} {
		if more != "" {
			failure.text += ": " + more
		}
	}
	at := int(e.Position) // in characters, from 1; 0 for none
	for i := range text {
		if at--; at == 0 {
			return placedError{failure, i}
		}
	}
	return failure
}

type postgresFailure struct{ text, code string }

func (f postgresFailure) Error() string { return f.text }
