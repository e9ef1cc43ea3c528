package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/ax-scheduler/ax/store"
)

// followPause is how often `ax logs -f` looks for more.
const followPause = 200 * time.Millisecond

// logReader prints the logs of one run.
type logReader struct {
	g       *globals
	st      store.Store
	run     string
	task    string // empty for all
	attempt int    // 0 for the last
	follow  bool
}

func (l *logReader) print(ctx context.Context) error {
	run, err := l.st.Run(ctx, l.run)
	if err != nil {
		return err
	}
	version, err := l.st.Version(ctx, run.Version)
	if err != nil {
		return err
	}
	ids := version.Tasks
	if l.task != "" {
		ids = []string{l.task}
		if !slices.Contains(version.Tasks, l.task) {
			return exit{exitFailed, fmt.Errorf("run %s has no task %q", l.run, l.task)}
		}
	}
	if l.follow {
		return l.followAll(ctx, ids)
	}
	logs, err := l.logs(ctx, run)
	if err != nil {
		return err
	}
	for _, id := range ids {
		if path, ok := logs[id]; ok {
			tail := &tail{path: path, prefix: prefixOf(id, ids)}
			if err := errors.Join(tail.copy(l.g.stdout), tail.end(l.g.stdout)); err != nil {
				return err
			}
		}
	}
	if len(ids) == 1 && logs[ids[0]] == "" {
		fmt.Fprintf(l.g.stderr, "ax: task %q of run %s has no log: it was not started\n", ids[0], l.run)
	}
	return nil
}

// logs gives the path of the wanted attempt's log for each task that has one.
func (l *logReader) logs(ctx context.Context, run store.Run) (map[string]string, error) {
	attempts, err := attemptsByTask(ctx, l.st, run)
	if err != nil {
		return nil, err
	}
	paths := map[string]string{}
	for id, as := range attempts {
		for _, a := range as {
			if l.attempt == 0 || a.Number == l.attempt {
				paths[id] = filepath.Join(l.g.data, filepath.FromSlash(a.Log))
			}
		}
		if l.task == id && paths[id] == "" {
			return nil, exit{exitFailed, fmt.Errorf("task %q of run %s has no attempt %d: there are %d", id, l.run, l.attempt, len(as))}
		}
	}
	return paths, nil
}

// followAll prints what comes until the run has ended.
func (l *logReader) followAll(ctx context.Context, ids []string) error {
	tails := map[string]*tail{}
	for {
		run, err := l.st.Run(ctx, l.run)
		if err != nil {
			return err
		}
		logs, err := l.logs(ctx, run)
		if err != nil {
			return err
		}
		for _, id := range ids {
			path := logs[id]
			if t := tails[id]; path != "" && (t == nil || t.path != path) {
				tails[id] = &tail{path: path, prefix: prefixOf(id, ids)}
			}
			if t := tails[id]; t != nil {
				if err := t.copy(l.g.stdout); err != nil {
					return err
				}
			}
		}
		if run.State.Final() || l.g.orphaned(run) {
			for _, id := range ids {
				if t := tails[id]; t != nil {
					if err := t.end(l.g.stdout); err != nil {
						return err
					}
				}
			}
			return nil
		}
		select {
		case <-time.After(followPause):
		case <-ctx.Done():
			return nil
		}
	}
}

func prefixOf(id string, ids []string) string {
	if len(ids) == 1 {
		return ""
	}
	return id + " | "
}

// tail copies a log from where it stopped the last time, each line behind a
// prefix.
type tail struct {
	path   string
	prefix string
	offset int64
	inLine bool
}

// copy writes what is new. A log that is not there yet has nothing.
func (t *tail) copy(w io.Writer) error {
	f, err := os.Open(t.path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer f.Close()
	if _, err := f.Seek(t.offset, io.SeekStart); err != nil {
		return err
	}
	if t.prefix == "" {
		n, err := io.Copy(w, f)
		t.offset += n
		return err
	}
	buf := make([]byte, 64<<10)
	for {
		n, err := f.Read(buf)
		t.offset += int64(n)
		if werr := t.write(w, buf[:n]); werr != nil {
			return werr
		}
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

func (t *tail) write(w io.Writer, p []byte) error {
	var out bytes.Buffer
	for len(p) > 0 {
		if !t.inLine {
			out.WriteString(t.prefix)
		}
		n := bytes.IndexByte(p, '\n') + 1
		t.inLine = n == 0
		if n == 0 {
			n = len(p)
		}
		out.Write(p[:n])
		p = p[n:]
	}
	_, err := w.Write(out.Bytes())
	return err
}

// end closes a last line without a line end, so that the next log begins on a
// line of its own.
func (t *tail) end(w io.Writer) error {
	if t.prefix == "" || !t.inLine {
		return nil
	}
	_, err := io.WriteString(w, "\n")
	return err
}
