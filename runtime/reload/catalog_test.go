package reload_test

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/ax-scheduler/ax/runtime/reload"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const delay = time.Second

// folder is a workflows folder whose scans happen at times of our choice.
type folder struct {
	t       *testing.T
	dir     string
	now     time.Time
	catalog *reload.Catalog
}

func newFolder(t *testing.T) *folder {
	return &folder{t: t, dir: t.TempDir(), now: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)}
}

func text(name, note string) string {
	return fmt.Sprintf("name: %s\ntasks:\n  a: {run: 'echo %s'}\n", name, note)
}

func (f *folder) write(path, text string) {
	f.t.Helper()
	full := filepath.Join(f.dir, path)
	if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
		f.t.Fatal(err)
	}
	if err := os.WriteFile(full, []byte(text), 0o644); err != nil {
		f.t.Fatal(err)
	}
}

// scan looks at the folder after some time.
func (f *folder) scan(later time.Duration) {
	f.t.Helper()
	f.now = f.now.Add(later)
	c, err := reload.Scan(f.dir, f.catalog, f.now, delay)
	if err != nil {
		f.t.Fatal(err)
	}
	f.catalog = c
}

// settled scans until nothing waits to be read.
func (f *folder) settled() {
	f.t.Helper()
	f.scan(0)
	f.scan(delay)
}

// has checks what is loaded: "name: what its task says".
func (f *folder) has(want ...string) {
	f.t.Helper()
	var got []string
	for _, name := range slices.Sorted(maps.Keys(f.catalog.Workflows)) {
		said := strings.TrimPrefix(f.catalog.Workflows[name].Plan().Workflow.Tasks[0].Run.V, "echo ")
		got = append(got, name+": "+said)
	}
	if !slices.Equal(got, want) {
		f.t.Errorf("loaded are %q, want %q", got, want)
	}
}

func (f *folder) rules() []string {
	var rules []string
	for _, file := range f.catalog.Files {
		for _, d := range file.Diagnostics {
			if d.Rule != "no-timeout" {
				rules = append(rules, filepath.Base(file.Path)+" "+d.Rule)
			}
		}
	}
	return rules
}

func TestFilesThatAreNoWorkflowsAreLeftOut(t *testing.T) {
	f := newFolder(t)
	for _, path := range []string{".hidden.yaml", "a.test.yaml", "a.yaml~", "#a.yaml#", ".#a.yaml", "a.yaml.swp", "a.yaml.bak", ".git/b.yaml", "notes.txt"} {
		f.write(path, text("bad", "x"))
	}
	f.write("sub/deep/c.yml", text("deep", "x"))
	f.scan(0)
	f.has("deep: x")
}

func TestAChangedFileIsReadOnceItIsQuiet(t *testing.T) {
	f := newFolder(t)
	f.write("a.yaml", text("a", "one"))
	f.scan(0)
	f.has("a: one")

	f.write("a.yaml", "name: a\n") // half written
	f.scan(100 * time.Millisecond)
	f.has("a: one")
	if len(f.rules()) > 0 || f.catalog.Wait == 0 {
		t.Errorf("a half-written file was read: %q, wait %s", f.rules(), f.catalog.Wait)
	}
	f.write("a.yaml", text("a", "two, and longer"))
	f.scan(900 * time.Millisecond)
	f.has("a: one")
	f.scan(delay)
	f.has("a: two, and longer")

	// One that never stops changing is read after five seconds.
	for i := range 8 {
		f.write("a.yaml", text("a", strings.Repeat("x", i+10)))
		f.scan(800 * time.Millisecond)
	}
	if f.catalog.Workflows["a"].Plan().Workflow.Tasks[0].Run.V == "echo two, and longer" {
		t.Error("after 6.4 s of changes the file is still not read")
	}
}

func TestATouchedFileChangesNothing(t *testing.T) {
	f := newFolder(t)
	f.write("a.yaml", text("a", "one"))
	f.scan(0)
	before := f.catalog
	later := time.Now().Add(time.Hour)
	if err := os.Chtimes(filepath.Join(f.dir, "a.yaml"), later, later); err != nil {
		t.Fatal(err)
	}
	f.settled()
	if !f.catalog.Same(before) || f.catalog.Workflows["a"] != before.Workflows["a"] {
		t.Error("a touch made another workflow of it")
	}
}

func TestAFileWithErrorsKeepsItsLastGoodVersion(t *testing.T) {
	f := newFolder(t)
	f.write("a.yaml", text("a", "one"))
	f.write("b.yaml", text("b", "fine"))
	f.scan(0)
	f.write("a.yaml", "name: a\ntasks:\n  a: {runn: x}\n")
	f.settled()
	f.has("a: one", "b: fine")
	if got := f.rules(); !slices.Equal(got, []string{"a.yaml unknown-key"}) || !f.catalog.Files[0].Stale {
		t.Errorf("told is %q, stale %t", got, f.catalog.Files[0].Stale)
	}
	f.write("a.yaml", text("a", "mended"))
	f.settled()
	f.has("a: mended", "b: fine")
	if len(f.rules()) > 0 || f.catalog.Files[0].Stale {
		t.Errorf("still told is %q", f.rules())
	}
}

func TestOfTwoFilesWithOneNameTheOneThatIsLoadedStays(t *testing.T) {
	f := newFolder(t)
	f.write("m.yaml", text("same", "first"))
	f.scan(0)
	f.write("a.yaml", text("same", "second"))
	f.settled()
	f.has("same: first")
	if got := f.rules(); !slices.Equal(got, []string{"a.yaml duplicate-workflow"}) {
		t.Errorf("told is %q", got)
	}
	if err := os.Remove(filepath.Join(f.dir, "m.yaml")); err != nil {
		t.Fatal(err)
	}
	f.settled()
	f.has("same: second")
	if len(f.rules()) > 0 {
		t.Errorf("still told is %q", f.rules())
	}

	// At first the path decides.
	g := newFolder(t)
	g.write("b.yaml", text("same", "b"))
	g.write("a.yaml", text("same", "a"))
	g.scan(0)
	g.has("same: a")
}

func TestDeletedAndRenamedFiles(t *testing.T) {
	f := newFolder(t)
	f.write("a.yaml", text("a", "one"))
	f.scan(0)
	if err := os.Rename(filepath.Join(f.dir, "a.yaml"), filepath.Join(f.dir, "b.yaml")); err != nil {
		t.Fatal(err)
	}
	f.settled()
	f.has("a: one")
	if err := os.Remove(filepath.Join(f.dir, "b.yaml")); err != nil {
		t.Fatal(err)
	}
	f.scan(0)
	f.has()
	if err := os.RemoveAll(f.dir); err != nil {
		t.Fatal(err)
	}
	f.scan(0) // a folder that is not there holds nothing
	f.has()
}

// Watch tells of edits by rename, in folders that come later, and behind a link
// that is swapped, as a mounted configuration is.
func TestWatchNoticesWhatEditorsAndMountsDo(t *testing.T) {
	dir := t.TempDir()
	put := func(path, text string) {
		t.Helper()
		tmp := filepath.Join(dir, ".tmp")
		if err := os.WriteFile(tmp, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(tmp, filepath.Join(dir, path)); err != nil {
			t.Fatal(err)
		}
	}
	put("a.yaml", text("a", "one"))
	ctx, stop := context.WithCancel(t.Context())
	seen := make(chan *reload.Catalog, 100)
	done := make(chan error, 1)
	go func() {
		done <- reload.Watch(ctx, dir, 50*time.Millisecond, slog.New(slog.DiscardHandler), func(c *reload.Catalog) { seen <- c })
	}()
	until := func(name, said string) {
		t.Helper()
		for {
			select {
			case c := <-seen:
				if f := c.Workflows[name]; f != nil && f.Plan().Workflow.Tasks[0].Run.V == "echo "+said {
					return
				}
			case <-time.After(20 * time.Second):
				t.Fatalf("%s that says %q was never told of", name, said)
			}
		}
	}
	until("a", "one")
	put("a.yaml", text("a", "two"))
	until("a", "two")
	if err := os.MkdirAll(filepath.Join(dir, "later", "deep"), 0o755); err != nil {
		t.Fatal(err)
	}
	put("later/deep/b.yaml", text("b", "late"))
	until("b", "late")

	for _, v := range []string{"v1", "v2"} {
		if err := os.MkdirAll(filepath.Join(dir, ".."+v), 0o755); err != nil {
			t.Fatal(err)
		}
		put(".."+v+"/c.yaml", text("c", v))
	}
	link := func(target string) {
		t.Helper()
		tmp := filepath.Join(dir, "..tmp")
		if err := os.Symlink(target, tmp); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(tmp, filepath.Join(dir, "..data")); err != nil {
			t.Fatal(err)
		}
	}
	link("..v1")
	if err := os.Symlink("..data/c.yaml", filepath.Join(dir, "c.yaml")); err != nil {
		t.Fatal(err)
	}
	until("c", "v1")
	link("..v2")
	until("c", "v2")

	stop()
	if err := <-done; err != nil {
		t.Error(err)
	}
}

// A checkout writes hundreds of files at once; a deployment moves the folder away
// and another one into its place.
func TestWatchNoticesHundredsOfFilesAndAFolderThatIsMovedAwayAndBack(t *testing.T) {
	const files = 400
	dir := filepath.Join(t.TempDir(), "workflows")
	write := func(i int, said string) {
		t.Helper()
		path := filepath.Join(dir, fmt.Sprintf("team%d", i%7), fmt.Sprintf("w%d.yaml", i))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text(fmt.Sprintf("w%d", i), said)), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	seen := make(chan *reload.Catalog, 1000)
	done := make(chan error, 1)
	go func() {
		done <- reload.Watch(ctx, dir, 50*time.Millisecond, slog.New(slog.DiscardHandler), func(c *reload.Catalog) { seen <- c })
	}()
	until := func(n int, said string) {
		t.Helper()
		told := 0
		for over := time.After(20 * time.Second); ; {
			select {
			case c := <-seen:
				told++
				good := 0
				for _, f := range c.Workflows {
					if f.Plan().Workflow.Tasks[0].Run.V == "echo "+said {
						good++
					}
				}
				if good == n && len(c.Workflows) == n {
					if told > files/4 {
						t.Errorf("%d files made %d catalogs", n, told)
					}
					return
				}
			case <-over:
				t.Fatalf("that %d files say %q was never told", n, said)
			}
		}
	}
	until(0, "")
	for _, said := range []string{"first", "and then this"} {
		for i := range files {
			write(i, said)
		}
		until(files, said)
	}
	away := dir + ".away"
	if err := os.Rename(dir, away); err != nil {
		t.Fatal(err)
	}
	until(0, "")
	if err := os.Rename(away, dir); err != nil {
		t.Fatal(err)
	}
	until(files, "and then this")
	write(3, "again") // is seen in the folder that is back
	for i := range files {
		write(i, "again")
	}
	until(files, "again")
	stop()
	if err := <-done; err != nil {
		t.Error(err)
	}
}
