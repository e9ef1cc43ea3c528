package executor

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

func TestWaitingUntilATimeEndsThen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		at := time.Now().Add(26 * time.Hour)
		a := newAttempt(t, Wait{Until: at})
		if o := execute(a); o.ExitCode != 0 || !time.Now().Equal(at) {
			t.Errorf("at %s: %+v", time.Now(), o)
		}
		if o := execute(newAttempt(t, Wait{Until: time.Now().Add(-time.Hour)})); o.ExitCode != 0 {
			t.Errorf("%+v", o)
		}
	})
}

func TestThousandsWaitSideBySide(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newAttempt(t, nil)
		ctx, cancel := context.WithTimeout(t.Context(), 24*time.Hour)
		defer cancel()
		var stopped atomic.Int32
		for range 2000 {
			go func() {
				a := a
				a.Action = Wait{File: filepath.Join(a.Dir, "never"), Poll: time.Hour}
				if (&Executor{}).Execute(ctx, a).Stopped {
					stopped.Add(1)
				}
			}()
		}
		<-ctx.Done()
		synctest.Wait()
		if stopped.Load() != 2000 {
			t.Errorf("%d have been stopped", stopped.Load())
		}
	})
}

func TestWaitingForAFileEndsOnceItIsThere(t *testing.T) {
	for _, pattern := range []string{"a[1].csv", "in/*.csv"} {
		synctest.Test(t, func(t *testing.T) {
			a := newAttempt(t, nil)
			a.Action = Wait{File: filepath.Join(a.Dir, pattern), Poll: time.Minute}
			began := time.Now()
			go func() {
				time.Sleep(150 * time.Second)
				for _, name := range []string{"a[1].csv", "in/b.csv", "in/a.csv"} {
					_ = os.MkdirAll(filepath.Join(a.Dir, "in"), 0o700)
					_ = os.WriteFile(filepath.Join(a.Dir, name), nil, 0o600)
				}
			}()
			o := execute(a)
			want := map[string]string{"a[1].csv": "a[1].csv", "in/*.csv": "in/a.csv"}[pattern]
			if o.ExitCode != 0 || time.Since(began) != 3*time.Minute || o.Outputs["file"] != filepath.Join(a.Dir, want) {
				t.Errorf("after %s: %+v", time.Since(began), o)
			}
			wantLog(t, a, fmt.Sprintf("waits: %s is not there\n%s is there\n", filepath.Join(a.Dir, pattern), filepath.Join(a.Dir, want)))
		})
	}
}

func TestWaitingForAnAnswerTellsWhatIsInTheWay(t *testing.T) {
	var n atomic.Int32
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if n.Add(1) < 3 {
			w.WriteHeader(http.StatusServiceUnavailable)
		}
		fmt.Fprint(w, "the secret")
	}))
	defer s.Close()
	a := newAttempt(t, Wait{HTTP: &HTTP{URL: s.URL}, Poll: time.Millisecond})
	a.Filter = newLineMask
	if o := execute(a); o.ExitCode != 0 || o.Outputs["status"] != "200" || o.Outputs["body"] != "the ******" {
		t.Errorf("%+v", o)
	}
	wantLog(t, a, fmt.Sprintf("waits: GET %s gave 503 Service Unavailable\nGET %[1]s gave 200 OK\n", s.URL))
	if o := execute(newAttempt(t, Wait{HTTP: &HTTP{URL: "ftp://x"}, Poll: time.Hour})); !strings.Contains(o.StartError, "no web address") {
		t.Errorf("%+v", o)
	}
}

func TestWaitingForAQueryEndsOnceItsFirstValueIsTrue(t *testing.T) {
	a := newAttempt(t, nil)
	run := func(text string) { b := a; b.Number = 9; b.Action = sqliteQuery(&b, text); execute(b) }
	wait := sqliteQuery(&a, "select count(*) as n from loads where day = :day")
	wait.Named = map[string]any{"day": "2026-01-31"}
	a.Action = Wait{SQL: &wait, Poll: time.Millisecond}
	done := make(chan Outcome)
	go func() { done <- execute(a) }()
	logged := func(text string) func() bool {
		return func() bool { log, _ := os.ReadFile(a.Log); return strings.Contains(string(log), text) }
	}
	eventually(t, "the database is missed", logged("does not exist"))
	if exists(filepath.Join(a.Dir, "t.db")) {
		t.Error("looking has made the database")
	}
	run("create table other (x)")
	eventually(t, "the table is missed", logged("no such table: loads"))
	run("create table loads (day)")
	eventually(t, "the row is missed", logged("gives nothing that is true"))
	run("insert into loads values ('2026-01-31')")
	if o := <-done; o.ExitCode != 0 || o.Outputs["n"] != "1" {
		t.Errorf("%+v", o)
	}
}

func TestAConditionThatCanNeverHoldFailsAtOnce(t *testing.T) {
	for text, want := range map[string]string{
		"selct 1": "is one query", "select 1 from": "incomplete input", "delete from t": "a condition is one query", "select 1; select 2": "is one query",
	} {
		a := newAttempt(t, nil)
		(&Executor{}).Execute(t.Context(), func() Attempt { b := a; b.Action = sqliteQuery(&b, "create table t (a)"); return b }())
		s := sqliteQuery(&a, text)
		a.Action = Wait{SQL: &s, Poll: time.Hour}
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		if o := (&Executor{}).Execute(ctx, a); o.Stopped || !strings.Contains(o.StartError+o.CallError, want) {
			t.Errorf("%s: %+v", text, o)
		}
	}
}

func TestWhatIsTrue(t *testing.T) {
	for _, c := range []struct {
		v    any
		want bool
	}{{nil, false}, {int64(0), false}, {int64(2), true}, {0.0, false}, {"", false}, {"0", false}, {"x", true}, {false, false}, {true, true}, {"f", false}} {
		if got := (&table{columns: []string{"a"}, count: 1, first: [][]any{{c.v}}}).holds(); got != c.want {
			t.Errorf("%v: %v", c.v, got)
		}
	}
}
