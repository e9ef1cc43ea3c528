package reload

import (
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fsnotify/fsnotify"
)

func TestOnlyEventsThatCanBeAboutAWorkflowMakeALook(t *testing.T) {
	w := &watcher{dir: "etc/workflows/"}
	for _, e := range []struct {
		name     string
		op       fsnotify.Op
		concerns bool
	}{
		{"etc/workflows", fsnotify.Rename, true},
		{"etc/workflows/a.yaml", fsnotify.Write, true},
		{"etc/workflows/deep/a.yml", fsnotify.Chmod, true},
		{"etc/workflows/a.yaml", fsnotify.Remove, true},
		{"etc/workflows/later", fsnotify.Create, true},
		{"etc/workflows/deep", fsnotify.Rename, true},
		{"etc/workflows/data.csv", fsnotify.Write, false},
		{"etc/workflows/data.csv", fsnotify.Chmod, false},
		{"etc/ax.log", fsnotify.Write, false},
		{"etc/.ax", fsnotify.Create, false},
		{"etc/workflows.bak", fsnotify.Create, false},
	} {
		if got := w.concerns(fsnotify.Event{Name: filepath.FromSlash(e.name), Op: e.op}); got != e.concerns {
			t.Errorf("%s %s: a reason to look is %v", e.op, e.name, got)
		}
	}
}

func TestHiddenFoldersAreNotWatched(t *testing.T) {
	root := filepath.Join(t.TempDir(), ".flows")
	for _, dir := range []string{"a/b", ".git/refs", "a/.ax/logs"} {
		if err := os.MkdirAll(filepath.Join(root, dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	want := []string{root, filepath.Join(root, "a"), filepath.Join(root, "a", "b")}
	if got := survey(root).folders; !slices.Equal(got, want) {
		t.Errorf("watched are %q", got)
	}
}

// Where the file system tells of nothing, or there can be no more watches, the
// folder is looked at every two seconds.
func TestAFolderWithoutEventsIsPolled(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "later", "a.yaml")
	synctest.Test(t, func(t *testing.T) {
		ctx, stop := context.WithCancel(t.Context())
		var now atomic.Pointer[Catalog]
		done := make(chan error)
		w := &watcher{dir: dir}
		go func() { done <- w.run(ctx, time.Second, slog.New(slog.DiscardHandler), now.Store) }()
		for _, said := range []string{"one", "two more"} {
			time.Sleep(time.Minute)
			synctest.Wait()
			if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, []byte("name: a\ntasks:\n  a: {run: "+said+"}\n"), 0o644); err != nil {
				t.Fatal(err)
			}
			time.Sleep(5 * time.Second)
			synctest.Wait()
			if f := now.Load().Workflows["a"]; f == nil || f.Plan().Workflow.Tasks[0].Run.V != said {
				t.Errorf("five seconds after the file said %q it was not told of", said)
			}
		}
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
		time.Sleep(2 * time.Second)
		synctest.Wait()
		if len(now.Load().Workflows) > 0 {
			t.Error("a file that has gone is loaded still")
		}
		stop()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
}
