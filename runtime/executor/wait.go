package executor

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// Wait ends once a condition holds. Exactly one of File, HTTP, SQL and Until is set. It takes next to nothing meanwhile:
// one timer, and between two looks no file and no connection.
type Wait struct {
	File  string // absolute path, perhaps with *, ? and [ ] for one or more files
	HTTP  *HTTP  // answers with a status that is expected
	SQL   *SQL   // a query whose first row begins with a value that is neither nothing, false nor zero
	Until time.Time
	Poll  time.Duration // between two looks
}

// longestSleep bounds a sleep until a time, so that steps of the clock and a suspended machine are noticed.
const longestSleep = 30 * time.Second

func (w Wait) carryOut(ctx context.Context, _ *Executor, a *Attempt, o *Outcome) {
	a.inProcess(ctx, o, func(log io.Writer) error {
		if !w.Until.IsZero() {
			return w.until(ctx, log)
		}
		return w.poll(ctx, a, o, log)
	})
}

func (w *Wait) until(ctx context.Context, log io.Writer) error {
	say(log, "waits until %s", w.Until.Format(time.RFC3339Nano))
	for {
		left := time.Until(w.Until)
		if left <= 0 {
			return nil
		}
		if err := sleep(ctx, min(left, longestSleep)); err != nil {
			return err
		}
	}
}

// poll looks again and again. What is in the way is told when it changes.
func (w *Wait) poll(ctx context.Context, a *Attempt, o *Outcome, log io.Writer) error {
	told := ""
	for {
		why, err := w.look(ctx, a, o, log)
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err != nil:
			return err
		case why == "":
			return nil
		case why != told:
			say(log, "waits: %s", why)
			told = why
		}
		if err := sleep(ctx, w.Poll); err != nil {
			return err
		}
	}
}

// look tells why the condition does not hold; nothing where it does. The error is one that waiting does not mend.
func (w *Wait) look(ctx context.Context, a *Attempt, o *Outcome, log io.Writer) (why string, err error) {
	switch {
	case w.HTTP != nil:
		return w.answered(ctx, a, o, log)
	case w.SQL != nil:
		return w.holds(ctx, a, o, log)
	}
	found, err := present(w.File)
	if err != nil || found == "" {
		if why = w.File + " is not there"; err != nil {
			why = err.Error()
		}
		return why, nil
	}
	say(log, "%s is there", found)
	o.setOutputs(map[string]string{"file": found})
	return "", nil
}

// present gives the file of a path, or the first that a pattern fits; empty where there is none.
func present(path string) (string, error) {
	_, err := os.Stat(path)
	switch {
	case err == nil:
		return path, nil
	case !errors.Is(err, fs.ErrNotExist):
		return "", err
	case !strings.ContainsAny(path, "*?["):
		return "", nil
	}
	found, err := filepath.Glob(path)
	if err != nil {
		return "", fmt.Errorf("%q is no pattern for files: %w", path, err)
	}
	for _, f := range found {
		if _, err := os.Stat(f); err == nil {
			return f, nil
		}
	}
	return "", nil
}

func (w *Wait) answered(ctx context.Context, a *Attempt, o *Outcome, log io.Writer) (string, error) {
	client := newClient(a.Env)
	defer client.CloseIdleConnections()
	if w.Poll > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, max(w.Poll, longestSleep)) // one that hangs is not the last
		defer cancel()
	}
	r, err := w.HTTP.send(ctx, client, a)
	var refused notStarted
	switch {
	case errors.As(err, &refused):
		return "", err
	case err != nil:
		return err.Error(), nil
	case !w.HTTP.expects(r.status):
		return r.line, nil
	}
	say(log, "%s", r.line)
	r.keep(o)
	return "", nil
}

// holds asks a database. What is no query, or cannot be read, is an error; what is not there yet is waited for.
func (w *Wait) holds(ctx context.Context, a *Attempt, o *Outcome, log io.Writer) (string, error) {
	parts, err := w.SQL.statements()
	if err != nil {
		return "", err
	}
	if len(parts) != 1 || !parts[0].columns {
		return "", cannotStart("%s: a condition is one query: select …", w.SQL.Place(parts[0].spec.Start))
	}
	quiet := *w.SQL
	quiet.condition = true
	done, err := quiet.execute(ctx, a, io.Discard)
	var refused notStarted
	switch {
	case errors.As(err, &refused) || isSyntax(err):
		return "", err
	case err != nil:
		return err.Error(), nil
	case !done.last.holds():
		return "the query gives nothing that is true", nil
	}
	done.last.show(log, a.masked)
	o.setOutputs(done.outputs())
	return "", nil
}

// isSyntax tells whether a database could not read a statement.
func isSyntax(err error) bool {
	var lite sqliteFailure
	var pg postgresFailure
	return errors.As(err, &lite) && (strings.Contains(lite.text, "syntax error") || lite.text == "incomplete input") || errors.As(err, &pg) && pg.code == "42601"
}

// holds tells whether the first value of the first row is neither nothing, false nor zero.
func (r *table) holds() bool {
	if r.count == 0 || len(r.columns) == 0 {
		return false
	}
	text := cellText(r.first[0][0])
	if n, err := strconv.ParseFloat(text, 64); err == nil {
		return n != 0
	}
	return text != "" && text != "false" && text != "f"
}

// sleep waits, or gives the error of a context that is done before.
func sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
