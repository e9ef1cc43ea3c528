package executor

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/ax-scheduler/ax/dsl"
	"github.com/ax-scheduler/ax/dsl/statement"
)

// SQL is a statement or a script against a database.
type SQL struct {
	DB   string // sqlite:PATH with an absolute path or :memory:, or postgres://…
	Text string
	// Named are the values of :name, Inserted those of the ${{ … }} in Text, in order: strings, ints, float64s and bools.
	// Where Inserted is nil, Text has none.
	Named    map[string]any
	Inserted []any
	Place    func(offset int) string // where a byte of Text stands, as "file:line:column"
	Save     string                  // absolute path of a .csv or .json file for the rows; empty for none

	condition bool // the rows are of use only if they hold, and a database that is not there is not made
}

// session is a connection to a database, for one attempt.
type session interface {
	// run carries out one statement and hands its rows on. changed is how many rows it has inserted, updated or deleted.
	run(ctx context.Context, st rendered, to *table) (changed int64, err error)
	// open tells whether a transaction is open.
	open(ctx context.Context) bool
	close()
}

// rendered is a statement as the database gets it.
type rendered struct {
	text    string
	args    []any
	columns bool // it is a query and changes nothing
	spec    *statement.Statement
	back    []shift
}

// shift says that from one offset of a rendered text on, the bytes stand in the original at another.
type shift struct{ at, original int }

// original gives the offset in the text of the task for one in the rendered statement.
func (r *rendered) original(offset int) int {
	at := r.spec.Start
	for _, s := range r.back {
		if s.at > offset {
			break
		}
		at = s.original + offset - s.at
	}
	return min(at, r.spec.End)
}

// placedError is an error of a statement that knows where in it.
type placedError struct {
	error
	offset int // in the rendered statement
}

func (e placedError) Unwrap() error { return e.error }

func (s SQL) carryOut(ctx context.Context, _ *Executor, a *Attempt, o *Outcome) {
	a.inProcess(ctx, o, func(log io.Writer) error {
		done, err := s.execute(ctx, a, log)
		if err != nil {
			return err
		}
		o.setOutputs(done.outputs())
		return nil
	})
}

// executed is what came of a script.
type executed struct {
	last    *table // of the last statement that gives rows; nil if none does
	changed int64
}

func (e *executed) outputs() map[string]string {
	out := map[string]string{"changed": strconv.FormatInt(e.changed, 10), "rows": "0"}
	if e.last != nil {
		out["rows"] = strconv.Itoa(e.last.count)
		e.last.outputs(out)
	}
	return out
}

// execute carries out the script, in one transaction where it has several statements and does not deal with transactions
// itself.
func (s *SQL) execute(ctx context.Context, a *Attempt, log io.Writer) (*executed, error) {
	statements, err := s.statements()
	if err != nil {
		return nil, err
	}
	var file *savedFile
	if s.Save != "" {
		if file, err = a.newSavedFile(s.Save); err != nil {
			return nil, err
		}
		defer file.drop()
	}
	db, err := s.connect(ctx, log, a.Env)
	if err != nil {
		return nil, err
	}
	defer db.close()
	done, err := s.script(ctx, db, statements, file, a, log)
	if err != nil {
		return nil, err
	}
	if file != nil && !(s.condition && !done.last.holds()) {
		if done.last == nil {
			return nil, errors.New("there are no rows to save: no statement gives any")
		}
		if err := file.put(); err != nil {
			return nil, err
		}
		say(log, "saved to %s", s.Save)
	}
	return done, nil
}

// script runs the statements and settles the transaction.
func (s *SQL) script(ctx context.Context, db session, statements []rendered, file *savedFile, a *Attempt, log io.Writer) (*executed, error) {
	done := &executed{}
	begin := transaction(statements)
	for i := range statements {
		st := &statements[i]
		if i == begin {
			if err := plainly(ctx, db, "begin"); err != nil {
				return nil, err
			}
		}
		rows, changed, err := s.one(ctx, db, st, file)
		if err != nil {
			return nil, err
		}
		done.changed += changed
		if rows.columns != nil {
			done.last = rows
		}
		if several := len(statements) > 1; several {
			say(log, "%s: %s", s.Place(st.spec.Start), strings.ToLower(st.spec.Verb()))
		} else if rows.columns == nil && !st.changes() {
			say(log, "%s: done", strings.ToLower(st.spec.Verb()))
		}
		if rows.columns != nil {
			rows.show(log, a.masked)
		}
		if st.changes() || changed > 0 {
			say(log, "(%s changed)", counted(int(changed), "row"))
		}
	}
	if begin < len(statements) {
		return done, plainly(ctx, db, "commit")
	}
	if db.open(ctx) {
		return nil, errors.New("the script leaves its transaction open, so that it was rolled back: end it with commit")
	}
	return done, nil
}

// transaction gives before which statement a transaction is to begin; behind the last for none. What sets up the
// connection comes before it, for within one it would be refused or have no effect.
func transaction(statements []rendered) int {
	first, setup := 0, []string{"PRAGMA", "ATTACH", "SET"}
	for first < len(statements) && slices.Contains(setup, statements[first].spec.Verb()) {
		first++
	}
	own := func(r rendered) bool {
		s := r.spec
		switch s.Verb() {
		case "BEGIN", "START", "COMMIT", "END", "ABORT":
			return true
		case "ROLLBACK":
			return !slices.Contains(s.Words, "TO")
		}
		return false
	}
	if len(statements)-first < 2 || slices.ContainsFunc(statements, own) {
		return len(statements)
	}
	return first
}

// plainly runs a statement of our own.
func plainly(ctx context.Context, db session, text string) error {
	_, err := db.run(ctx, rendered{text: text, spec: &statement.Statement{}}, &table{})
	return err
}

// one runs one statement. Its rows go to the file, in place of those of the one before.
func (s *SQL) one(ctx context.Context, db session, st *rendered, file *savedFile) (*table, int64, error) {
	r := &table{}
	if file != nil {
		r.out = func() (rowWriter, error) {
			if strings.HasSuffix(s.Save, ".json") {
				return newJSON(file), file.restart()
			}
			return newCSV(file), file.restart()
		}
	}
	changed, err := db.run(ctx, *st, r)
	if err == nil && r.to != nil {
		err = r.to.end()
	}
	if err != nil {
		at := st.spec.Start
		var placed placedError
		if errors.As(err, &placed) {
			at = st.original(placed.offset)
		}
		return nil, 0, fmt.Errorf("%s: %w", s.Place(at), err)
	}
	return r, changed, nil
}

func (r *rendered) changes() bool {
	return slices.Contains([]string{"INSERT", "UPDATE", "DELETE", "REPLACE", "MERGE"}, r.spec.Verb())
}

// connect opens the database.
func (s *SQL) connect(ctx context.Context, log io.Writer, env []string) (session, error) {
	if path, ok := strings.CutPrefix(s.DB, "sqlite:"); ok {
		return openSQLite(ctx, path, !s.condition)
	}
	return openPostgres(ctx, s.DB, env, log)
}

// statements takes the text apart and gives every place its value.
func (s *SQL) statements() ([]rendered, error) {
	d := statement.DialectOf(s.DB)
	if d == statement.Any {
		return nil, cannotStart(`"db" names no database: it begins with sqlite: or postgres://`)
	}
	parts, faults := statement.Split(s.Text, d, s.Inserted != nil)
	if len(faults) > 0 {
		return nil, cannotStart("%s: %s: %s", s.Place(faults[0].Offset), faults[0].Message, faults[0].Hint)
	}
	if len(parts) == 0 {
		return nil, cannotStart("%s: there is no statement", s.Place(0))
	}
	all := make([]rendered, len(parts))
	left := s.Inserted
	for i := range parts {
		var err error
		if all[i], left, err = s.render(&parts[i], d, left); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// render replaces the marks of a statement by placeholders, and gives the inserted values that are left.
func (s *SQL) render(st *statement.Statement, d statement.Dialect, inserted []any) (rendered, []any, error) {
	r := rendered{spec: st, columns: st.Verb() == "SELECT" || st.Verb() == "VALUES"}
	var b strings.Builder
	numbers := map[string]int{}
	from := st.Start
	r.back = append(r.back, shift{0, from})
	for _, m := range st.Marks {
		n, known := numbers[m.Name], m.Name != ""
		if known = known && n > 0; !known {
			v, ok := s.Named[m.Name]
			switch {
			case m.Name == "" && len(inserted) > 0:
				v, inserted = inserted[0], inserted[1:]
			case !ok:
				return r, nil, cannotStart("%s: :%s has no value%s", s.Place(m.Start), m.Name, s.meant(m.Name))
			}
			r.args = append(r.args, v)
			n = len(r.args)
			numbers[m.Name] = n
		}
		b.WriteString(s.Text[from:m.Start])
		sign := "$"
		if d == statement.SQLite {
			sign = "?"
		}
		b.WriteString(sign + strconv.Itoa(n))
		from = m.End
		r.back = append(r.back, shift{b.Len(), from})
	}
	b.WriteString(s.Text[from:st.End])
	r.text = b.String()
	return r, inserted, nil
}

// meant suggests a name that there is.
func (s *SQL) meant(name string) string {
	if near := dsl.Nearest(name, slices.Sorted(maps.Keys(s.Named))); near != "" {
		return fmt.Sprintf(": did you mean :%s?", near)
	}
	return `: give it in "params"`
}
