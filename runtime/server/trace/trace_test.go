package trace

import (
	"compress/gzip"
	"context"
	"encoding/hex"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	collect "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	otlp "go.opentelemetry.io/proto/otlp/trace/v1"
	"go.uber.org/goleak"
	"google.golang.org/protobuf/proto"

	"github.com/ax-scheduler/ax/runtime"
	"github.com/ax-scheduler/ax/runtime/machine"
	"github.com/ax-scheduler/ax/runtime/reload"
	"github.com/ax-scheduler/ax/store"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// receiver takes traces as a collector does.
type receiver struct {
	mu       sync.Mutex
	spans    []*otlp.Span
	resource map[string]string
	refuse   bool
	hold     chan struct{} // nil, or closed to let requests go on
}

func (r *receiver) ServeHTTP(w http.ResponseWriter, q *http.Request) {
	body := io.Reader(q.Body)
	if q.Header.Get("Content-Encoding") == "gzip" {
		unzipped, err := gzip.NewReader(q.Body)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		body = unzipped
	}
	data, err := io.ReadAll(body)
	var sent collect.ExportTraceServiceRequest
	if err == nil {
		err = proto.Unmarshal(data, &sent)
	}
	if err != nil || q.URL.Path != "/v1/traces" {
		http.Error(w, fmt.Sprint(q.URL.Path, err), http.StatusBadRequest)
		return
	}
	if r.hold != nil {
		<-r.hold
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.refuse {
		http.Error(w, "no", http.StatusForbidden)
		return
	}
	for _, of := range sent.ResourceSpans {
		for _, a := range of.Resource.Attributes {
			r.resource[a.Key] = a.Value.GetStringValue()
		}
		for _, s := range of.ScopeSpans {
			r.spans = append(r.spans, s.Spans...)
		}
	}
}

// counts is what a Tracer has told of its spans.
type counts struct {
	mu sync.Mutex
	n  map[string]int
}

func (c *counts) add(result string, n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.n[result] += n
}

func (c *counts) of(result string) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.n[result]
}

// traced gives a Tracer that sends to a receiver. The returned function ends it.
func traced(t *testing.T, r *receiver, st store.Store) (*Tracer, *counts, func()) {
	t.Helper()
	r.resource = map[string]string{}
	s := httptest.NewServer(r)
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", s.URL)
	t.Setenv("OTEL_RESOURCE_ATTRIBUTES", "deployment.environment=test")
	tr, err := New(t.Context(), Options{Env: os.Environ(), Version: "7", Store: st, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	c := &counts{n: map[string]int{}}
	tr.CountBy(c.add)
	return tr, c, func() {
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		tr.Close(ctx)
		tr.Close(ctx) // twice does no harm
		s.Close()
	}
}

func attributes(s *otlp.Span) string {
	var all []string
	for _, a := range s.Attributes {
		v := a.Value.GetStringValue()
		if v == "" {
			v = fmt.Sprint(a.Value.GetIntValue())
		}
		all = append(all, a.Key+"="+v)
	}
	return strings.Join(all, " ")
}

const flow = `
name: flow
tasks:
  load:
    run: 'echo "$TRACEPARENT" >> "$AX_ARTIFACTS/told"; test "$AX_ATTEMPT" = 2'
    retry: {max: 1, delay: 10ms}
  each: {foreach: [x, y], run: 'exit 3', depends_on: load}
`

func TestARunIsATraceAndAnAttemptASpanOfIt(t *testing.T) {
	st, data := &store.Memory{}, t.TempDir()
	r := &receiver{}
	tr, counted, end := traced(t, r, st)
	e := &runtime.Engine{Store: st, Data: data, Env: os.Environ(), Observer: tr}
	ctx, stop := context.WithCancel(t.Context())
	served := make(chan error, 1)
	go func() { served <- e.Serve(ctx) }()
	run, err := e.Start(ctx, runtime.Request{Plan: reload.Check("flow.yaml", []byte(flow)).Plan})
	if err != nil {
		t.Fatal(err)
	}
	if run, err = e.Wait(ctx, run.ID); err != nil {
		t.Fatal(err)
	}
	stop()
	if err := <-served; err != nil {
		t.Fatal(err)
	}
	end()

	byName := map[string]*otlp.Span{}
	for _, s := range r.spans {
		if hex.EncodeToString(s.TraceId) != runtime.TraceID(run.ID) {
			t.Errorf("span %s is of the trace %x", s.Name, s.TraceId)
		}
		name := s.Name
		if name == "load" {
			name += fmt.Sprint(s.Attributes[3].Value.GetIntValue())
		}
		byName[name] = s
	}
	if len(r.spans) != 5 || len(byName) != 5 || counted.of(Sent) != 5 || counted.of(Dropped)+counted.of(Failed) != 0 {
		t.Fatalf("the spans are %v, counted %v", r.spans, counted.n)
	}
	root := byName["run flow"]
	told, err := os.ReadFile(data + "/artifacts/" + run.ID + "/told")
	if err != nil {
		t.Fatal(err)
	}
	for i, line := range strings.Fields(string(told)) {
		s := byName[fmt.Sprint("load", i+1)]
		if want := fmt.Sprintf("00-%x-%x-01", s.TraceId, s.SpanId); line != want {
			t.Errorf("attempt %d was told %s, its span is %s", i+1, line, want)
		}
	}
	attempts, err := st.Attempts(t.Context(), run.ID)
	if err != nil {
		t.Fatal(err)
	}
	first := byName["load1"]
	if first.StartTimeUnixNano != uint64(attempts[0].StartedAt.UnixNano()) || first.EndTimeUnixNano != uint64(attempts[0].FinishedAt.UnixNano()) {
		t.Errorf("the first attempt is %+v, its span %v", attempts[0], first)
	}
	for name, want := range map[string]string{
		"load1":   "ax.workflow=flow ax.run=" + run.ID + " ax.task=load ax.attempt=1 ax.state=failed ax.reason=exit ax.exit_code=1",
		"load2":   "ax.workflow=flow ax.run=" + run.ID + " ax.task=load ax.attempt=2 ax.state=succeeded ax.exit_code=0",
		"each[0]": "ax.workflow=flow ax.run=" + run.ID + " ax.task=each[0] ax.attempt=1 ax.state=failed ax.reason=exit ax.exit_code=3",
	} {
		s := byName[name]
		if got := attributes(s); got != want {
			t.Errorf("%s has %s, want %s", name, got, want)
		}
		if !slices.Equal(s.ParentSpanId, root.SpanId) {
			t.Errorf("%s belongs to %x", name, s.ParentSpanId)
		}
		if failed := s.Status.GetCode() == otlp.Status_STATUS_CODE_ERROR; failed == (name == "load2") {
			t.Errorf("%s has the status %v", name, s.Status)
		}
	}
	if root.StartTimeUnixNano != uint64(run.StartedAt.UnixNano()) || root.EndTimeUnixNano != uint64(run.FinishedAt.UnixNano()) ||
		len(root.ParentSpanId) > 0 || root.Status.GetCode() != otlp.Status_STATUS_CODE_ERROR {
		t.Errorf("the run is %+v, its span %v", run, root)
	}
	var waits []string
	for _, ev := range root.Events {
		waits = append(waits, ev.Name+" "+ev.Attributes[0].Value.GetStringValue()+" "+ev.Attributes[1].Value.GetStringValue())
	}
	if !slices.Contains(waits, "wait retry load") {
		t.Errorf("the run waited for %q", waits)
	}
	if r.resource["service.name"] != "ax" || r.resource["service.version"] != "7" || r.resource["deployment.environment"] != "test" {
		t.Errorf("the resource is %v", r.resource)
	}
}

var day = time.Date(2026, 3, 1, 2, 0, 0, 0, time.UTC)

// ended gives an update of a run that has ended with one attempt.
func ended(n int) runtime.Update {
	id := fmt.Sprint("r", n)
	return runtime.Update{
		Run:      store.Run{ID: id, Workflow: "flow", State: machine.RunSucceeded, CreatedAt: day, StartedAt: day, FinishedAt: day.Add(time.Hour)},
		Tasks:    []store.Task{{RunID: id, ID: "a"}},
		Attempts: []store.Attempt{{RunID: id, Number: 1, State: machine.Succeeded, StartedAt: day, FinishedAt: day.Add(time.Minute)}},
	}
}

func TestAReceiverThatDoesNotAnswerHoldsNobodyUpAndWhatIsTooMuchIsCounted(t *testing.T) {
	r := &receiver{hold: make(chan struct{})}
	tr, counted, end := traced(t, r, &store.Memory{})
	const updates = 3 * queued
	for i := range updates {
		tr.Changed(ended(i)) // it returns, though nobody takes anything
	}
	if counted.of(Dropped) == 0 {
		t.Error("nothing was dropped")
	}
	close(r.hold)
	end()
	if all := counted.of(Dropped) + counted.of(Sent) + counted.of(Failed); all != 2*updates || counted.of(Sent) != len(r.spans) {
		t.Errorf("of %d spans %v are told of, and %d came", 2*updates, counted.n, len(r.spans))
	}
	tr.Changed(ended(0))
	if counted.of(Dropped)+counted.of(Sent) != 2*updates+2 {
		t.Errorf("what comes after the end is not counted: %v", counted.n)
	}
}

func TestClosingDoesNotWaitForAReceiverThatDoesNotAnswer(t *testing.T) {
	r := &receiver{hold: make(chan struct{})}
	tr, counted, end := traced(t, r, &store.Memory{})
	tr.Changed(ended(1))
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	tr.Close(ctx)
	if counted.of(Failed) != 2 {
		t.Errorf("counted is %v", counted.n)
	}
	close(r.hold)
	end()
}

func TestSpansThatAreRefusedAreCounted(t *testing.T) {
	r := &receiver{refuse: true}
	tr, counted, end := traced(t, r, &store.Memory{})
	tr.Changed(ended(1))
	tr.Changed(runtime.Update{Run: store.Run{ID: "r2", State: machine.RunRunning}}) // no span
	end()
	if counted.of(Failed) != 2 || counted.of(Sent)+counted.of(Dropped) != 0 {
		t.Errorf("counted is %v", counted.n)
	}
}

func TestTracesAreOffUnlessTheEnvironmentNamesAReceiver(t *testing.T) {
	for _, c := range []struct {
		env   string
		on    bool
		error string
	}{
		{"", false, ""},
		{"OTEL_SERVICE_NAME=ax", false, ""},
		{"OTEL_EXPORTER_OTLP_ENDPOINT=", false, ""},
		{"OTEL_EXPORTER_OTLP_ENDPOINT=http://127.0.0.1:4318", true, ""},
		{"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT=https://traces.example/v1/traces", true, ""},
		{"OTEL_EXPORTER_OTLP_ENDPOINT=http://127.0.0.1:4318 OTEL_SDK_DISABLED=true", false, ""},
		{"OTEL_EXPORTER_OTLP_ENDPOINT=http://127.0.0.1:4318 OTEL_TRACES_EXPORTER=none", false, ""},
		{"OTEL_EXPORTER_OTLP_ENDPOINT=127.0.0.1:4318", true, `variable OTEL_EXPORTER_OTLP_ENDPOINT: "127.0.0.1:4318" is not the address of a receiver, as http://127.0.0.1:4318`},
		{"OTEL_EXPORTER_OTLP_ENDPOINT=http://x OTEL_EXPORTER_OTLP_PROTOCOL=grpc", true, `variable OTEL_EXPORTER_OTLP_PROTOCOL: "grpc": ax sends traces by http/protobuf alone`},
	} {
		env := strings.Fields(c.env)
		if got := Enabled(env); got != c.on {
			t.Errorf("%s: enabled is %v", c.env, got)
		}
		message := ""
		if err := check(env); err != nil {
			message = err.Error()
		}
		if message != c.error {
			t.Errorf("%s: the error is %q", c.env, message)
		}
	}
}
