package server

import (
	"bytes"
	"cmp"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	"gopkg.in/yaml.v3"

	"github.com/ax-scheduler/ax/runtime"
	"github.com/ax-scheduler/ax/runtime/reload"
)

// measured gives a server whose engine is observed.
func measured(s *Server) {
	s.Metrics = NewMetrics("1.2.3", s.Catalog)
	s.Engine.Observer = s.Metrics
}

// sample gives the value of a series of an exposition; "" where there is none.
func sample(text, series string) string {
	for line := range strings.SplitSeq(text, "\n") {
		if value, ok := strings.CutPrefix(line, series+" "); ok {
			return value
		}
	}
	return ""
}

func TestMetricsCountWhatTheEngineDoes(t *testing.T) {
	var e *runtime.Engine
	c := newClient(t, measured, func(s *Server) { e = s.Engine })
	for _, body := range []string{`{}`, `{}`, `{"params": {"who": "fail"}}`} {
		var run runtime.Report
		c.want(201, "POST", "/api/v1/workflows/flow/runs", body, &run)
		if _, err := e.Wait(t.Context(), run.ID); err != nil {
			t.Fatal(err)
		}
	}
	code, kind, text := c.do("GET", "/metrics", "")
	if code != 200 || !strings.HasPrefix(kind, "text/plain") {
		t.Fatalf("/metrics answered %d %s", code, kind)
	}
	for series, want := range map[string]string{
		`ax_runs_ended_total{state="succeeded",workflow="flow"}`: "2",
		`ax_runs_ended_total{state="failed",workflow="flow"}`:    "1",
		`ax_attempt_duration_seconds_count{state="succeeded"}`:   "6", // each run has a task and two instances
		`ax_attempt_duration_seconds_count{state="failed"}`:      "1",
		`ax_message_tries_total{result="sent"}`:                  "0",
		`ax_ready`:                                               "1",
		`ax_runs_queued`:                                         "0",
		`ax_attempts_running`:                                    "0",
		`ax_attempt_slots`:                                       "64",
		`ax_outbox_messages`:                                     "0",
		`ax_workflows`:                                           "1",
		`ax_workflow_files{state="refused"}`:                     "1",
		`ax_workflow_files{state="stale"}`:                       "0",
		`ax_commit_duration_seconds_bucket{le="0"}`:              "",
		`ax_runs_ended_total{workflow="not there"}`:              "",
		`ax_ticks_total{outcome="fired"}`:                        "",
		`ax_attempt_duration_seconds_count{state=""}`:            "",
	} {
		if got := sample(text, series); got != want {
			t.Errorf("%s is %q, want %q", series, got, want)
		}
	}
	if n := sample(text, "ax_commit_duration_seconds_count"); n == "" || n == "0" {
		t.Errorf("%q commits were counted", n)
	}
}

func TestWorkflowsThatAreNotLoadedShareOneSeries(t *testing.T) {
	m := NewMetrics("1", func() *reload.Catalog { return nil })
	m.RunLate("one")
	m.RunLate("two")
	if got := testutil.ToFloat64(m.late.WithLabelValues("(not loaded)")); got != 2 || testutil.CollectAndCount(m.late) != 1 {
		t.Errorf("%v runs are counted in %d series", got, testutil.CollectAndCount(m.late))
	}
}

func TestMetricsNeedATokenWhereThereAreTokens(t *testing.T) {
	c := newClient(t, measured, func(s *Server) { s.Tokens = []Token{NewToken(Reader, "hush")} })
	if code, _, _ := c.do("GET", "/metrics", ""); code != 401 {
		t.Errorf("without a token the answer is %d", code)
	}
	if code, _, _ := c.do("GET", "/metrics", "", "Authorization: Bearer hush"); code != 200 {
		t.Errorf("with a token the answer is %d", code)
	}
}

func TestWhatAlertsAreAboutBeginsAtZero(t *testing.T) {
	c := newClient(t, measured)
	_, _, text := c.do("GET", "/metrics", "")
	for _, series := range []string{
		`ax_runs_ended_total{state="failed",workflow="flow"}`, `ax_runs_late_total{workflow="flow"}`, `ax_ticks_total{outcome="missed",workflow="flow"}`,
	} {
		if got := sample(text, series); got != "0" {
			t.Errorf("before anything has happened %s is %q", series, got)
		}
	}
}

// names gives the metrics of ax with their types, each used once so that all have
// a series.
func names(t *testing.T) map[string]string {
	found, _ := metricsAndLabels(t)
	return found
}

// metricsAndLabels is names with the labels of each.
func metricsAndLabels(t *testing.T) (found map[string]string, labels map[string][]string) {
	t.Helper()
	var s *Server
	newClient(t, measured, func(of *Server) { s = of })
	m := s.Metrics
	m.RunEnded("flow", 3)
	m.RunLate("flow")
	m.TickSettled("flow", "fired")
	m.AttemptEnded(3, 1)
	now := prometheus.NewRegistry()
	now.MustRegister(&collector{s})
	all := prometheus.Gatherers{m.registry, now}
	flaws, err := testutil.GatherAndLint(all)
	if err != nil || len(flaws) > 0 {
		t.Errorf("the names are not by the conventions: %v (%v)", flaws, err)
	}
	families, err := all.Gather()
	if err != nil {
		t.Fatal(err)
	}
	found, labels = map[string]string{}, map[string][]string{}
	for _, f := range families {
		name := f.GetName()
		found[name], labels[name] = strings.ToLower(f.GetType().String()), []string{"instance", "job"}
		for _, l := range f.GetMetric()[0].GetLabel() {
			labels[name] = append(labels[name], l.GetName())
		}
		if found[name] == "histogram" {
			labels[name] = append(labels[name], "le")
		}
	}
	return found, labels
}

// promWord is a word of PromQL, a text, a span of time in brackets, a variable of
// Grafana, a number or a sign.
var promWord = regexp.MustCompile(`^(?:[a-zA-Z_]\w*|"[^"]*"|\[(?:[0-9]+[smhd]|\$__rate_interval)\]|[0-9]+(?:\.[0-9]+)?|=~|!=|==|>=|<=|[-+*/=<>(){},])`)

// promWords are those that the rules and the dashboard may use beside metrics and
// labels.
var promWords = strings.Fields("sum min max by on and or unless rate increase histogram_quantile up")

// flawsOf gives what is wrong with an expression: what cannot be read, brackets that
// do not close, functions and labels that there are not.
func flawsOf(expr string, labels map[string][]string) (flaws []string) {
	var open, words []string
	for rest := strings.TrimSpace(expr); rest != ""; rest = strings.TrimSpace(rest) {
		w := promWord.FindString(rest)
		if w == "" {
			return append(flaws, "cannot be read at "+rest)
		}
		words, rest = append(words, w), rest[len(w):]
	}
	metric, of := "", map[string]bool{"instance": true} // labels of all metrics that are named
	for _, w := range words {
		for _, l := range labels[suffix.ReplaceAllString(w, "")] {
			of[l] = true
		}
		for _, l := range labels[w] {
			of[l] = true
		}
	}
	for i, w := range words {
		next := append(words[i+1:len(words):len(words)], "")[0]
		switch {
		case w == "(" || w == "{":
			open = append(open, w)
		case w == ")" || w == "}":
			if n := len(open); n == 0 || open[n-1]+w != "()" && open[n-1]+w != "{}" {
				return append(flaws, "closes what is not open")
			}
			open = open[:len(open)-1]
		case !metricName.MatchString(w+" ") && !regexp.MustCompile(`^[a-z]\w*$`).MatchString(w):
		case labels[w] != nil || labels[suffix.ReplaceAllString(w, "")] != nil:
			metric = w
		case len(open) > 0 && open[len(open)-1] == "{":
			known := labels[metric]
			if known == nil {
				known = labels[suffix.ReplaceAllString(metric, "")]
			}
			if metric == "" || metric == "up" {
				known = []string{"instance", "job"}
			}
			if !slices.Contains(known, w) {
				flaws = append(flaws, metric+" has no label "+w)
			}
		case slices.Contains(promWords, w):
			if w == "up" {
				metric = w
			}
		case (next == ")" || next == ",") && of[w]:
		default:
			flaws = append(flaws, "has the word "+w)
		}
	}
	if len(open) > 0 {
		flaws = append(flaws, "is not closed")
	}
	return flaws
}

func TestTheExpressionsOfTheManualCanBeRead(t *testing.T) {
	_, labels := metricsAndLabels(t)
	for _, c := range []struct{ expr, flaw string }{
		{`sum by (state) (increase(ax_runs_ended_total{state="failed"}[15m])) > 0`, ""},
		{`histogram_quantile(0.99, sum by (instance, le) (rate(ax_commit_duration_seconds_bucket[5m]))) > 1`, ""},
		{`sum(ax_ready`, "is not closed"}, {`sum(ax_ready}`, "closes what is not open"}, {`summ(ax_ready)`, "has the word summ"},
		{`ax_ready{state="x"}`, "ax_ready has no label state"}, {`sum by (workflow) (ax_ready)`, "has the word workflow"}, {`rate(ax_ready[5x])`, "cannot be read at [5x])"},
	} {
		if got := strings.Join(flawsOf(c.expr, labels), "; "); got != c.flaw {
			t.Errorf("%s: the flaws are %q, want %q", c.expr, got, c.flaw)
		}
	}
	for _, path := range []string{"../../docs/operations/alerts.yaml", "../../docs/operations/grafana.json"} {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		var doc yaml.Node
		if err := yaml.Unmarshal(text, &doc); err != nil { // JSON is YAML
			t.Fatal(err)
		}
		exprs := valuesOf(&doc, "expr")
		if len(exprs) < 10 {
			t.Fatalf("%s has only %d expressions", path, len(exprs))
		}
		for _, expr := range exprs {
			if flaws := flawsOf(expr, labels); len(flaws) > 0 {
				t.Errorf("%s: %s: %v", path, expr, flaws)
			}
		}
	}
}

// valuesOf gives the values that a key has anywhere.
func valuesOf(n *yaml.Node, key string) (all []string) {
	for i, c := range n.Content {
		if n.Kind == yaml.MappingNode && i%2 == 1 && n.Content[i-1].Value == key {
			all = append(all, c.Value)
		}
		all = append(all, valuesOf(c, key)...)
	}
	return all
}

func TestMetricsAreThoseOfTheManual(t *testing.T) {
	text, err := os.ReadFile("../../docs/metrics.md")
	if err != nil {
		t.Fatal(err)
	}
	told := map[string]string{}
	for _, m := range regexp.MustCompile("(?m)^\\| `(ax_[a-z_]+)` \\| ([a-z]+) \\|").FindAllStringSubmatch(string(text), -1) {
		told[m[1]] = m[2]
	}
	found := names(t)
	for name, kind := range found {
		if strings.HasPrefix(name, "ax_") && told[name] != kind {
			t.Errorf("%s is a %s, but the page has %q", name, kind, told[name])
		}
		delete(told, name)
	}
	if len(told) > 0 {
		t.Errorf("the page has metrics that there are not: %v", told)
	}
}

var (
	metricName = regexp.MustCompile(`\b(?:ax|process|go)_[a-z_]+\b`)
	suffix     = regexp.MustCompile(`_(bucket|sum|count)$`)
)

// unknownIn gives the metrics in an expression that there are not.
func unknownIn(expr string, known map[string]string) (unknown []string) {
	for _, name := range metricName.FindAllString(expr, -1) {
		base := suffix.ReplaceAllString(name, "")
		if known[name] == "" && known[base] != "histogram" {
			unknown = append(unknown, name)
		}
	}
	return unknown
}

func TestTheAlertsAreAboutMetricsThatThereAre(t *testing.T) {
	text, err := os.ReadFile("../../docs/operations/alerts.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Groups []struct {
			Name  string
			Rules []struct {
				Alert, Expr         string
				For                 string
				Labels, Annotations map[string]string
			}
		}
	}
	strict := yaml.NewDecoder(bytes.NewReader(text))
	strict.KnownFields(true)
	if err := strict.Decode(&file); err != nil {
		t.Fatal(err)
	}
	known := names(t)
	var alerts []string
	for _, r := range file.Groups[0].Rules {
		alerts = append(alerts, r.Alert)
		if unknown := unknownIn(r.Expr, known); len(unknown) > 0 {
			t.Errorf("%s is about %v, which there is not", r.Alert, unknown)
		}
		if _, err := time.ParseDuration(cmp.Or(r.For, "0s")); err != nil {
			t.Errorf("%s: %v", r.Alert, err)
		}
		if r.Labels["severity"] == "" || r.Annotations["summary"] == "" || r.Annotations["description"] == "" {
			t.Errorf("%s does not say how bad it is, or what to do", r.Alert)
		}
	}
	for _, want := range []string{"AxNotReady", "AxRunFailed", "AxRunLate", "AxNothingRan", "AxWorkflowBroken"} {
		if !slices.Contains(alerts, want) {
			t.Errorf("there is no alert %s", want)
		}
	}
	if len(unknownIn("rate(ax_gone_total[5m]) + ax_ready_count + ax_ready", known)) != 2 {
		t.Error("metrics that there are not go unnoticed")
	}
}

func TestTheDashboardShowsMetricsThatThereAre(t *testing.T) {
	text, err := os.ReadFile("../../docs/operations/grafana.json")
	if err != nil {
		t.Fatal(err)
	}
	var board struct {
		Panels []struct {
			Title   string
			Targets []struct{ Expr string }
		}
	}
	if err := json.Unmarshal(text, &board); err != nil {
		t.Fatal(err)
	}
	known, shown := names(t), map[string]bool{}
	for _, p := range board.Panels {
		for _, target := range p.Targets {
			if unknown := unknownIn(target.Expr, known); len(unknown) > 0 {
				t.Errorf("%s shows %v, which there is not", p.Title, unknown)
			}
			for _, name := range metricName.FindAllString(target.Expr, -1) {
				shown[suffix.ReplaceAllString(name, "")] = true
			}
		}
	}
	for name := range known {
		if strings.HasPrefix(name, "ax_") && !shown[name] {
			t.Errorf("%s is on no panel", name)
		}
	}
}

func TestAnEngineThatStopsIsNotReady(t *testing.T) {
	var s *Server
	newClient(t, measured, func(of *Server) { s = of; s.Stopping = func() bool { return true } })
	w := httptest.NewRecorder() // past the answer 503, which is all that such a server gives
	s.Handler().ServeHTTP(w, httptest.NewRequest("GET", "/metrics", nil))
	if got := sample(w.Body.String(), "ax_ready"); got != "0" {
		t.Errorf("ax_ready is %q", got)
	}
}

func TestAServerWithoutMetricsHasNoPageOfThem(t *testing.T) {
	if code, _, _ := newClient(t).do("GET", "/metrics", ""); code != http.StatusNotFound {
		t.Errorf("a server without metrics answers %d", code)
	}
}
