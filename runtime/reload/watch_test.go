package reload

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

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
	if got := foldersIn(root); !slices.Equal(got, want) {
		t.Errorf("watched are %q", got)
	}
}
