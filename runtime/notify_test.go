package runtime_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ax-scheduler/ax/runtime"
	"github.com/ax-scheduler/ax/runtime/reload"
	"github.com/ax-scheduler/ax/store"
)

// delivery is a request that a receiver got.
type delivery struct {
	path   string
	header http.Header
	body   string
}

// receiver takes messages and answers each with the next of some codes, 200
// where there is none left.
type receiver struct {
	*httptest.Server
	got chan delivery

	mu    sync.Mutex
	codes []int
}

func newReceiver(t *testing.T, codes ...int) *receiver {
	r := &receiver{got: make(chan delivery, 100), codes: codes}
	r.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		body, _ := io.ReadAll(q.Body)
		r.mu.Lock()
		code := http.StatusOK
		if len(r.codes) > 0 {
			code, r.codes = r.codes[0], r.codes[1:]
		}
		r.mu.Unlock()
		if code/100 == 3 {
			w.Header().Set("Location", q.URL.Query().Get("to"))
		}
		w.WriteHeader(code)
		r.got <- delivery{q.URL.Path, q.Header, string(body)}
	}))
	t.Cleanup(r.Close)
	return r
}

// inDelivery runs do beside an engine that serves and sends.
func inDelivery(t *testing.T, e *runtime.Engine, do func(ctx context.Context)) {
	t.Helper()
	serve(t, e, func(ctx context.Context, e *runtime.Engine) {
		delivering, stop := context.WithCancel(ctx)
		var wg sync.WaitGroup
		wg.Go(func() { e.Deliver(delivering) })
		do(ctx)
		stop()
		wg.Wait()
	})
}

// toEnd runs a workflow to its end.
func toEnd(ctx context.Context, t *testing.T, e *runtime.Engine, text string) store.Run {
	t.Helper()
	return wait(ctx, t, e, start(ctx, t, e, runtime.Request{Plan: plan(t, text)}).ID)
}

func TestTheEndOfARunIsToldToThoseWhoWantIt(t *testing.T) {
	r := newReceiver(t)
	x := &script{fail: map[string]int{"a": -1}}
	e := &runtime.Engine{Store: &store.Memory{}, Executor: x, Data: t.TempDir(), Env: []string{"TOKEN=verysecret"}}
	text := `
name: flow
secrets: {TOKEN: {env: TOKEN}}
params: {who: a verysecret name}
notify:
  - {url: "` + r.URL + `/${{ secrets.TOKEN }}", secret: "${{ secrets.TOKEN }}"}
  - {url: "` + r.URL + `/good", on: succeeded, format: slack}
tasks:
  a: {run: x}
  b: {run: x, depends_on: a}
`
	inDelivery(t, e, func(ctx context.Context) {
		run := toEnd(ctx, t, e, text)
		d := <-r.got
		if d.path != "/verysecret" || d.header.Get("X-Ax-Event") != "failed" || d.header.Get("X-Ax-Delivery") == "" {
			t.Errorf("the request is %+v", d)
		}
		if want := "sha256=" + runtime.Signature("verysecret", d.header.Get("X-Ax-Timestamp"), []byte(d.body)); d.header.Get("X-Ax-Signature") != want {
			t.Errorf("the signature is %s, want %s", d.header.Get("X-Ax-Signature"), want)
		}
		var n runtime.Notice
		if err := json.Unmarshal([]byte(d.body), &n); err != nil {
			t.Fatal(err)
		}
		if n.ID != d.header.Get("X-Ax-Delivery") || n.Run.ID != run.ID || n.Run.State != "failed" || len(n.Run.Tasks) != 1 || n.Run.Tasks[0].ID != "a" {
			t.Errorf("the notice is %s", d.body)
		}
		if n.Run.Params["who"] != "a *** name" || strings.Contains(d.body, "verysecret") {
			t.Errorf("a secret is not masked: %s", d.body)
		}

		x.fail = nil
		toEnd(ctx, t, e, text)
		events := map[string]string{}
		for range 2 {
			d := <-r.got
			events[d.path] = d.header.Get("X-Ax-Event")
		}
		if events["/verysecret"] != "recovered" || events["/good"] != "succeeded" {
			t.Errorf("the events are %v", events)
		}
		toEnd(ctx, t, e, text) // which is no news to who wants to know of recoveries
		if d := <-r.got; d.path != "/good" || !strings.HasPrefix(d.body, `{"text":"*flow succeeded in `) {
			t.Errorf("the request is %+v", d)
		}
		for n := 1; n > 0; { // what came of the last try is being stored
			n, _ = e.Store.Waiting(ctx)
		}
	})
	if n, err := e.Store.Waiting(t.Context()); n != 0 || err != nil || len(r.got) > 0 {
		t.Errorf("%d messages are left (%v), %d came unasked", n, err, len(r.got))
	}
}

func TestARetriedRunThatSucceedsHasRecovered(t *testing.T) {
	x := &script{fail: map[string]int{"a": 1}}
	inEngine(t, x, func(ctx context.Context, e *runtime.Engine) {
		rep := runAll(ctx, t, e, "name: flow\nnotify: [{url: http://127.0.0.1:1, on: [failed, recovered, succeeded]}]\ntasks:\n  a: {run: x}\n")
		time.Sleep(time.Second)
		if err := e.Retry(ctx, rep.ID, nil); err != nil {
			t.Fatal(err)
		}
		if _, err := e.Wait(ctx, rep.ID); err != nil {
			t.Fatal(err)
		}
		equal(t, outbox(ctx, t, e, x), []string{"0s failed: flow failed: task \"a\" failed: exit code 3: no luck", "1s recovered: flow has recovered: it succeeded in 0s"})
	})
}

func TestARunHasRecoveredWhileTheOneThatFailedIsRetriedOrWasCancelled(t *testing.T) {
	for _, cancelled := range []bool{false, true} {
		x := &script{fail: map[string]int{"a": -1}, took: map[string]time.Duration{"a": time.Minute}}
		inEngine(t, x, func(ctx context.Context, e *runtime.Engine) {
			text := "name: flow\nmax_active: 2\nparams: {bad: true}\nnotify: [{url: http://127.0.0.1:1, on: [failed, recovered, succeeded]}]\n" +
				"tasks:\n  a: {run: x, when: params.bad}\n  b: {run: x, when: not params.bad}\n"
			rep := runAll(ctx, t, e, text)
			if err := e.Retry(ctx, rep.ID, nil); err != nil {
				t.Fatal(err)
			}
			time.Sleep(time.Second)
			if cancelled {
				if err := e.Cancel(ctx, rep.ID, "a test"); err != nil {
					t.Fatal(err)
				}
				wait(ctx, t, e, rep.ID)
			}
			good := start(ctx, t, e, runtime.Request{Plan: plan(t, text), Params: map[string]string{"bad": "false"}})
			wait(ctx, t, e, good.ID)
			equal(t, outbox(ctx, t, e, x), []string{
				"1m0s failed: flow failed: task \"a\" failed: exit code 3: no luck", "1m1s recovered: flow has recovered: it succeeded in 0s",
			})
			wait(ctx, t, e, rep.ID)
		})
	}
}

func TestOfRunsThatEndInOneInstantOneThatFailsIsTheLastInWhateverOrderTheyAreWritten(t *testing.T) {
	const text = "name: flow\nmax_active: 3\nparams: {bad: true}\nnotify: [{url: http://127.0.0.1:1, on: [failed, recovered, succeeded]}]\n" +
		"tasks:\n  a: {run: x, when: params.bad}\n  b: {run: x, when: not params.bad}\n"
	for _, together := range [][]string{{"true", "false", "false"}, {"false", "true", "false"}, {"false", "false", "true"}} {
		for _, pause := range []time.Duration{0, time.Second} { // in one write or in several
			x := &script{fail: map[string]int{"a": -1}, took: map[string]time.Duration{"a": time.Minute, "b": time.Minute}}
			synctest.Test(t, func(t *testing.T) {
				x.t0 = time.Now()
				at := x.t0.Add(time.Minute)
				e := &runtime.Engine{Store: &store.Memory{}, Executor: x, Data: t.TempDir(), Zone: time.UTC, Owner: "test"}
				e.Clock = func() time.Time { // which stands still while they end
					if now := time.Now(); now.Before(at) || now.After(at.Add(10*time.Second)) {
						return now
					}
					return at
				}
				serve(t, e, func(ctx context.Context, e *runtime.Engine) {
					run := func(bad string) string {
						return start(ctx, t, e, runtime.Request{Plan: plan(t, text), Params: map[string]string{"bad": bad}}).ID
					}
					var ids []string
					for _, bad := range together {
						ids = append(ids, run(bad))
						time.Sleep(pause)
					}
					for _, id := range ids {
						wait(ctx, t, e, id)
					}
					for range 2 {
						time.Sleep(time.Minute)
						wait(ctx, t, e, run("false"))
					}
					var told []string
					for _, m := range outbox(ctx, t, e, x) {
						told = append(told, strings.Join(strings.Fields(m)[:2], " "))
					}
					slices.Sort(told[:3])
					last := pause * 2
					equal(t, told, []string{"1m0s failed:", "1m0s succeeded:", "1m0s succeeded:",
						(3*time.Minute + last).String() + " recovered:", (5*time.Minute + last).String() + " succeeded:"})
				})
			})
		}
	}
}

// outbox gives the messages that wait, as "when event: summary".
func outbox(ctx context.Context, t *testing.T, e *runtime.Engine, x *script) (all []string) {
	t.Helper()
	messages, err := e.Store.Messages(ctx, store.MessageWaiting, store.MaxLimit)
	if err != nil {
		t.Fatal(err)
	}
	slices.SortFunc(messages, func(a, b store.Message) int { return a.CreatedAt.Compare(b.CreatedAt) })
	for _, m := range messages {
		var n runtime.Notice
		if err := json.Unmarshal(m.Body, &n); err != nil {
			t.Fatal(err)
		}
		all = append(all, fmt.Sprintf("%s %s: %s", m.CreatedAt.Sub(x.t0), m.Event, n.Summary))
	}
	return all
}

// tries is a store that notes the tries that are written to it.
type tries struct {
	store.Store
	t0 time.Time

	mu    sync.Mutex
	notes []string
}

func (s *tries) Commit(ctx context.Context, b *store.Batch) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, t := range b.Tries {
		if t.Have == t.Tries { // what came of it
			s.notes = append(s.notes, fmt.Sprintf("%s %d %s", time.Since(s.t0), t.Tries, t.State))
		}
	}
	return s.Store.Commit(ctx, b)
}

func (s *tries) sofar() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.notes)
}

func TestAMessageThatNobodyTakesIsTriedForADayWithGrowingPauses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		spy := &tries{Store: &store.Memory{}, t0: time.Now()}
		e := &runtime.Engine{Store: spy, Executor: &script{}, Data: t.TempDir()}
		inDelivery(t, e, func(ctx context.Context) {
			time.Sleep(time.Second)
			runAll(ctx, t, e, `{name: flow, params: {to: nowhere}, notify: [{url: "${{ params.to }}", on: succeeded}], tasks: {a: {run: x}}}`)
			time.Sleep(30 * time.Hour)
			notes := spy.sofar()
			equal(t, notes[:5], []string{"1s 1 waiting", "16s 2 waiting", "46s 3 waiting", "1m46s 4 waiting", "3m46s 5 waiting"})
			last := notes[len(notes)-1]
			if len(notes) != 31 || !strings.HasSuffix(last, "31 given_up") {
				t.Errorf("%d tries, the last of which is %q", len(notes), last)
			}
			given, err := e.Store.Messages(ctx, store.MessageGivenUp, 9)
			if err != nil || len(given) != 1 || !strings.Contains(given[0].Error, "is no web address") || strings.Contains(given[0].Error, "nowhere") {
				t.Errorf("what is left of it is %+v (%v)", given, err)
			}
			time.Sleep(31 * 24 * time.Hour)
			if given, err := e.Store.Messages(ctx, store.MessageGivenUp, 9); len(given) > 0 || err != nil {
				t.Errorf("it is there for ever: %+v (%v)", given, err)
			}
		})
	})
}

func TestAMessageKeepsItsIDOverTriesAndEngines(t *testing.T) {
	r := newReceiver(t, http.StatusInternalServerError)
	s, data := &store.Memory{}, t.TempDir()
	first := &runtime.Engine{Store: s, Executor: &script{}, Data: data}
	inDelivery(t, first, func(ctx context.Context) {
		toEnd(ctx, t, first, `{name: flow, notify: [{url: "`+r.URL+`", on: succeeded}], tasks: {a: {run: x}}}`)
		first := <-r.got
		go func() { r.got <- first }()
		for waiting := []store.Message(nil); len(waiting) == 0 || waiting[0].Error == ""; {
			waiting, _ = s.Messages(ctx, store.MessageWaiting, 9)
		}
	})
	failed := <-r.got
	waiting, err := s.Messages(t.Context(), store.MessageWaiting, 9)
	if err != nil || len(waiting) != 1 || waiting[0].Error != "the target answered 500 Internal Server Error" {
		t.Fatalf("what waits is %+v (%v)", waiting, err)
	}
	now := waiting[0]
	if err := s.Commit(t.Context(), &store.Batch{Tries: []store.Try{{ID: now.ID, Have: now.Tries, Tries: now.Tries, State: now.State}}}); err != nil {
		t.Fatal(err)
	}
	second := &runtime.Engine{Store: s, Executor: &script{}, Data: data}
	inDelivery(t, second, func(context.Context) {
		if again := <-r.got; again.header.Get("X-Ax-Delivery") != failed.header.Get("X-Ax-Delivery") || again.body != failed.body {
			t.Errorf("the message was %+v, and then %+v", failed, again)
		}
	})
}

func TestARedirectIsFollowedOnTheSameHostOnly(t *testing.T) {
	other := newReceiver(t)
	for _, c := range []struct {
		to, want string
		code     int
	}{
		{"/there", "", http.StatusTemporaryRedirect},
		{"/there", "the target redirects elsewhere", http.StatusFound},
		{other.URL + "/there", "the target redirects elsewhere", http.StatusTemporaryRedirect},
	} {
		r := newReceiver(t, c.code)
		e := &runtime.Engine{Store: &store.Memory{}, Executor: &script{}, Data: t.TempDir()}
		toldAtTheEnd(t, e, `{name: flow, notify: [{url: "`+r.URL+`/?to=`+c.to+`", on: succeeded, secret: s}], tasks: {a: {run: x}}}`)
		waiting, err := e.Store.Messages(t.Context(), store.MessageWaiting, 9)
		switch {
		case err != nil || len(other.got) > 0:
			t.Errorf("redirected to %s: %d requests reached another host (%v)", c.to, len(other.got), err)
		case c.want == "" && (len(waiting) > 0 || len(r.got) != 2):
			t.Errorf("redirected to %s with %d: %+v is left", c.to, c.code, waiting)
		case c.want != "" && (len(waiting) != 1 || !strings.HasPrefix(waiting[0].Error, c.want)):
			t.Errorf("redirected to %s with %d: %+v is left", c.to, c.code, waiting)
		}
	}
}

func TestAFileThatNoLongerCompilesIsToldOnceByItsLastGoodVersion(t *testing.T) {
	x := &script{}
	inEngine(t, x, func(ctx context.Context, e *runtime.Engine) {
		good := catalog(t, "name: flow\nnotify: [{url: http://127.0.0.1:1}]\ntasks:\n  a: {run: x}\n")
		good.Files = []reload.Found{{Path: "flow.yaml", Name: "flow"}}
		bad := &reload.Catalog{Workflows: good.Workflows, Files: []reload.Found{{
			Path: "flow.yaml", Name: "flow", Stale: true, Diagnostics: reload.Compile("flow.yaml", []byte("name: flow\ntasks:\n  a: {runn: x}\n")).Diagnostics,
		}}}
		for i, c := range []*reload.Catalog{good, bad, bad, good, bad} {
			if err := e.Load(ctx, c); err != nil {
				t.Fatal(i, err)
			}
			time.Sleep(time.Minute)
		}
		const want = `broken: flow is broken: flow.yaml:3:7: unknown key "runn" in task "a"`
		equal(t, outbox(ctx, t, e, x), []string{"1m0s " + want, "4m0s " + want})
	})
}
