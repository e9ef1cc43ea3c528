package executor

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

func register(t testing.TB, functions map[string]any) *Executor {
	t.Helper()
	var r Registry
	for name, fn := range functions {
		if err := r.Register(name, fn); err != nil {
			t.Fatal(err)
		}
	}
	return &Executor{Calls: &r}
}

func call(t testing.TB, fn any, with map[string]string) (Attempt, Outcome) {
	t.Helper()
	a := newAttempt(t, Call{Name: "f", With: with})
	return a, register(t, map[string]any{"f": fn}).Execute(context.Background(), a)
}

type none struct{}

func TestACalledFunctionGetsItsArguments(t *testing.T) {
	type args struct {
		Region   string
		Count    int
		Ratio    float64
		Force    bool `ax:"really"`
		MaxAge   time.Duration
		Since    time.Time
		Names    []string
		Huge     int64
		Note     string `ax:",optional"`
		Internal string `ax:"-"`
		hidden   int
	}
	var got args
	a, o := call(t, func(_ context.Context, args args) error { got = args; return nil }, map[string]string{
		"region": "cn", "count": "-3", "ratio": "0.5", "really": "true", "max_age": "2d", "since": "2026-01-31",
		"names": "a, b", "huge": "9223372036854775807",
	})
	wantExit(t, o, 0)
	want := args{Region: "cn", Count: -3, Ratio: 0.5, Force: true, MaxAge: 48 * time.Hour,
		Since: time.Date(2026, 1, 31, 0, 0, 0, 0, time.UTC), Names: []string{"a", "b"}, Huge: 1<<63 - 1}
	if fmt.Sprint(got) != fmt.Sprint(want) || got.hidden != 0 {
		t.Errorf("arguments %+v, want %+v", got, want)
	}
	if exists(a.Log) || exists(a.Scratch) {
		t.Error("a function that writes nothing made files")
	}
}

func TestACalledFunctionGivesOutputs(t *testing.T) {
	_, o := call(t, func(context.Context, none) (map[string]string, error) {
		return map[string]string{"rows": "12", "bad key": "x", "raw": "\xff"}, nil
	}, nil)
	wantExit(t, o, 0)
	if want := map[string]string{"rows": "12", "raw": "\uFFFD"}; !maps.Equal(o.Outputs, want) {
		t.Errorf("outputs %q, want %q", o.Outputs, want)
	}
	if len(o.Warnings) != 2 || !strings.Contains(o.Warnings[0], `"bad key"`) || !strings.Contains(o.Warnings[1], `"raw"`) {
		t.Errorf("warnings %q", o.Warnings)
	}
}

func TestTooLargeOutputsOfAFunctionFailIt(t *testing.T) {
	_, o := call(t, func(context.Context, none) (map[string]string, error) {
		return map[string]string{"a": strings.Repeat("x", outputLimit)}, nil
	}, nil)
	if !strings.Contains(o.OutputError, "more than 1 MiB") || o.Outputs != nil {
		t.Errorf("outcome %+v", o)
	}
}

func TestAFailureOfAFunctionIsReported(t *testing.T) {
	var nothing *os.PathError
	for name, c := range map[string]struct {
		fn    any
		error string
		log   string
	}{
		"an error": {
			func(context.Context, none) error { return errors.New("no such region") },
			"no such region", "function \"f\" failed: no such region\n",
		},
		"an error with outputs": {
			func(context.Context, none) (map[string]string, error) {
				return map[string]string{"a": "1"}, io.ErrUnexpectedEOF
			}, "unexpected EOF", "unexpected EOF",
		},
		"an error of several lines": {
			func(context.Context, none) error { return errors.Join(errors.New("one"), errors.New("two\x00\n")) },
			"one two", "one two",
		},
		"an error that is a nil pointer": {func(context.Context, none) error { return nothing }, "<nil>", "<nil>"},
		"a panic":                        {func(context.Context, none) error { panic("boom") }, "panic: boom", "call_test.go"},
		"a panic of the runtime": {
			func(context.Context, none) error { return []error{}[len(os.Args)] },
			"panic: runtime error: index out of range", "goroutine ",
		},
		"the end of its goroutine": {
			func(context.Context, none) error { runtime.Goexit(); return nil },
			"ended its goroutine instead of returning", "failed",
		},
	} {
		t.Run(name, func(t *testing.T) {
			a, o := call(t, c.fn, nil)
			if o.ExitCode != 1 || !strings.Contains(o.CallError, c.error) || o.Message() != o.CallError || o.Stopped {
				t.Errorf("outcome %+v, want the error %q", o, c.error)
			}
			if log := string(readLog(t, a)); !strings.Contains(log, c.log) || !strings.Contains(o.LastLine, `function "f" failed`) {
				t.Errorf("the log is %q, its last line %q", log, o.LastLine)
			}
		})
	}
}

func TestACalledFunctionWritesToTheLog(t *testing.T) {
	for name, filter := range filters {
		t.Run(name, func(t *testing.T) {
			a := newAttempt(t, Call{Name: "f"})
			a.Filter = filter
			x := register(t, map[string]any{"f": func(ctx context.Context, _ none) error {
				fmt.Fprint(Log(ctx), "one\ntwo")
				return nil
			}})
			o := x.Execute(context.Background(), a)
			wantExit(t, o, 0)
			wantLog(t, a, "one\ntwo")
			if o.LastLine != "two" {
				t.Errorf("the last line is %q", o.LastLine)
			}
		})
	}
}

func TestErrorsOfFunctionsGoThroughTheFilter(t *testing.T) {
	a := newAttempt(t, Call{Name: "f"})
	a.Filter = newLineMask
	x := register(t, map[string]any{"f": func(context.Context, none) error { return errors.New("password secret refused") }})
	if o := x.Execute(context.Background(), a); o.CallError != "password ****** refused" {
		t.Errorf("outcome %+v", o)
	}
	wantLog(t, a, "function \"f\" failed: password ****** refused\n")
}

func TestAFilterThatFailsShowsNothing(t *testing.T) {
	a := newAttempt(t, Call{Name: "f"})
	a.Filter = func(io.Writer) io.WriteCloser { return broken{} }
	x := register(t, map[string]any{"f": func(context.Context, none) error { return errors.New("secret") }})
	o := x.Execute(context.Background(), a)
	if strings.Contains(o.CallError, "secret") || len(o.Warnings) != 1 {
		t.Errorf("outcome %+v", o)
	}
}

type broken struct{}

func (broken) Write([]byte) (int, error) { return 0, io.ErrClosedPipe }
func (broken) Close() error              { return io.ErrClosedPipe }

func TestALogThatCannotBeWrittenFailsNoFunction(t *testing.T) {
	a := newAttempt(t, Call{Name: "f"})
	a.Log = a.Dir
	x := register(t, map[string]any{"f": func(ctx context.Context, _ none) error {
		for range 2 {
			if _, err := fmt.Fprint(Log(ctx), "x"); err == nil {
				return errors.New("it could be written")
			}
		}
		return nil
	}})
	o := x.Execute(context.Background(), a)
	wantExit(t, o, 0)
	if len(o.Warnings) != 1 || !strings.Contains(o.Warnings[0], "log is not complete") {
		t.Errorf("warnings %q", o.Warnings)
	}
}

func TestWithoutAnAttemptALogGoesNowhere(t *testing.T) {
	if n, err := fmt.Fprint(Log(context.Background()), "x"); n != 1 || err != nil {
		t.Errorf("%d bytes, error %v", n, err)
	}
}

func TestAStopCancelsTheContextOfAFunction(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := register(t, map[string]any{"f": func(ctx context.Context, _ none) error {
			<-ctx.Done()
			time.Sleep(time.Second)
			return fmt.Errorf("stopped: %w", context.Cause(ctx))
		}})
		ctx, cancel := context.WithTimeoutCause(t.Context(), time.Minute, errors.New("too late"))
		defer cancel()
		a := newAttempt(t, Call{Name: "f"})
		o := x.Execute(ctx, a)
		if !o.Stopped || o.ExitCode != 1 || o.CallError != "stopped: too late" || len(o.Leftovers) > 0 {
			t.Errorf("outcome %+v", o)
		}
		if took := o.Finished.Sub(o.Started); took != time.Minute+time.Second {
			t.Errorf("it took %v", took)
		}
	})
}

func TestAFunctionThatIgnoresItsContextIsLeftBehind(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		late := make(chan error, 1)
		x := register(t, map[string]any{"f": func(ctx context.Context, _ none) error {
			fmt.Fprintln(Log(ctx), "busy")
			time.Sleep(time.Hour)
			_, err := fmt.Fprintln(Log(ctx), "late")
			late <- err
			return nil
		}})
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		a := newAttempt(t, Call{Name: "f"})
		o := x.Execute(ctx, a)
		if !o.Stopped || o.ExitCode != -1 || len(o.Leftovers) != 1 || o.Leftovers[0] != `function "f"` || o.Message() != "could not be stopped" {
			t.Errorf("outcome %+v", o)
		}
		if took := o.Finished.Sub(o.Started); took != time.Minute+a.KillAfter {
			t.Errorf("it took %v", took)
		}
		if err := <-late; !errors.Is(err, os.ErrClosed) {
			t.Errorf("writing after the attempt gave %v", err)
		}
		wantLog(t, a, "busy\n")
	})
}

func TestAFunctionThatEndsAsItIsStoppedIsNotStopped(t *testing.T) {
	done := make(chan result, 1)
	done <- result{}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	for range 100 { // a select takes either
		var o Outcome
		if _, ended := wait(ctx, &Attempt{}, done, &o); !ended || o.Stopped {
			t.Fatalf("ended %v, outcome %+v", ended, o)
		}
		done <- result{}
	}
}

func TestACallThatDoesNotFitIsNotMade(t *testing.T) {
	fn := func(context.Context, struct{ Count int }) error { return errors.New("called") }
	for name, c := range map[string]struct {
		with map[string]string
		says string
	}{
		"a missing parameter": {nil, `function "f": parameter "count" (int) is missing`},
		"a bad value":         {map[string]string{"count": "1.5"}, `function "f": parameter "count": "1.5" is no int: write decimal digits`},
		"an unknown one":      {map[string]string{"count": "1", "cuont": "2"}, `function "f": there is no parameter "cuont": did you mean "count"?`},
	} {
		t.Run(name, func(t *testing.T) {
			_, o := call(t, fn, c.with)
			wantStartError(t, o, c.says)
		})
	}
}

func TestCallsRunSideBySide(t *testing.T) {
	x := register(t, map[string]any{"f": func(_ context.Context, args struct{ N string }) (map[string]string, error) {
		return map[string]string{"n": args.N}, nil
	}})
	for i := range 50 {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			t.Parallel()
			a := newAttempt(t, Call{Name: "f", With: map[string]string{"n": fmt.Sprint(i)}})
			if o := x.Execute(context.Background(), a); o.Outputs["n"] != fmt.Sprint(i) {
				t.Errorf("outcome %+v", o)
			}
		})
	}
}
