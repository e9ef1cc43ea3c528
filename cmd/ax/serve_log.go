package main

import (
	"context"
	"fmt"
	"io"
	"log/slog"

	"github.com/spf13/pflag"

	"github.com/ax-scheduler/ax/runtime"
	"github.com/ax-scheduler/ax/runtime/machine"
	"github.com/ax-scheduler/ax/store"
)

// logOptions are the flags of the log.
type logOptions struct{ format, level string }

func (o *logOptions) flags(f *pflag.FlagSet) {
	f.StringVar(&o.format, "log-format", "text", "form of the log on standard error: text or json, a line an entry")
	f.StringVar(&o.level, "log-level", "info", "the least that is logged: debug, info, warn or error")
}

// logger makes the log.
func (o *logOptions) logger(w io.Writer) (*slog.Logger, error) {
	var level slog.Level
	switch o.level {
	case "debug", "info", "warn", "error":
		if err := level.UnmarshalText([]byte(o.level)); err != nil {
			return nil, fmt.Errorf("--log-level: %w", err)
		}
	default:
		return nil, fmt.Errorf("--log-level %q: it is debug, info, warn or error", o.level)
	}
	opts := &slog.HandlerOptions{Level: level}
	switch o.format {
	case "text":
		return slog.New(traced{slog.NewTextHandler(w, opts)}), nil
	case "json":
		return slog.New(traced{slog.NewJSONHandler(w, opts)}), nil
	}
	return nil, fmt.Errorf("--log-format %q: it is text or json", o.format)
}

// traced adds the trace of the run to each entry that names one.
type traced struct{ slog.Handler }

func (t traced) Handle(ctx context.Context, r slog.Record) error {
	r.Attrs(func(a slog.Attr) bool {
		if trace, ok := traceOf(a); ok {
			r = r.Clone()
			r.AddAttrs(trace)
			return false
		}
		return true
	})
	return t.Handler.Handle(ctx, r)
}

func (t traced) WithAttrs(as []slog.Attr) slog.Handler {
	for _, a := range as {
		if trace, ok := traceOf(a); ok {
			as = append(as[:len(as):len(as)], trace)
			break
		}
	}
	return traced{t.Handler.WithAttrs(as)}
}

func (t traced) WithGroup(name string) slog.Handler { return traced{t.Handler.WithGroup(name)} }

func traceOf(a slog.Attr) (slog.Attr, bool) {
	if run := a.Value.String(); a.Key == "run" && run != "" {
		return slog.String("trace_id", runtime.TraceID(run)), true
	}
	return slog.Attr{}, false
}

// logRuns tells of the beginning and the end of every run, and of its attempts.
func logRuns(log *slog.Logger, updates <-chan *runtime.Update) {
	for u := range updates {
		r := u.Run
		log := log.With("run", r.ID, "workflow", r.Workflow)
		if u.Began {
			log.Info("run started", "trigger", string(r.Trigger), "scheduled_for", r.ScheduledFor)
		}
		for i := range u.Tasks {
			logTask(log, &u.Tasks[i])
		}
		if r.State.Final() {
			log.Info("run ended", "state", r.State.String(), "error", r.Error)
		}
	}
}

// logTask tells where a task stands once attempts of it have been made.
func logTask(log *slog.Logger, t *store.Task) {
	if t.Attempts == 0 {
		return
	}
	log = log.With("task", t.ID, "attempt", t.Attempts)
	switch t.State {
	case machine.Running:
		log.Debug("attempt started")
	case machine.Retrying:
		log.Warn("attempt failed, another follows", "error", t.Error)
	case machine.Failed:
		log.Warn("task failed", "reason", string(t.Reason), "error", t.Error)
	case machine.Succeeded, machine.Cancelled:
		log.Debug("task ended", "state", t.State.String())
	}
}
