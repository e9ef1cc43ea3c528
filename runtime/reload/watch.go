package reload

import (
	"context"
	"log/slog"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/fsnotify/fsnotify"
)

// The pauses between scans that nothing asked for: they find what file systems
// do not tell of, and everything where there are no events at all.
const (
	scanPause = 30 * time.Second
	pollPause = 2 * time.Second
)

// Watch calls changed with the first catalog of a folder, and with the next one
// whenever its workflows or diagnostics have changed, until ctx is done. Events
// of the file system are taken as hints to look, never as facts.
func Watch(ctx context.Context, dir string, delay time.Duration, log *slog.Logger, changed func(*Catalog)) error {
	w := &watcher{dir: dir}
	var err error
	if w.events, err = fsnotify.NewWatcher(); err != nil {
		log.Warn("file system events cannot be had: the workflows folder is polled", "error", err)
		w.events = nil
	} else {
		defer w.events.Close()
	}
	return w.run(ctx, delay, log, changed)
}

func (w *watcher) run(ctx context.Context, delay time.Duration, log *slog.Logger, changed func(*Catalog)) error {
	var catalog *Catalog
	timer := time.NewTimer(0)
	defer timer.Stop()
	for reason := (hint{all: true}); ; {
		reason.all = reason.all || time.Since(w.scanned) >= scanPause
		next, err := w.look(catalog, reason, delay)
		switch {
		case err != nil && catalog == nil:
			return err
		case err != nil:
			log.Error("the workflows folder cannot be read: what is loaded stays", "error", err)
		default:
			if !next.Same(catalog) {
				changed(next)
			}
			catalog = next
		}
		if err == nil && reason.all && w.watchFolders(next.folders) > 0 {
			continue // nobody told of what happened in these before they were watched
		}
		timer.Reset(w.pause(catalog))
		var ok bool
		if reason, ok = w.wait(ctx, timer); !ok {
			return nil
		}
	}
}

// hint says what there is to look at: some files, or everything.
type hint struct {
	all     bool
	touched map[string]bool // paths of workflow files
}

// look makes the next catalog.
func (w *watcher) look(old *Catalog, reason hint, delay time.Duration) (*Catalog, error) {
	if old != nil && !reason.all {
		return Rescan(old, reason.touched, time.Now(), delay), nil
	}
	w.scanned = time.Now()
	return Scan(w.dir, old, w.scanned, delay)
}

type watcher struct {
	dir    string
	events *fsnotify.Watcher // nil where there are none

	scanned time.Time // when everything was last looked at
}

// watchFolders adds those of some folders that are not watched yet and tells how
// many they were. A folder that was moved away and back is another one, and is added
// again.
func (w *watcher) watchFolders(folders []string) (added int) {
	if w.events == nil {
		return 0
	}
	have := map[string]bool{}
	for _, path := range w.events.WatchList() {
		have[path] = true
	}
	// The parent tells when the folder itself comes and goes.
	for _, dir := range append(slices.Clip(folders), filepath.Dir(filepath.Clean(w.dir))) {
		if !have[dir] && w.events.Add(dir) == nil { // else the next scan finds what is in it
			added++
		}
	}
	return added
}

func (w *watcher) pause(c *Catalog) time.Duration {
	switch {
	case c.Wait > 0:
		return c.Wait
	case w.events == nil:
		return pollPause
	}
	return scanPause
}

// wait gives the next reason to look; false once ctx is done.
func (w *watcher) wait(ctx context.Context, timer *time.Timer) (hint, bool) {
	if w.events == nil {
		select {
		case <-ctx.Done():
			return hint{}, false
		case <-timer.C:
			return hint{all: true}, true
		}
	}
	for {
		select {
		case <-ctx.Done():
			return hint{}, false
		case <-timer.C:
			return hint{}, true // for the files that wait to be read
		case <-w.events.Errors: // too many events at once, for one
			return hint{all: true}, true
		case e := <-w.events.Events:
			if w.concerns(e) {
				return w.settle(ctx, e), true
			}
		}
	}
}

// concerns tells whether an event can be about a workflow: others write next to
// the folder, or keep their data in it.
func (w *watcher) concerns(e fsnotify.Event) bool {
	dir := filepath.Clean(w.dir)
	switch {
	case e.Name == dir:
		return true
	case !strings.HasPrefix(e.Name, dir+string(filepath.Separator)):
		return false
	}
	return IsWorkflowFile(filepath.Base(e.Name)) || !e.Has(fsnotify.Write) && !e.Has(fsnotify.Chmod)
}

// settle takes what else happens at the same time. What is no workflow file may
// be a folder that has come or gone.
func (w *watcher) settle(ctx context.Context, e fsnotify.Event) hint {
	h := hint{touched: map[string]bool{}}
	add := func(e fsnotify.Event) {
		switch {
		case !w.concerns(e):
		case IsWorkflowFile(filepath.Base(e.Name)) && e.Name != filepath.Clean(w.dir):
			h.touched[e.Name] = true
		default:
			h.all = true
		}
	}
	add(e)
	enough := time.NewTimer(20 * time.Millisecond)
	defer enough.Stop()
	for {
		select {
		case e := <-w.events.Events:
			add(e)
		case <-enough.C:
			return h
		case <-ctx.Done():
			return h
		}
	}
}
