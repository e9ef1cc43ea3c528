package docs_test

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"text/tabwriter"
	"time"

	"github.com/ax-scheduler/ax/dag"
	"github.com/ax-scheduler/ax/dsl"
	"github.com/ax-scheduler/ax/dsl/lint"
	"github.com/ax-scheduler/ax/runtime"
	"github.com/ax-scheduler/ax/runtime/reload"
	"github.com/ax-scheduler/ax/runtime/trigger"
	"github.com/ax-scheduler/ax/store"
)

var update = flag.Bool("update", false, "write what comes of the examples into the pages")

// folder is where examples lie as far as the linter is told.
const folder = "/srv/workflows"

// checked gives what ax lint says of a block, together with the workflows of its
// section.
func checked(t testing.TB, b *block) (dsl.Diagnostics, *dsl.Source) {
	t.Helper()
	var files []*lint.File
	var own *dsl.Source
	for i := range b.page.blocks {
		o := &b.page.blocks[i]
		if o.heading != b.heading || !o.isWorkflow() || o != b && o.shownWrong(t) {
			continue
		}
		name := o.fileName()
		if o != b && name == b.fileName() {
			continue
		}
		f := lint.Parse(name, []byte(o.text), folder, folder)
		files = append(files, f)
		if o == b {
			own = f.Source
		}
	}
	ds := lint.Check(files, lint.Options{Now: time.Date(2026, time.January, 1, 0, 0, 0, 0, time.UTC)})
	return slices.DeleteFunc(ds, func(d dsl.Diagnostic) bool { return d.File != own.File }), own
}

// fileName gives the name of the file that a workflow stands for, one of its
// own where the page gives it none.
func (b *block) fileName() string {
	if name := b.file(); name != "" {
		return name
	}
	if first, _, _ := strings.Cut(b.text, "\n"); strings.HasPrefix(first, "# ") {
		for word := range strings.FieldsSeq(first) {
			if name := strings.TrimSuffix(word, ","); strings.HasSuffix(name, ".yaml") {
				return name
			}
		}
	}
	return fmt.Sprintf("example%d.yaml", b.line)
}

// shownWrong tells whether a block is there for what is wrong with it. Those of
// lint.md are held against their rules by the tests of dsl/lint.
func (b *block) shownWrong(t testing.TB) bool {
	c := b.command(t)
	return c != nil && c.name == "lint" || path.Base(b.page.path) == "lint.md" && strings.HasPrefix(b.lead, "Bad")
}

// reference are the pages whose examples are clean of warnings, too.
var reference = []string{"dsl.md", "glossary.md", "ci.md"}

func TestEveryWorkflowOfTheManualPassesLint(t *testing.T) {
	n := 0
	for _, p := range manual(t) {
		for i := range p.blocks {
			b := &p.blocks[i]
			if !b.isWorkflow() || b.shownWrong(t) {
				continue
			}
			n++
			ds, _ := checked(t, b)
			for _, d := range ds {
				if d.Severity == dsl.Error || d.Severity == dsl.Warning && slices.Contains(reference, path.Base(p.path)) {
					t.Errorf("%s: line %d of the block: %s: %s (%s) [%s]", b.place(), d.Pos.Line, d.Severity, d.Message, d.Hint, d.Rule)
				}
			}
		}
	}
	if n < 50 {
		t.Errorf("only %d workflows were found", n)
	}
}

// golden is the text that belongs behind a block.
type golden struct {
	b    *block
	text string
}

func TestCommandsSayWhatThePagesShow(t *testing.T) {
	var mu sync.Mutex
	var wrong []golden
	t.Run("examples", func(t *testing.T) {
		for _, p := range manual(t) {
			for i := range p.blocks {
				b := &p.blocks[i]
				c := b.command(t)
				if c == nil {
					continue
				}
				t.Run(path.Base(p.path)+"/"+c.name+"/"+c.file, func(t *testing.T) {
					t.Parallel()
					got := result(t, b, c)
					if b.behind != nil && b.behind.info == "text" && b.behind.text == got {
						return
					}
					mu.Lock()
					defer mu.Unlock()
					wrong = append(wrong, golden{b, got})
				})
			}
		}
	})
	if *update {
		writeGolden(t, wrong)
		return
	}
	for _, g := range wrong {
		shown := ""
		if g.b.behind != nil {
			shown = g.b.behind.text
		}
		t.Errorf("%s: it is\n%s\nbut the page shows\n%s\n(-update writes it)", g.b.place(), g.text, shown)
	}
}

// writeGolden puts texts behind their blocks, the last of each page first.
func writeGolden(t *testing.T, all []golden) {
	slices.SortFunc(all, func(a, b golden) int { return b.b.line - a.b.line })
	for _, g := range all {
		p := g.b.page
		end := g.b.line + strings.Count(g.b.text, "\n") + 1 // lines up to the closing fence
		rest := end
		if o := g.b.behind; o != nil && o.info == "text" {
			rest = o.line + strings.Count(o.text, "\n") + 1
		}
		shown := strings.Split("\n```text\n"+g.text+"```", "\n")
		p.lines = slices.Concat(p.lines[:end], shown, p.lines[rest:])
		if err := os.WriteFile(filepath.FromSlash(p.path), []byte(strings.Join(p.lines, "\n")), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// result gives what comes of the command of a block.
func result(t *testing.T, b *block, c *command) string {
	switch c.name {
	case "lint":
		return lintResult(t, b, c)
	case "next":
		return nextResult(t, b, c)
	case "run":
		return runResult(t, b, c)
	case "trigger":
		return triggerResult(t, b, c)
	}
	t.Fatalf("%s: the tests know no ax %s", b.place(), c.name)
	return ""
}

// lintResult is what ax lint prints. There must be something.
func lintResult(t *testing.T, b *block, c *command) string {
	c.only(t, b, "--format")
	ds, src := checked(t, b)
	ds = slices.DeleteFunc(ds, func(d dsl.Diagnostic) bool { return d.Severity == dsl.Info })
	if len(ds) == 0 {
		t.Errorf("%s: nothing is wrong with it", b.place())
	}
	var out bytes.Buffer
	var err error
	switch format := c.flags["--format"]; format {
	case "github":
		err = lint.WriteGitHub(&out, ds)
	case "":
		err = dsl.Render(&out, ds, func(string) *dsl.Source { return src }, false)
	default:
		t.Fatalf("%s: the tests show no format %s", b.place(), format)
	}
	if err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// compiled gives the plan of a block, and writes it and the files beside it to a
// folder of their own.
func compiled(t *testing.T, b *block, c *command) *dag.Plan {
	t.Helper()
	dir := t.TempDir()
	for name, text := range b.beside() {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	f := reload.Check(filepath.Join(dir, c.file), []byte(b.text))
	if f.Plan == nil {
		t.Fatalf("%s: %v", b.place(), f.Diagnostics)
	}
	return f.Plan
}

// nextResult is what ax next prints, which counts `every` from --after.
func nextResult(t *testing.T, b *block, c *command) string {
	c.only(t, b, "-n", "--after")
	after, err := time.Parse(time.RFC3339, c.flags["--after"])
	if err != nil {
		t.Fatalf("%s: --after: %v", b.place(), err)
	}
	n := 0
	if _, err := fmt.Sscan(c.flags["-n"], &n); err != nil {
		t.Fatalf("%s: -n: %v", b.place(), err)
	}
	plan := compiled(t, b, c)
	dir := filepath.Dir(plan.Workflow.Source.File)
	rules, err := trigger.Rules(plan.Workflow, plan.Entries, trigger.Options{Zone: time.UTC, Anchor: after, Dates: func(name string) ([]dsl.Date, error) {
		return trigger.ReadDates(filepath.Join(dir, name))
	}})
	if err != nil {
		t.Fatalf("%s: %v", b.place(), err)
	}
	type tick struct {
		at   time.Time
		rule *trigger.Rule
	}
	var ticks []tick
	for i := range rules {
		at := after
		for range n {
			if at = rules[i].Next(at); at.IsZero() {
				break
			}
			ticks = append(ticks, tick{at, &rules[i]})
		}
	}
	slices.SortStableFunc(ticks, func(a, b tick) int { return a.at.Compare(b.at) })
	var out bytes.Buffer
	w := tabwriter.NewWriter(&out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "AT\tSCHEDULE\tTASKS")
	for _, k := range ticks[:min(n, len(ticks))] {
		fmt.Fprintf(w, "%s\t%s\t%s\n", k.at.Format("Mon 2006-01-02 15:04:05 -0700"), k.rule.Schedule, strings.Join(k.rule.Tasks, ", "))
	}
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	return trimmed(out.String())
}

// trimmed leaves out blanks at the ends of lines, which editors do as well.
func trimmed(text string) string {
	lines := strings.Split(text, "\n")
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " ")
	}
	return strings.Join(lines, "\n")
}

// runResult runs a workflow by the engine and says what became of each task:
// its end, its log, its outputs and the warnings about it.
func runResult(t *testing.T, b *block, c *command) string {
	e, run, got, err := carriedOut(t, b, c)
	if errors.Is(err, runtime.ErrRefused) {
		return "refused: " + withoutFolder(err.Error(), run.File) + "\n"
	}
	if err != nil {
		t.Fatal(err)
	}
	return ended(t, e, run) + got.lines()
}

// carriedOut runs a workflow to its end, in an environment that holds nothing
// but PATH, HOME and what the command gives it, and delivers what it has to tell.
func carriedOut(t *testing.T, b *block, c *command) (*runtime.Engine, store.Run, *received, error) {
	t.Helper()
	q := request(t, b, c)
	e, got := engine(t, c)
	e.Workflows = func(name string) (*dag.Plan, error) {
		f, err := reload.Load(filepath.Join(filepath.Dir(q.Plan.Workflow.Source.File), name+".yaml"))
		if err != nil {
			return nil, err
		}
		return f.Plan, nil
	}
	ctx := t.Context()
	defer serve(t, e)()
	run, err := e.Start(ctx, q)
	if err != nil {
		return nil, store.Run{File: q.Plan.Workflow.Source.File}, got, err
	}
	if run, err = e.Wait(ctx, run.ID); err == nil {
		err = e.DeliverOwn(ctx)
	}
	return e, run, got, err
}

// request turns a command into what the engine is asked for.
func request(t *testing.T, b *block, c *command) runtime.Request {
	t.Helper()
	c.only(t, b, "--only", "--scheduled-for")
	q := runtime.Request{Plan: compiled(t, b, c), Params: c.params}
	for i := range q.Plan.Tasks {
		if shell := q.Plan.Tasks[i].Spec.Shell.Argv; len(shell) > 0 {
			if _, err := exec.LookPath(shell[0]); err != nil {
				t.Skipf("the example at %s is a script for %s, which is not there: install it", b.place(), shell[0])
			}
		}
	}
	if at := c.flags["--scheduled-for"]; at != "" {
		var err error
		if q.ScheduledFor, err = time.Parse(time.RFC3339, at); err != nil {
			t.Fatalf("%s: %v", b.place(), err)
		}
	}
	if only := c.flags["--only"]; only != "" {
		for id := range strings.SplitSeq(only, ",") {
			task, ok := q.Plan.Task(id)
			if !ok {
				t.Fatalf("%s: there is no task %q", b.place(), id)
			}
			q.Only = append(q.Only, task)
		}
	}
	return q
}

// ended writes down how a run has ended.
func ended(t *testing.T, e *runtime.Engine, run store.Run) string {
	t.Helper()
	ctx := t.Context()
	rep, err := runtime.ReadReport(ctx, e.Store, run.ID)
	if err != nil {
		t.Fatal(err)
	}
	attempts, err := e.Store.Attempts(ctx, run.ID)
	if err != nil {
		t.Fatal(err)
	}
	width := len("run")
	for _, task := range rep.Tasks {
		width = max(width, len(task.ID))
	}
	var out strings.Builder
	for _, task := range rep.Tasks {
		fmt.Fprintf(&out, "%-*s  %s\n", width, task.ID, ending(task.State, task.Reason, task.Error, task.Attempts))
		for _, a := range attempts {
			if !strings.HasPrefix(a.Log, runtime.LogPath(run.ID, a.Index, task.ID, a.Number)) {
				continue
			}
			log, err := os.ReadFile(filepath.Join(e.Data, filepath.FromSlash(a.Log)))
			if err != nil && !errors.Is(err, os.ErrNotExist) {
				t.Fatal(err)
			}
			for line := range strings.Lines(string(log)) {
				out.WriteString("  | " + strings.TrimSuffix(line, "\n") + "\n")
			}
			for _, w := range a.Warnings {
				out.WriteString("  warning: " + w + "\n")
			}
		}
		for _, key := range sortedKeys(task.Outputs) {
			fmt.Fprintf(&out, "  output %s=%s\n", key, strings.ReplaceAll(task.Outputs[key], "\n", "\n    "))
		}
	}
	fmt.Fprintf(&out, "%-*s  %s\n", width, "run", ending(rep.State, rep.Reason, run.Error, 1))
	return trimmed(childID.ReplaceAllString(withoutFolder(out.String(), run.File), "06h2kxv1m8qwzr5c3dg0"))
}

// childID finds the ids of child runs, which are others each time.
var childID = regexp.MustCompile(`\b0[0-9a-z]{19}\b`)

// withoutFolder leaves the folder out that a file lies in, which is another one
// each time.
func withoutFolder(text, file string) string {
	return strings.ReplaceAll(text, filepath.Dir(file)+string(filepath.Separator), "")
}

// ending says in one line how a task or a run has ended.
func ending(state, reason, problem string, attempts int) string {
	text := state
	if reason != "" {
		text += " (" + reason + ")"
	}
	if attempts > 1 {
		text += fmt.Sprintf(", %d attempts", attempts)
	}
	if problem != "" {
		text += ": " + problem
	}
	return text
}

func sortedKeys(m map[string]string) []string {
	var keys []string
	for key := range m {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	return keys
}

// example is a proxy that stands for api.example.com.
func example(t *testing.T) string {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.Method + " " + r.URL.String() {
		case "GET http://api.example.com/orders/3":
			fmt.Fprint(w, `{"id": 3, "state": "paid"}`)
		case "POST http://api.example.com/reports":
			w.WriteHeader(http.StatusCreated)
			fmt.Fprint(w, "stored")
		default:
			w.WriteHeader(http.StatusNotFound)
			fmt.Fprint(w, "there is nothing here")
		}
	}))
	t.Cleanup(s.Close)
	return s.URL
}
