package main

import (
	"context"
	"time"

	"github.com/ax-scheduler/ax/runtime"
	"github.com/ax-scheduler/ax/runtime/server"
	"github.com/ax-scheduler/ax/runtime/server/trace"
	"github.com/ax-scheduler/ax/store"
)

// lastTraces is how long the end of a command may wait for its last spans to be
// taken.
const lastTraces = 3 * time.Second

// trace has an engine send traces, where the environment says where to. The
// returned function ends that, after the engine has ended.
func (g *globals) trace(e *runtime.Engine, st store.Store) (end func(), err error) {
	if !trace.Enabled(g.env) {
		return func() {}, nil
	}
	t, err := trace.New(context.Background(), trace.Options{Env: g.env, Version: versionText(), Store: st, Log: e.Log})
	if err != nil {
		return nil, err
	}
	e.Observer = t
	return func() {
		ctx, cancel := context.WithTimeout(context.Background(), lastTraces)
		defer cancel()
		t.Close(ctx)
	}, nil
}

// measured is the observer of an ax that serves: it counts, and sends traces too
// where the engine does so already.
func measured(e *runtime.Engine, m *server.Metrics) runtime.Observer {
	t, ok := e.Observer.(*trace.Tracer)
	if !ok {
		return m
	}
	t.CountBy(m.SpansEnded)
	return tracedToo{m, t}
}

type tracedToo struct {
	runtime.Observer
	tracer *trace.Tracer
}

// Changed tells both.
func (o tracedToo) Changed(u runtime.Update) {
	o.Observer.Changed(u)
	o.tracer.Changed(u)
}
