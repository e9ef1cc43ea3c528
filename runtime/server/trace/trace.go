// Package trace sends what an engine does as traces of OpenTelemetry: a run is a
// trace, an attempt a span of it, and what runs waited for are events.
//
// It is an Observer, so it must never hold up the engine: what it is told waits in
// a queue with an end, and what finds no room there is dropped and counted.
package trace

import (
	"context"
	"fmt"
	"log/slog"
	"sync/atomic"
	"time"

	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/sdk/resource"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	api "go.opentelemetry.io/otel/trace"

	"github.com/ax-scheduler/ax/runtime"
	"github.com/ax-scheduler/ax/store"
)

const (
	queued   = 4096 // updates that wait for their spans to be made
	batched  = 512  // spans that are sent together
	pause    = 5 * time.Second
	sendTime = 10 * time.Second // for one try
	giveUp   = 30 * time.Second // on a batch
)

// What becomes of spans.
const (
	Sent    = "sent"
	Failed  = "failed"  // the receiver did not take them
	Dropped = "dropped" // there were too many
)

// Tracer makes spans of what an engine does and sends them. It is the engine's
// Observer, alone or together with others.
type Tracer struct {
	runtime.Unobserved

	store store.Store
	log   *slog.Logger
	count func(result string, n int)

	updates  chan runtime.Update
	closed   atomic.Bool
	stop     chan struct{}
	ended    chan struct{}
	provider *sdk.TracerProvider
	tracer   api.Tracer
	exporter sdk.SpanExporter
	work     context.Context // cut off where there is no more time to end
	cut      context.CancelFunc
	spans    []sdk.ReadOnlySpan // to be sent
	failing  bool
}

// Options say where a Tracer gets what from.
type Options struct {
	Env     []string // "KEY=value"; see Enabled
	Version string   // of ax
	Store   store.Store
	Log     *slog.Logger
}

// New makes a Tracer that sends to where the environment says. Close ends it.
func New(ctx context.Context, o Options) (*Tracer, error) {
	if err := check(o.Env); err != nil {
		return nil, err
	}
	exporter, err := otlptracehttp.New(ctx, otlptracehttp.WithTimeout(sendTime), otlptracehttp.WithRetry(otlptracehttp.RetryConfig{
		Enabled: true, InitialInterval: time.Second, MaxInterval: sendTime, MaxElapsedTime: giveUp,
	}))
	if err != nil {
		return nil, fmt.Errorf("send traces: %w", err)
	}
	about, err := resourceOf(ctx, o.Version)
	if err != nil {
		return nil, err
	}
	t := &Tracer{
		store: o.Store, log: o.Log, count: func(string, int) {}, exporter: exporter,
		updates: make(chan runtime.Update, queued), stop: make(chan struct{}), ended: make(chan struct{}),
	}
	t.work, t.cut = context.WithCancel(context.WithoutCancel(ctx))
	t.provider = sdk.NewTracerProvider(sdk.WithIDGenerator(ids{}), sdk.WithResource(about), sdk.WithSpanProcessor(collector{t}))
	t.tracer = t.provider.Tracer("github.com/ax-scheduler/ax", api.WithInstrumentationVersion(o.Version))
	go t.loop()
	return t, nil
}

func resourceOf(ctx context.Context, version string) (*resource.Resource, error) {
	about, err := resource.New(ctx, resource.WithAttributes(text("service.name", "ax"), text("service.version", version)),
		resource.WithHost(), resource.WithFromEnv()) // the last wins
	if err != nil {
		return nil, fmt.Errorf("OTEL_RESOURCE_ATTRIBUTES: %w", err)
	}
	return about, nil
}

// CountBy has what becomes of spans (Sent, Failed or Dropped) told to a function,
// which returns at once. It is called before the engine begins.
func (t *Tracer) CountBy(count func(result string, n int)) { t.count = count }

// Changed takes in what the engine has made durable. It never waits.
func (t *Tracer) Changed(u runtime.Update) {
	n := spansOf(&u)
	if n == 0 {
		return
	}
	if !t.closed.Load() {
		select {
		case t.updates <- u:
			return
		default:
		}
	}
	t.count(Dropped, n)
}

// spansOf counts the spans that an update gives.
func spansOf(u *runtime.Update) (n int) {
	for i := range u.Attempts {
		if !u.Attempts[i].FinishedAt.IsZero() {
			n++
		}
	}
	if u.Run.State.Final() {
		n++
	}
	return n
}

// Close sends what is still to be sent, until ctx is done, and ends the Tracer.
// The engine has ended before.
func (t *Tracer) Close(ctx context.Context) {
	if t.closed.Swap(true) {
		return
	}
	defer t.cut()
	close(t.stop)
	select {
	case <-t.ended:
	case <-ctx.Done():
		t.cut()
		<-t.ended
	}
	_ = t.provider.Shutdown(ctx) // it has nothing left to do
	_ = t.exporter.Shutdown(ctx)
}

func (t *Tracer) loop() {
	defer close(t.ended)
	tick := time.NewTicker(pause)
	defer tick.Stop()
	for {
		select {
		case u := <-t.updates:
			t.take(&u)
		case <-tick.C:
			t.send()
		case <-t.stop:
			for {
				select {
				case u := <-t.updates:
					t.take(&u)
					continue
				default:
				}
				t.send()
				return
			}
		}
	}
}

func (t *Tracer) take(u *runtime.Update) {
	t.attempts(u)
	if u.Run.State.Final() {
		t.run(&u.Run)
	}
	if len(t.spans) >= batched {
		t.send()
	}
}

// send sends the spans that there are, in parts of a size that receivers take. A
// receiver that does not answer is told of once.
func (t *Tracer) send() {
	for len(t.spans) > 0 {
		n := min(batched, len(t.spans))
		err := t.exporter.ExportSpans(t.work, t.spans[:n])
		t.spans = t.spans[n:]
		if err == nil {
			t.count(Sent, n)
			t.failing = false
			continue
		}
		t.count(Failed, n)
		if !t.failing {
			t.log.Warn("traces cannot be sent", "error", err)
		}
		t.failing = true
	}
	t.spans = nil
}

// collector is the processor that puts ended spans into those to be sent.
type collector struct{ t *Tracer }

func (collector) OnStart(context.Context, sdk.ReadWriteSpan) {}
func (c collector) OnEnd(s sdk.ReadOnlySpan)                 { c.t.spans = append(c.t.spans, s) }
func (collector) Shutdown(context.Context) error             { return nil }
func (collector) ForceFlush(context.Context) error           { return nil }
