package main

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"

	"github.com/ax-scheduler/ax/runtime"
	"github.com/ax-scheduler/ax/runtime/machine"
	"github.com/ax-scheduler/ax/store"
)

func TestTheLogTellsOnceThatARunStarted(t *testing.T) {
	running, ended := store.Run{ID: "r", State: machine.RunRunning}, store.Run{ID: "r", State: machine.RunSucceeded}
	for _, c := range []struct {
		name    string
		updates []runtime.Update
		starts  int
	}{
		{"one that starts", []runtime.Update{{Run: running, Began: true}, {Run: running}, {Run: ended}}, 1},
		{"one that is taken over", []runtime.Update{{Run: running}, {Run: running}, {Run: ended}}, 0},
		{"one that is retried", []runtime.Update{{Run: running, Began: true}, {Run: ended}, {Run: running, Began: true}, {Run: ended}}, 2},
	} {
		t.Run(c.name, func(t *testing.T) {
			updates := make(chan *runtime.Update, len(c.updates))
			for i := range c.updates {
				updates <- &c.updates[i]
			}
			close(updates)
			var log bytes.Buffer
			logRuns(slog.New(slog.NewTextHandler(&log, nil)), updates)
			if got := strings.Count(log.String(), "run started"); got != c.starts {
				t.Errorf("its start is told %d times, want %d:\n%s", got, c.starts, &log)
			}
		})
	}
}
