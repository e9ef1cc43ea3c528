package workflows

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/ax-scheduler/ax/runtime"
	"github.com/ax-scheduler/ax/runtime/reload"
	"github.com/ax-scheduler/ax/store"
)

// result is what a run left behind. Maps are by task id; a task that was skipped is in none of them.
type result struct {
	id        string                       // of the run
	state     string                       // of the run: succeeded or failed
	states    map[string]string            // succeeded or failed
	outputs   map[string]map[string]string // lines of AX_OUTPUT
	logs      map[string]string            // standard output and error together, of the last attempt
	artifacts string                       // the folder AX_ARTIFACTS
}

// runPipeline runs the workflow in file once, by the engine, as the run of noon UTC on the given date, which is the same
// date in the zones of both pipelines.
func runPipeline(t *testing.T, file, date string) result {
	t.Helper()
	f, err := reload.Load(file)
	if err != nil {
		t.Fatal(err)
	}
	if f.Plan == nil {
		t.Fatalf("%s has errors: %v", file, f.Diagnostics)
	}
	at, err := time.Parse(time.RFC3339, date+"T12:00:00Z")
	if err != nil {
		t.Fatal(err)
	}
	data := t.TempDir()
	e := &runtime.Engine{Store: &store.Memory{}, Data: data, Env: os.Environ(), Zone: time.UTC}
	ctx, stop := context.WithCancel(t.Context())
	served := make(chan error, 1)
	go func() { served <- e.Serve(ctx) }()
	defer func() {
		stop()
		if err := <-served; err != nil {
			t.Error(err)
		}
	}()
	run, err := e.Start(ctx, runtime.Request{Plan: f.Plan, ScheduledFor: at})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := e.Wait(ctx, run.ID); err != nil {
		t.Fatal(err)
	}
	return resultOf(t, ctx, e.Store, data, run.ID)
}

func resultOf(t *testing.T, ctx context.Context, s store.Store, data, id string) result {
	t.Helper()
	rep, err := runtime.ReadReport(ctx, s, id)
	if err != nil {
		t.Fatal(err)
	}
	r := result{
		id: id, state: rep.State, artifacts: filepath.Join(data, "artifacts", id),
		states: map[string]string{}, outputs: map[string]map[string]string{}, logs: map[string]string{},
	}
	for i, task := range rep.Tasks {
		if task.State == "skipped" {
			continue
		}
		log, err := os.ReadFile(filepath.Join(data, runtime.LogPath(id, i, task.ID, task.Attempts)))
		if err != nil {
			t.Fatal(err)
		}
		r.states[task.ID], r.outputs[task.ID], r.logs[task.ID] = task.State, task.Outputs, string(log)
	}
	return r
}
