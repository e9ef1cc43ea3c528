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
	"strings"
	"time"

	"github.com/ax-scheduler/ax/dsl"
	"github.com/ax-scheduler/ax/runtime"
	"github.com/ax-scheduler/ax/runtime/machine"
	"github.com/ax-scheduler/ax/store"
)

// followPause is how often `ax logs -f` looks for more.
const followPause = 200 * time.Millisecond

// logReader prints the logs of one run.
type logReader struct {
	g       *globals
	st      store.Store
	run     string
	task    string // or an instance, load[3]; empty for all
	attempt int    // 0 for the last
	follow  bool
	single  bool // the run is of one task
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
	id, _, ok := machine.ParseName(l.task)
	if l.task != "" && (!ok || !slices.Contains(version.Tasks, id)) {
		return exit{exitFailed, fmt.Errorf("run %s has no task %q: %s", l.run, l.task, dsl.Meant(l.task, version.Tasks))}
	}
	l.single = len(version.Tasks) == 1
	if l.follow {
		return l.followAll(ctx)
	}
	logs, err := l.logs(ctx, run)
	if err != nil {
		return err
	}
	for _, log := range logs {
		tail := &tail{path: log.path, prefix: l.prefixOf(log)}
		if err := errors.Join(tail.copy(l.g.stdout), tail.end(l.g.stdout)); err != nil {
			return err
		}
	}
	if n, ok, err := l.instances(ctx, version.Tasks); err != nil || !ok {
		return errors.Join(err, exit{exitFailed, fmt.Errorf("run %s has no task %q: %s has %s", l.run, l.task, id, runtime.InstancesText(n))})
	}
	if l.task != "" && len(logs) == 0 {
		fmt.Fprintf(l.g.stderr, "ax: task %q of run %s has no log: it was not started\n", l.task, l.run)
	}
	return nil
}

// instances counts those of the wanted task, and tells whether the one that is
// wanted may be among them: while there are none it may be later.
func (l *logReader) instances(ctx context.Context, ids []string) (n int, ok bool, err error) {
	id, i, _ := machine.ParseName(l.task)
	if i == 0 {
		return 0, true, nil
	}
	tasks, err := l.st.Tasks(ctx, l.run)
	for _, t := range tasks {
		if t.Instance >= 0 && t.State != machine.Pending && ids[t.Index] == id {
			n++
		}
	}
	return n, n == 0 || i.Index() < n, err
}

// namedLog is the log of the wanted attempt of a task or an instance.
type namedLog struct {
	name string
	path string
}

// logs gives the logs that are wanted, in file order, those of instances in the
// order of their items.
func (l *logReader) logs(ctx context.Context, run store.Run) ([]namedLog, error) {
	version, err := l.st.Version(ctx, run.Version)
	if err != nil {
		return nil, err
	}
	attempts, err := l.st.Attempts(ctx, run.ID)
	if err != nil {
		return nil, err
	}
	var logs []namedLog
	others := 0
	for _, a := range attempts {
		id := version.Tasks[a.Index]
		name := machine.InstanceOf(a.Instance).Name(id)
		if l.task != "" && l.task != name && l.task != id {
			continue
		}
		if l.attempt != 0 && a.Number != l.attempt {
			others++
			continue
		}
		log := namedLog{name, filepath.Join(l.g.data, filepath.FromSlash(a.Log))}
		if n := len(logs); n > 0 && logs[n-1].name == name {
			logs[n-1] = log // a later attempt
		} else {
			logs = append(logs, log)
		}
	}
	if l.task != "" && len(logs) == 0 && others > 0 {
		return nil, exit{exitFailed, fmt.Errorf("task %q of run %s has no attempt %d: there are %d", l.task, l.run, l.attempt, others)}
	}
	return logs, nil
}

// followAll prints what comes until the run has ended.
func (l *logReader) followAll(ctx context.Context) error {
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
		for _, log := range logs {
			t := tails[log.name]
			if t == nil || t.path != log.path {
				t = &tail{path: log.path, prefix: l.prefixOf(log)}
				tails[log.name] = t
			}
			if err := t.copy(l.g.stdout); err != nil {
				return err
			}
		}
		if run.State.Final() || l.g.orphaned(run) {
			for _, log := range logs {
				if err := tails[log.name].end(l.g.stdout); err != nil {
					return err
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

// prefixOf gives what stands before each line: nothing where it can be of no
// other task.
func (l *logReader) prefixOf(log namedLog) string {
	if l.task == log.name || l.single && !strings.Contains(log.name, "[") {
		return ""
	}
	return log.name + " | "
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
