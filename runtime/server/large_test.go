package server

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ax-scheduler/ax/runtime"
	"github.com/ax-scheduler/ax/runtime/machine"
	"github.com/ax-scheduler/ax/runtime/reload"
	"github.com/ax-scheduler/ax/store"
	"github.com/ax-scheduler/ax/store/sqlite"
)

// counted counts what is asked of a store.
type counted struct {
	store.Store
	queries, rows, marks atomic.Int64
	most                 atomic.Int64 // records at a time
}

func counting[T any](c *counted, all []T, err error) ([]T, error) {
	c.queries.Add(1)
	c.rows.Add(int64(len(all)))
	c.most.Store(max(c.most.Load(), int64(len(all))))
	return all, err
}

func (c *counted) Run(ctx context.Context, id string) (store.Run, error) {
	c.queries.Add(1)
	return c.Store.Run(ctx, id)
}

func (c *counted) Version(ctx context.Context, hash string) (store.Version, error) {
	c.queries.Add(1)
	return c.Store.Version(ctx, hash)
}

func (c *counted) Runs(ctx context.Context, f store.RunFilter) ([]store.Run, error) {
	all, err := c.Store.Runs(ctx, f)
	return counting(c, all, err)
}

func (c *counted) Tasks(ctx context.Context, id string) ([]store.Task, error) {
	all, err := c.Store.Tasks(ctx, id)
	return counting(c, all, err)
}

func (c *counted) TasksIn(ctx context.Context, id string, states []machine.TaskState, limit int) ([]store.Task, error) {
	all, err := c.Store.TasksIn(ctx, id, states, limit)
	return counting(c, all, err)
}

func (c *counted) Attempts(ctx context.Context, id string) ([]store.Attempt, error) {
	all, err := c.Store.Attempts(ctx, id)
	return counting(c, all, err)
}

func (c *counted) LastTicks(ctx context.Context, workflow string, before store.Tick, limit int) ([]store.Tick, error) {
	all, err := c.Store.LastTicks(ctx, workflow, before, limit)
	return counting(c, all, err)
}

func (c *counted) Versions(ctx context.Context, workflow string, before store.Version, limit int) ([]store.Version, error) {
	all, err := c.Store.Versions(ctx, workflow, before, limit)
	return counting(c, all, err)
}

func (c *counted) LastRuns(ctx context.Context, workflows []string, states []machine.RunState, limit int) ([]store.Run, error) {
	all, err := c.Store.LastRuns(ctx, workflows, states, limit)
	return counting(c, all, err)
}

func (c *counted) TasksAt(ctx context.Context, id string, places []store.Place) ([]store.Task, error) {
	all, err := c.Store.TasksAt(ctx, id, places)
	return counting(c, all, err)
}

func (c *counted) AttemptsAt(ctx context.Context, id string, places []store.Place) ([]store.Attempt, error) {
	all, err := c.Store.AttemptsAt(ctx, id, places)
	return counting(c, all, err)
}

func (c *counted) Changes(ctx context.Context, f store.ChangeFilter) ([]store.Change, error) {
	all, err := c.Store.Changes(ctx, f)
	return counting(c, all, err)
}

func (c *counted) Marks(ctx context.Context, f store.MarkFilter) (map[string][]store.Mark, error) {
	c.queries.Add(1)
	all, err := c.Store.Marks(ctx, f)
	for _, marks := range all {
		c.marks.Add(int64(len(marks)))
	}
	return all, err
}

// The history that pages are made from: many workflows of ten tasks with many
// runs, one of very many tasks, and one of very many instances.
const (
	largeFlows = 120
	largeTasks = 5000
	largeItems = 10_000 // of a foreach
)

// large serves a history of so many runs, of the last of which the tasks are
// stored too.
func large(t testing.TB, st store.Store, runs, told int) (*counted, http.Handler) {
	t.Helper()
	c := &reload.Catalog{Workflows: map[string]*reload.Loaded{}}
	add := func(name string, tasks int) *reload.File {
		var b strings.Builder
		fmt.Fprintf(&b, "name: %s\ndescription: What it does, in a sentence of a usual length for that.\nevery: 5m\nparams: {day: 2026-01-01, n: 1}\ntasks:\n  t0: {run: x}\n", name)
		for i := 1; i < tasks; i++ {
			fmt.Fprintf(&b, "  t%d: {run: x, depends_on: t%d}\n", i, (i-1)/3)
		}
		f := reload.Compile(name+".yaml", []byte(b.String()))
		if f.Plan == nil {
			t.Fatal(f.Diagnostics)
		}
		c.Workflows[name] = f.Keep()
		return f
	}
	var files []*reload.File
	for i := range largeFlows {
		files = append(files, add(fmt.Sprintf("flow-%03d", i), 10))
	}
	fill(t, st, files, runs, told)
	fill(t, st, []*reload.File{add("wide", largeTasks)}, 3, 3)
	each := reload.Compile("each.yaml", []byte("name: each\ntasks:\n  list: {run: x}\n  each: {run: x, depends_on: list, foreach: '${{ tasks.list.outputs.items }}'}\n  done: {run: x, depends_on: each}\n"))
	if each.Plan == nil {
		t.Fatal(each.Diagnostics)
	}
	c.Workflows["each"] = each.Keep()
	fill(t, st, []*reload.File{each}, 3, 3)
	counter := &counted{Store: st}
	e := &runtime.Engine{Store: counter, Data: t.TempDir(), Zone: time.UTC}
	writeLong(t, filepath.Join(e.Data, "logs"))
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- e.Serve(ctx) }()
	t.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	if err := e.Load(ctx, c); err != nil {
		t.Fatal(err)
	}
	s := &Server{
		Engine: e, Store: counter, Data: e.Data, Catalog: func() *reload.Catalog { return c }, Zone: time.UTC,
		Version: "test", Log: slog.New(slog.DiscardHandler), Stopping: func() bool { return false },
	}
	pageTemplates() // as Serve does
	return counter, s.Handler()
}

// writeLong writes the log that all attempts have.
func writeLong(t testing.TB, dir string) {
	t.Helper()
	text := strings.Repeat("2026-01-01 00:00:00 a line of a log, as long as such lines are: 0123456789\n", 20_000)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "long"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// fill writes ended runs of some workflows in turn, every tenth a failure.
func fill(t testing.TB, st store.Store, files []*reload.File, runs, told int) {
	t.Helper()
	start := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	b := &store.Batch{}
	commit := func() {
		if err := st.Commit(t.Context(), b); err != nil {
			t.Fatal(err)
		}
		b = &store.Batch{}
	}
	for _, f := range files {
		v := store.Version{Hash: f.Source.Hash(), Workflow: f.Workflow.Name.V, Text: f.Source.Text, CreatedAt: start}
		for i := range f.Plan.Tasks {
			v.Tasks = append(v.Tasks, f.Plan.Tasks[i].ID)
		}
		b.Versions = append(b.Versions, v)
	}
	for i := range runs {
		f := files[i%len(files)]
		at := start.Add(time.Duration(i) * time.Minute)
		run := store.Run{
			ID: fmt.Sprintf("%s%06d", f.Workflow.Name.V[:1], i), Workflow: f.Workflow.Name.V, Version: f.Source.Hash(), State: machine.RunSucceeded,
			Trigger: store.TriggerSchedule, ScheduledFor: at, CreatedAt: at, StartedAt: at, FinishedAt: at.Add(time.Second),
			Params: map[string]string{"day": "2026-01-01", "n": "1"},
		}
		if i%10 == 9 {
			run.State, run.Reason, run.Error = machine.RunFailed, machine.ReasonExit, "task \"t1\" failed: exit code 1"
			b.Changes = append(b.Changes, store.Change{At: at, By: "loopback", From: "127.0.0.1:1", Action: "retry", Workflow: run.Workflow, RunID: run.ID, Answer: runtime.Done})
		}
		b.Create = append(b.Create, run)
		b.Ticks = append(b.Ticks, store.Tick{Workflow: run.Workflow, Schedule: "every 5m", At: at, Outcome: store.TickFired, RunID: run.ID})
		if i >= runs-told {
			fillTasks(b, f, run)
		}
		if len(b.Create) == 1000 {
			commit()
		}
	}
	commit()
}

func fillTasks(b *store.Batch, f *reload.File, run store.Run) {
	for i := range f.Plan.Tasks {
		state := machine.Succeeded
		if i%50 == 7 {
			state = machine.Failed
		}
		b.Tasks = append(b.Tasks, store.Task{
			RunID: run.ID, Index: i, Instance: -1, ID: f.Plan.Tasks[i].ID, State: state, Attempts: 1, StartedAt: run.StartedAt, FinishedAt: run.FinishedAt,
		})
		if f.Plan.Tasks[i].Spec.Foreach != nil {
			b.Tasks[len(b.Tasks)-1].Attempts = 0
			fillInstances(b, f.Plan.Tasks[i].ID, run, i)
			continue
		}
		b.Attempts = append(b.Attempts, store.Attempt{
			RunID: run.ID, Index: i, Instance: -1, Number: 1, State: state, Log: "logs/long", StartedAt: run.StartedAt, FinishedAt: run.FinishedAt,
		})
	}
}

// largePage is a page, with MIDDLE in its path for the id of a run in the middle of
// the history and LAST for the last one's.
type largePage struct {
	path                 string
	queries, rows, marks int64
}

// at gives the path of a page over a history of so many runs.
func (p largePage) at(runs int) string {
	id := func(i int) string { return fmt.Sprintf("f%06d", i) }
	return strings.NewReplacer("LAST", id(runs-1), "MIDDLE", id(runs/2)).Replace(p.path)
}

// largePages are the pages and lists, with how often each may ask the store, for
// how many records, and for how many marks of tasks. What a page asks for does not
// grow with the history, and of the tasks of a run it reads those that it shows.
var largePages = []largePage{
	{"/", 4, homeRows*stripRuns + 72, 0},
	{"/?q=flow-1", 4, homeRows*stripRuns + 72, 0},
	{"/runs", 1, 100, 0},
	{"/runs?state=failed&workflow=flow-007", 1, 100, 0},
	{"/workflows/flow-007", 5, gridRuns + ledgerRows + versionsShown + changesMost, gridCells},
	{"/workflows/wide", 5, gridRuns + ledgerRows + versionsShown + changesMost, gridLooks / 10},
	{"/runs?before=MIDDLE", 1, 100, 0},
	{"/runs?state=failed&before=MIDDLE", 1, 100, 0},
	{"/runs/LAST", 7, 60, 10},
	{"/runs/MIDDLE", 7, 60, 10},
	{"/runs/LAST/tasks/t3", 2, 1, 0},
	{"/runs/LAST/tasks/t3?q=needle", 2, 1, 0},
	{"/runs/LAST/tasks/t3/lines?from=100", 2, 1, 0},
	{"/runs/w000002", 7, failedMost + 2*rowsMost + graphPart + 40, largeTasks},
	{"/runs/w000002?from=4800", 6, failedMost + 2*rowsMost + graphPart + 40, 0},
	{"/runs/w000002?state=failed", 6, failedMost + 2*rowsMost + graphPart + 40, 0},
	{"/runs/e000002", 7, 2 * (2*innerMost + 40), largeItems + 3},
	{"/runs/e000002?of=each", 6, 2*rowsMost + 60, 0},
	{"/runs/e000002?of=each&state=failed", 6, 2*rowsMost + 60, 0},
	{"/workflows/each", 5, 60, 9},
	{"/runs/e000002/tasks/each[7]", 2, 1, 0},
	{"/diagnostics", 0, 0, 0},
	{"/api/v1/runs", 1, 100, 0},
	{"/api/v1/runs?limit=1000", 1, 1000, 0},
	{"/api/v1/runs?cursor=MIDDLE", 2, 100, 0},
	{"/api/v1/runs?workflow=flow-007&cursor=MIDDLE", 2, 100, 0},
	{"/api/v1/runs?state=failed&workflow=flow-009&cursor=MIDDLE", 2, 100, 0},
	{"/api/v1/runs/LAST", 3, 10, 0},
	{"/api/v1/runs/w000002/tasks", 2, 100, 0},
	{"/api/v1/runs/w000002/tasks?state=failed", 2, 100, 0},
	{"/api/v1/runs/e000002/tasks?limit=1000&cursor=1+5000", 4, 1000, 0},
	{"/api/v1/audit", 1, 100, 0},
	{"/api/v1/audit?workflow=flow-007", 1, 100, 0},
	{"/api/v1/workflows", 1, largeFlows + 2, 0},
	{"/api/v1/workflows/flow-007/ticks", 1, 100, 0},
	{"/api/v1/workflows/flow-007/ticks?cursor=1767225600000000+every+5m", 1, 100, 0},
	{"/api/v1/workflows/flow-007/versions", 1, 10, 0},
	{"/api/v1/workflows/flow-007/source", 0, 0, 0},
	{"/api/v1/diagnostics", 0, 0, 0},
	{"/jobs/failed", 1, 100, 0},
	{"/status", 1, largeFlows + 2, 0},
}

// fillInstances writes the instances of a task, each tenth of which failed.
func fillInstances(b *store.Batch, task string, run store.Run, index int) {
	for k := range largeItems {
		state := machine.Succeeded
		if k%10 == 9 {
			state = machine.Failed
		}
		b.Tasks = append(b.Tasks, store.Task{
			RunID: run.ID, Index: index, Instance: k, ID: machine.InstanceOf(k).Name(task), State: state, Attempts: 1,
			StartedAt: run.StartedAt, FinishedAt: run.FinishedAt, Outputs: map[string]string{"rows": "12"},
		})
		b.Attempts = append(b.Attempts, store.Attempt{
			RunID: run.ID, Index: index, Instance: k, Number: 1, State: state, Log: "logs/none", StartedAt: run.StartedAt, FinishedAt: run.FinishedAt,
		})
	}
}

func TestNoPageGrowsWithTheHistory(t *testing.T) {
	counter, handler := large(t, &store.Memory{}, 10_000, 600)
	for _, p := range largePages {
		counter.queries.Store(0)
		counter.rows.Store(0)
		counter.marks.Store(0)
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, httptest.NewRequest("GET", p.at(10_000), nil))
		if w.Code != http.StatusOK {
			t.Errorf("%s answered %d: %.300s", p.path, w.Code, w.Body)
		}
		if n := w.Body.Len(); n > 300_000 && !strings.Contains(p.path, "limit=") {
			t.Errorf("%s has %d bytes, at most 300,000 are wanted", p.path, n)
		}
		if q, rows, marks := counter.queries.Load(), counter.rows.Load(), counter.marks.Load(); q > p.queries || rows > p.rows || marks > p.marks {
			t.Errorf("%s asked the store %d times for %d records and %d marks, at most %d for %d and %d are wanted", p.path, q, rows, marks, p.queries, p.rows, p.marks)
		}
	}
}

// askedTimes is how often a page is asked for once it was asked for: the figure is
// the median of these.
const askedTimes = 15

// BenchmarkPagesOverALongHistory asks for each page and list over histories of
// several lengths, with ten times as many tasks as runs: once, and then again and
// again. It tells the median of the latter in milliseconds, the first beside it,
// and the size.
func BenchmarkPagesOverALongHistory(b *testing.B) {
	for _, n := range []int{1000, 10_000, 100_000} {
		b.Run(strconv.Itoa(n), func(b *testing.B) {
			st, err := sqlite.Open(filepath.Join(b.TempDir(), "ax.db"), sqlite.Options{Synchronous: sqlite.Normal})
			if err != nil {
				b.Fatal(err)
			}
			b.Cleanup(func() { _ = st.Close() })
			_, handler := large(b, st, n, n)
			for _, p := range largePages {
				b.Run(p.path, func(b *testing.B) { askAgain(b, handler, p.at(n)) })
			}
		})
	}
}

func askAgain(b *testing.B, handler http.Handler, path string) {
	for b.Loop() {
		first, bytes := asked(b, handler, path)
		var again []float64
		for range askedTimes {
			took, _ := asked(b, handler, path)
			again = append(again, took)
		}
		slices.Sort(again)
		b.ReportMetric(again[len(again)/2], "ms")
		b.ReportMetric(first, "ms-first")
		b.ReportMetric(float64(bytes), "bytes")
	}
}

// asked asks for a page, and tells how many milliseconds the answer took and how
// many bytes it has.
func asked(t testing.TB, handler http.Handler, path string) (ms float64, bytes int) {
	t.Helper()
	w, begin := httptest.NewRecorder(), time.Now()
	handler.ServeHTTP(w, httptest.NewRequest("GET", path, nil))
	took := time.Since(begin)
	if w.Code != http.StatusOK {
		t.Fatalf("%s answered %d: %.300s", path, w.Code, w.Body)
	}
	return float64(took) / float64(time.Millisecond), w.Body.Len()
}
