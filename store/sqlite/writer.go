package sqlite

import (
	"cmp"
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"os"
	"sync/atomic"
	"time"

	lib "modernc.org/sqlite/lib"

	"github.com/ax-scheduler/ax/store"
)

const (
	maxGroup      = 500      // batches in one transaction
	defaultMaxLog = 64 << 20 // bytes
	firstRoom     = 256 << 10
	mostRoom      = 4 << 20 // at a time
)

// writer owns the connection that writes. Its goroutine owns conn, stmts,
// named, runs, maxLog and log; others reach it by requests and closing alone.
type writer struct {
	path     string
	conn     conn
	stmts    [statements][together]stmt // by the rows that they write, from one; nil until it is needed
	named    []driver.NamedValue        // for the arguments of one statement
	runs     map[string]int64           // numbers of runs by id, as this transaction sees them
	maxLog   int64                      // size to which the log may grow beyond what could not be emptied
	log      int64                      // size at which it is emptied next
	size     int64                      // of the log after the last transaction
	room     int64                      // size to which zeros were written
	requests chan *request
	closing  chan struct{} // closed by stop
	ended    chan struct{} // closed when the goroutine is gone
}

// stmt is what the driver's statements are.
type stmt interface {
	driver.StmtExecContext
	driver.StmtQueryContext
	Close() error
}

// request is a batch on its way. Its caller may leave until it is taken.
type request struct {
	ops  []op
	turn atomic.Int32
	done chan error // has room for the answer
}

const (
	waiting int32 = iota
	taken
	left
)

// startWriter takes over a connection, unless it gives an error.
func startWriter(path string, c conn) (*writer, error) {
	w := &writer{
		path: path, conn: c, maxLog: defaultMaxLog, log: defaultMaxLog,
		runs: map[string]int64{}, requests: make(chan *request), closing: make(chan struct{}), ended: make(chan struct{}),
	}
	for do := range statements {
		if _, err := w.stmt(do, 1); err != nil {
			return nil, errors.Join(err, w.finalize())
		}
	}
	go w.loop()
	return w, nil
}

// stmt gives a statement that writes some rows.
func (w *writer) stmt(do statement, rows int) (stmt, error) {
	s := &w.stmts[do][rows-1]
	if *s == nil {
		text := do.text(rows)
		made, err := w.conn.Prepare(text)
		if err != nil {
			return nil, fmt.Errorf("prepare %q: %w", text, err)
		}
		*s = made.(stmt)
	}
	return *s, nil
}

func (w *writer) finalize() error {
	var all []error
	for _, sizes := range w.stmts {
		for _, s := range sizes {
			if s != nil {
				all = append(all, s.Close())
			}
		}
	}
	return errors.Join(all...)
}

func (w *writer) commit(ctx context.Context, b *store.Batch) error {
	if err := ctx.Err(); err != nil || b.Empty() {
		return err
	}
	r := &request{ops: encode(b), done: make(chan error, 1)}
	select {
	case w.requests <- r:
	case <-ctx.Done():
		return ctx.Err()
	case <-w.closing:
		return errClosed
	}
	select {
	case err := <-r.done:
		return err
	case <-ctx.Done():
		if r.turn.CompareAndSwap(waiting, left) {
			return ctx.Err()
		}
		return <-r.done
	}
}

// stop lets the goroutine finish what it has begun and closes the connection.
func (w *writer) stop() error {
	close(w.closing)
	<-w.ended
	return errors.Join(w.finalize(), w.conn.Close())
}

func (w *writer) loop() {
	defer close(w.ended)
	for {
		select {
		case r := <-w.requests:
			w.serve([]*request{r})
		case <-w.closing:
			return
		}
	}
}

// serve writes a group of batches, and those that come while another process
// keeps it from beginning.
func (w *writer) serve(group []*request) {
	var err error
	for pause := shortPause; ; pause = longer(pause) {
		if group = w.gather(group); len(group) == 0 {
			return
		}
		if err = w.exec(begin); !busy(err) || !w.wait(pause) {
			break
		}
	}
	group = take(group)
	if err == nil {
		err = w.write(group)
	}
	switch {
	case err == nil:
		w.shrink(group)
		w.emptyLog()
	case len(group) == 1 || busy(err):
		answer(group, explain(w.path, err))
	default:
		// one batch may be to blame; which, shows when each is alone
		for _, r := range group {
			w.alone(r)
		}
	}
}

// wait tells whether the writer is still to go on after a pause.
func (w *writer) wait(pause time.Duration) bool {
	t := time.NewTimer(pause)
	defer t.Stop()
	select {
	case <-w.closing:
		return false
	case <-t.C:
		return true
	}
}

// alone writes one batch of a group that could not be written.
func (w *writer) alone(r *request) {
	err := w.exec(begin)
	if err == nil {
		err = w.write([]*request{r})
	}
	if err != nil {
		answer([]*request{r}, explain(w.path, err))
	}
}

// gather adds what waits to a group and drops those whose callers have left.
func (w *writer) gather(group []*request) []*request {
	for len(group) < maxGroup {
		select {
		case r := <-w.requests:
			group = append(group, r)
			continue
		default:
		}
		break
	}
	stay := group[:0]
	for _, r := range group {
		if r.turn.Load() == waiting {
			stay = append(stay, r)
		}
	}
	return stay
}

// take makes the callers of a group stay, but for those who have left already.
func take(group []*request) []*request {
	stay := group[:0]
	for _, r := range group {
		if r.turn.CompareAndSwap(waiting, taken) {
			stay = append(stay, r)
		}
	}
	return stay
}

func answer(group []*request, err error) {
	for _, r := range group {
		r.done <- err
	}
}

// write writes a group in the transaction that has begun and commits it. What
// is wrong with one batch is the answer to its caller; another error leaves
// nothing written and nobody answered.
func (w *writer) write(group []*request) error {
	clear(w.runs)
	w.roomy()
	answers := make([]error, len(group))
	for i, r := range group {
		err := w.batch(r.ops, len(group) > 1)
		if refused(err) {
			answers[i] = fmt.Errorf("database %q: %w", w.path, err)
		} else if err != nil {
			w.exec(rollback) // fails where the error has ended the transaction
			return err
		}
	}
	end := commit
	if len(group) == 1 && answers[0] != nil {
		end = rollback
	}
	if err := w.exec(end); err != nil {
		w.exec(rollback)
		return err
	}
	for i, r := range group {
		r.done <- answers[i]
	}
	return nil
}

func refused(err error) bool {
	return errors.Is(err, store.ErrConflict) || errors.Is(err, store.ErrNotFound)
}

// batch carries out a batch's statements. One among others is taken back when
// it is refused.
func (w *writer) batch(ops []op, among bool) error {
	if among {
		if err := w.exec(savepoint); err != nil {
			return err
		}
	}
	for i := range ops {
		if err := w.op(&ops[i]); err != nil {
			if !among || !refused(err) {
				return err
			}
			clear(w.runs)
			if failed := errors.Join(w.exec(rollbackTo), w.exec(release)); failed != nil {
				return failed
			}
			return err
		}
	}
	if among {
		return w.exec(release)
	}
	return nil
}

// exec runs a statement that nothing is known of but whether it fails.
func (w *writer) exec(s statement) error {
	_, err := w.change(&op{do: s, rows: 1})
	return err
}

// change runs a statement and gives the number of rows that it changed. It is
// not to be interrupted, so it has no context.
func (w *writer) change(o *op) (int64, error) {
	s, err := w.stmt(o.do, o.rows)
	if err != nil {
		return 0, err
	}
	for len(w.named) < len(o.args) {
		w.named = append(w.named, driver.NamedValue{Ordinal: len(w.named) + 1})
	}
	args := w.named[:len(o.args)]
	for i, v := range o.args {
		args[i].Value = v
	}
	res, err := s.ExecContext(context.Background(), args)
	if err != nil {
		return 0, err
	}
	return res.RowsAffected()
}

// value asks for one value, nil if there is none.
func (w *writer) value(s statement, arg any) (any, error) {
	rows, err := w.stmts[s][0].QueryContext(context.Background(), []driver.NamedValue{{Ordinal: 1, Value: arg}})
	if err != nil {
		return nil, err
	}
	return first(rows)
}

// op carries out one statement of a batch and finds out why it is refused.
func (w *writer) op(o *op) error {
	if o.do == runNumber || o.do.numbered() {
		n, err := w.number(o.of)
		if o.do >= removeRun && errors.Is(err, store.ErrNotFound) {
			return nil
		}
		if o.do == runNumber || err != nil {
			return err
		}
		columns, value := len(o.args)/o.rows, any(n)
		for i := 0; i < len(o.args); i += columns {
			o.args[i] = value
		}
	}
	if o.do == countEvents {
		return w.expect(o)
	}
	n, err := w.change(o)
	switch {
	case err == nil && (n > 0 || o.do == putVersion || o.do == moveFirst || o.do == putMessage || o.do >= removeRun):
		if o.do == removeRun {
			delete(w.runs, o.of)
		}
		return nil
	case err != nil && primary(err) != lib.SQLITE_CONSTRAINT:
		return err
	case o.do == putTry:
		return w.untried(o)
	case o.do == createRun:
		return fmt.Errorf("run %q: %w: its id or its key is taken", o.of, store.ErrConflict)
	case o.do == putPause:
		return fmt.Errorf("pause of %q: %w: another lasts", o.of, store.ErrConflict)
	case o.do == putTick:
		return fmt.Errorf("tick of %q: %w: it is there already", o.of, store.ErrConflict)
	case o.do == appendEvents:
		return cmp.Or(w.expect(o), err)
	}
	return cmp.Or(err, fmt.Errorf("run %q: %w", o.of, store.ErrNotFound))
}

// number gives the number of a run, or ErrNotFound.
func (w *writer) number(id string) (int64, error) {
	if n, ok := w.runs[id]; ok {
		return n, nil
	}
	had, err := w.value(runNumber, id)
	if err != nil {
		return 0, err
	}
	n, ok := had.(int64)
	if !ok {
		return 0, fmt.Errorf("run %q: %w", id, store.ErrNotFound)
	}
	w.runs[id] = n
	return n, nil
}

// expect compares the number of a run's events with what its writer knows of.
func (w *writer) expect(o *op) error {
	switch had, err := w.value(countEvents, o.args[0]); {
	case err != nil:
		return err
	case had != o.args[1]:
		return fmt.Errorf("run %q: %w: it has %v events, not %v", o.of, store.ErrConflict, had, o.args[1])
	}
	return nil
}

// shrink gives pages back to the file system once runs were removed: a few at a
// time, for writers wait for it.
func (w *writer) shrink(group []*request) {
	const pages = 1000
	for _, r := range group {
		if len(r.ops) > 0 && r.ops[len(r.ops)-1].do >= removeRun {
			// what fails is tried again with the next removal
			_ = w.conn.exec(context.Background(), fmt.Sprintf("PRAGMA incremental_vacuum(%d)", pages))
			return
		}
	}
}

// emptyLog empties the log when readers that follow each other closely have
// kept SQLite from doing so by itself, and it has grown large.
func (w *writer) emptyLog() {
	fi, err := os.Stat(w.path + "-wal")
	if err != nil {
		return
	}
	if w.size = fi.Size(); w.size < w.log {
		return
	}
	// waits for readers, and writers wait for it, so not for long
	ctx := context.Background()
	err = w.conn.exec(ctx, "PRAGMA busy_timeout = 100")
	w.log = w.maxLog
	hindered, failed := w.conn.value(ctx, "PRAGMA wal_checkpoint(TRUNCATE)")
	if err = errors.Join(err, failed, w.conn.exec(ctx, "PRAGMA busy_timeout = 0")); err != nil || hindered != int64(0) {
		w.log = fi.Size() + w.maxLog
	}
}

// roomy puts zeros behind the log's end once it has grown past those of the last
// time. To confirm a write within a file costs a fraction of one that makes the
// file longer, for the file system then has to note the new length as well. The
// transaction that has begun keeps others from writing there meanwhile; readers
// stop at what bears no mark of this log. It may fail: then commits are slow.
func (w *writer) roomy() {
	if w.size == w.room && w.room > 0 {
		return
	}
	f, err := os.OpenFile(w.path+"-wal", os.O_WRONLY, 0)
	if err != nil {
		return
	}
	defer f.Close()
	fi, err := f.Stat()
	if err != nil {
		return
	}
	w.size = fi.Size()
	more := min(max(w.size, firstRoom), mostRoom)
	if _, err := f.WriteAt(make([]byte, more), w.size); err != nil {
		_ = f.Truncate(w.size) // the disk is full, and the log will need what is left
		return
	}
	w.room = w.size + more
	w.size = w.room
}
