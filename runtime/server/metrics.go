package server

import (
	"context"
	"net/http"
	goruntime "runtime"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/ax-scheduler/ax/runtime"
	"github.com/ax-scheduler/ax/runtime/machine"
	"github.com/ax-scheduler/ax/runtime/reload"
	"github.com/ax-scheduler/ax/store"
)

// Metrics counts what an engine does, for Prometheus: it is the engine's
// Observer, and what the Server tells at /metrics. docs/metrics.md has the names.
type Metrics struct {
	catalog  func() *reload.Catalog
	registry *prometheus.Registry

	runs, late, ticks, tries, spans *prometheus.CounterVec
	attempts                        *prometheus.HistogramVec
	commits                         prometheus.Histogram
}

var _ runtime.Observer = (*Metrics)(nil)

// NewMetrics makes the metrics of one engine. Only workflows of the catalog have
// series of their own, so that there are no more of these than files; it may be
// nil until the first is loaded.
func NewMetrics(version string, catalog func() *reload.Catalog) *Metrics {
	counter := func(name, help string, labels ...string) *prometheus.CounterVec {
		return prometheus.NewCounterVec(prometheus.CounterOpts{Name: name, Help: help}, labels)
	}
	m := &Metrics{
		catalog: catalog, registry: prometheus.NewRegistry(),
		runs:  counter("ax_runs_ended_total", "Runs that have ended, by workflow and state.", "workflow", "state"),
		late:  counter("ax_runs_late_total", "Runs and missed ticks that had not ended in the time of expect_within.", "workflow"),
		ticks: counter("ax_ticks_total", "Due times of schedules, by workflow and what became of them.", "workflow", "outcome"),
		tries: counter("ax_message_tries_total", "Tries to send messages of notify, by result: sent, failed or given_up.", "result"),
		spans: counter("ax_trace_spans_total", "Spans of traces, by result: sent, failed (the receiver did not take them) or dropped (there were too many).", "result"),
		attempts: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "ax_attempt_duration_seconds", Help: "How long attempts took, by the state in which they ended.",
			Buckets: []float64{.01, .1, 1, 10, 60, 300, 900, 3600, 4 * 3600, 24 * 3600},
		}, []string{"state"}),
		commits: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "ax_commit_duration_seconds", Help: "How long the store took to make a batch durable.",
			Buckets: prometheus.ExponentialBuckets(.0005, 4, 9),
		}),
	}
	build := prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: "ax_build_info", Help: "The version of ax and of Go; always 1."}, []string{"version", "go_version"})
	build.WithLabelValues(version, goruntime.Version()).Set(1)
	m.registry.MustRegister(m.runs, m.late, m.ticks, m.tries, m.spans, m.attempts, m.commits, build,
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	for _, result := range []string{"sent", "failed", "given_up"} {
		m.tries.WithLabelValues(result)
	}
	for _, result := range []string{"sent", "failed", "dropped"} {
		m.spans.WithLabelValues(result)
	}
	return m
}

// label gives the value of the label workflow.
func (m *Metrics) label(workflow string) string {
	if c := m.catalog(); c != nil && c.Workflows[workflow] != nil {
		return workflow
	}
	return "(not loaded)"
}

// RunEnded counts a run.
func (m *Metrics) RunEnded(workflow string, state machine.RunState) {
	m.runs.WithLabelValues(m.label(workflow), state.String()).Inc()
}

// RunLate counts a run that is late.
func (m *Metrics) RunLate(workflow string) { m.late.WithLabelValues(m.label(workflow)).Inc() }

// AttemptEnded counts an attempt.
func (m *Metrics) AttemptEnded(state machine.TaskState, took time.Duration) {
	m.attempts.WithLabelValues(state.String()).Observe(took.Seconds())
}

// TickSettled counts a tick.
func (m *Metrics) TickSettled(workflow string, outcome store.TickOutcome) {
	m.ticks.WithLabelValues(m.label(workflow), string(outcome)).Inc()
}

// SpansEnded counts spans of traces, by what became of them.
func (m *Metrics) SpansEnded(result string, n int) { m.spans.WithLabelValues(result).Add(float64(n)) }

// Changed is not counted: what it tells of is told elsewhere too.
func (m *Metrics) Changed(runtime.Update) {}

// Committed counts a batch.
func (m *Metrics) Committed(took time.Duration) { m.commits.Observe(took.Seconds()) }

// MessageTried counts a try to send a message.
func (m *Metrics) MessageTried(state store.MessageState) {
	result := string(state)
	if state == store.MessageWaiting {
		result = "failed"
	}
	m.tries.WithLabelValues(result).Inc()
}

// handler tells the metrics together with how the engine of a server does now.
func (m *Metrics) handler(s *Server) http.Handler {
	now := prometheus.NewRegistry()
	now.MustRegister(&collector{s})
	tell := promhttp.HandlerFor(prometheus.Gatherers{m.registry, now}, promhttp.HandlerOpts{})
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		m.begin()
		tell.ServeHTTP(w, r)
	})
}

// begin has the counters that alerts are about begin at zero for each workflow
// that is loaded: of a series that begins with the first failure Prometheus cannot
// tell that it has grown.
func (m *Metrics) begin() {
	c := m.catalog()
	if c == nil {
		return
	}
	for name := range c.Workflows {
		m.runs.WithLabelValues(name, machine.RunFailed.String())
		m.late.WithLabelValues(name)
		m.ticks.WithLabelValues(name, string(store.TickMissed))
	}
}

// collector asks the engine, the store and the catalog each time that metrics
// are asked for.
type collector struct{ s *Server }

func describe(name, help string, labels ...string) *prometheus.Desc {
	return prometheus.NewDesc(name, help, labels, nil)
}

// gauges are what a collector tells.
type gauges struct {
	ready, queued, running, slots, lag, outbox, workflows, files *prometheus.Desc
}

func newGauges() gauges {
	return gauges{
		ready:     describe("ax_ready", "Whether new work is started: 1, or 0 where /readyz tells why not."),
		queued:    describe("ax_runs_queued", "Runs that wait for others of their workflow, as far as is known."),
		running:   describe("ax_attempts_running", "Attempts under way."),
		slots:     describe("ax_attempt_slots", "Attempts that may be under way at a time (--max-parallel)."),
		lag:       describe("ax_loop_lag_seconds", "How long the engine took to answer just now."),
		outbox:    describe("ax_outbox_messages", "Messages of notify that wait to be sent."),
		workflows: describe("ax_workflows", "Workflows that are loaded."),
		files:     describe("ax_workflow_files", "Files of workflows, by state: loaded, stale (an older version is loaded, for this one has errors) or refused.", "state"),
	}
}

// Describe gives what Collect tells.
func (c *collector) Describe(to chan<- *prometheus.Desc) {
	g := newGauges()
	for _, d := range []*prometheus.Desc{g.ready, g.queued, g.running, g.slots, g.lag, g.outbox, g.workflows, g.files} {
		to <- d
	}
}

// answerTime is how long an engine may take to answer.
const answerTime = 5 * time.Second

// Collect asks. An engine that does not answer is not ready, and its lag is how
// long it was waited for.
func (c *collector) Collect(to chan<- prometheus.Metric) {
	ctx, cancel := context.WithTimeout(context.Background(), answerTime)
	defer cancel()
	g := newGauges()
	tell := func(d *prometheus.Desc, v float64, labels ...string) {
		to <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, v, labels...)
	}
	began := time.Now()
	h, err := c.s.Engine.Health(ctx)
	tell(g.lag, time.Since(began).Seconds())
	ready := 0.0
	if err == nil && h.Trouble == "" && !c.s.Stopping() {
		ready = 1
	}
	tell(g.ready, ready)
	if err == nil {
		tell(g.queued, float64(h.Queued))
		tell(g.running, float64(h.Active))
		tell(g.slots, float64(h.Slots))
	}
	if n, err := c.s.Store.Waiting(ctx); err == nil {
		tell(g.outbox, float64(n))
	}
	files := map[string]int{"loaded": 0, "stale": 0, "refused": 0}
	loaded := 0
	if all := c.s.Catalog(); all != nil {
		loaded = len(all.Workflows)
		for i := range all.Files {
			files[fileState(&all.Files[i])]++
		}
	}
	tell(g.workflows, float64(loaded))
	for state, n := range files {
		tell(g.files, float64(n), state)
	}
}

func fileState(f *reload.Found) string {
	switch {
	case f.Stale:
		return "stale"
	case f.Name == "":
		return "refused"
	}
	return "loaded"
}
