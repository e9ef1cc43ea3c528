package trace

import (
	"cmp"
	"context"
	"slices"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	api "go.opentelemetry.io/otel/trace"

	"github.com/ax-scheduler/ax/runtime"
	"github.com/ax-scheduler/ax/runtime/machine"
	"github.com/ax-scheduler/ax/store"
)

// maxWaits bounds the events of a run's span: as many as the SDK keeps.
const maxWaits = 128

// place identifies a task or an instance of a run.
type place struct{ index, instance int }

// attempts makes the spans of the attempts that have ended.
func (t *Tracer) attempts(u *runtime.Update) {
	names := map[place]string{}
	for i := range u.Tasks {
		names[place{u.Tasks[i].Index, u.Tasks[i].Instance}] = u.Tasks[i].ID
	}
	for i := range u.Attempts {
		a := &u.Attempts[i]
		if a.FinishedAt.IsZero() {
			continue
		}
		name, ok := names[place{a.Index, a.Instance}]
		if !ok { // an attempt that ends changes its task
			t.count(Dropped, 1)
			continue
		}
		about := append(aboutRun(&u.Run), text("ax.task", name), attribute.Int("ax.attempt", a.Number),
			text("ax.state", a.State.String()))
		about = append(about, reason(a.Reason)...)
		if a.ExitCode != nil {
			about = append(about, attribute.Int("ax.exit_code", *a.ExitCode))
		}
		parent := api.NewSpanContext(api.SpanContextConfig{
			TraceID: traceID(u.Run.ID), SpanID: spanID(runtime.RunSpanID(u.Run.ID)), TraceFlags: api.FlagsSampled, Remote: true,
		})
		ctx := withID(api.ContextWithSpanContext(context.Background(), parent), traceID(u.Run.ID), runtime.SpanID(u.Run.ID, name, a.Number))
		_, span := t.tracer.Start(ctx, name, api.WithTimestamp(a.StartedAt), api.WithAttributes(about...))
		if a.State == machine.Failed {
			span.SetStatus(codes.Error, a.Error)
		}
		span.End(api.WithTimestamp(a.FinishedAt))
	}
}

// run makes the span of a run that has ended. What the run has waited for is read
// from the store, so that it is all there after a restart too.
func (t *Tracer) run(r *store.Run) {
	about := append(aboutRun(r), text("ax.state", r.State.String()), text("ax.trigger", string(r.Trigger)), text("ax.version", r.Version), text("ax.scheduled_for", r.ScheduledFor.UTC().Format(time.RFC3339Nano)))
	about = append(about, reason(r.Reason)...)
	began := r.StartedAt
	if began.IsZero() { // it never did
		began = r.FinishedAt
	}
	ctx := withID(context.Background(), traceID(r.ID), runtime.RunSpanID(r.ID))
	_, span := t.tracer.Start(ctx, "run "+r.Workflow, api.WithTimestamp(began), api.WithAttributes(about...))
	for _, w := range t.waits(r) {
		span.AddEvent("wait", api.WithTimestamp(w.from), api.WithAttributes(
			text("ax.wait.for", w.what), text("ax.task", w.task), attribute.Float64("ax.wait.seconds", w.until.Sub(w.from).Seconds())))
	}
	if r.State == machine.RunFailed {
		span.SetStatus(codes.Error, r.Error)
	}
	span.End(api.WithTimestamp(r.FinishedAt))
}

// wait is a time in which a run, or a task of it, did nothing.
type wait struct {
	what, task  string
	from, until time.Time
}

// waits gives what a run has waited for: its time, its turn, and the pauses before
// retries.
func (t *Tracer) waits(r *store.Run) (all []wait) {
	add := func(what, task string, from, until time.Time) {
		if until.After(from) && !from.IsZero() && len(all) < maxWaits {
			all = append(all, wait{what, task, from, until})
		}
	}
	turn := r.CreatedAt
	if r.NotBefore.After(turn) {
		add("time", "", turn, r.NotBefore)
		turn = r.NotBefore
	}
	add("turn", "", turn, r.StartedAt)
	attempts, err := t.store.Attempts(t.work, r.ID)
	if err != nil {
		t.log.Debug("a trace lacks what its run waited for", "run", r.ID, "error", err)
		return all
	}
	names := map[place]string{}
	for i := 1; i < len(attempts); i++ { // they are in order
		before, a := &attempts[i-1], &attempts[i]
		at := place{a.Index, a.Instance}
		if at != (place{before.Index, before.Instance}) {
			continue
		}
		if len(names) == 0 {
			names = t.names(r.ID)
		}
		add("retry", names[at], before.FinishedAt, a.StartedAt)
	}
	slices.SortStableFunc(all, func(a, b wait) int { return cmp.Compare(a.from.UnixNano(), b.from.UnixNano()) })
	return all
}

func (t *Tracer) names(run string) map[place]string {
	names := map[place]string{}
	tasks, err := t.store.Tasks(t.work, run)
	if err != nil {
		t.log.Debug("a trace lacks names of its tasks", "run", run, "error", err)
	}
	for i := range tasks {
		names[place{tasks[i].Index, tasks[i].Instance}] = tasks[i].ID
	}
	return names
}

func aboutRun(r *store.Run) []attribute.KeyValue {
	return []attribute.KeyValue{text("ax.workflow", r.Workflow), text("ax.run", r.ID)}
}

// reason gives nothing where there is none, as of what succeeded.
func reason(r machine.Reason) []attribute.KeyValue {
	if r == "" {
		return nil
	}
	return []attribute.KeyValue{text("ax.reason", string(r))}
}

func text(key, value string) attribute.KeyValue { return attribute.String(key, value) }

// ids gives spans the ids that ax has told to their tasks already.
type ids struct{}

type idKey struct{}

type id struct {
	trace api.TraceID
	span  api.SpanID
}

func withID(ctx context.Context, trace api.TraceID, span string) context.Context {
	return context.WithValue(ctx, idKey{}, id{trace, spanID(span)})
}

func (ids) NewIDs(ctx context.Context) (api.TraceID, api.SpanID) {
	v := ctx.Value(idKey{}).(id)
	return v.trace, v.span
}

func (ids) NewSpanID(ctx context.Context, _ api.TraceID) api.SpanID {
	return ctx.Value(idKey{}).(id).span
}

func traceID(run string) api.TraceID { return must(api.TraceIDFromHex(runtime.TraceID(run))) }

func spanID(hex string) api.SpanID { return must(api.SpanIDFromHex(hex)) }

// must is for ids that ax has made itself.
func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}
