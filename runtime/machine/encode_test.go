package machine

import (
	"bytes"
	"encoding/json"
	"flag"
	"math"
	"os"
	"reflect"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/ax-scheduler/ax/dag"
)

var update = flag.Bool("update", false, "write the golden files anew")

const golden = "testdata/events.golden"

// everyKind has each kind of event, with every field and with none.
var everyKind = []Event{
	RunStarted{epoch},
	Evaluated{Task: 3, Holds: true, At: epoch.Add(time.Microsecond)},
	Evaluated{Task: 3, Error: `no name "x" in tasks`, At: epoch},
	AttemptStarted{3, 0, 1, epoch},
	AttemptEnded{Task: 3, Attempt: 1, At: epoch},
	AttemptEnded{Task: 99_999, Attempt: 1_041, At: epoch, Result: Result{
		ExitCode: 137, Signal: "SIGKILL", StartError: "no such file", Failure: "more than 1 MiB in AX_OUTPUT",
		Stopped: true, Interrupted: true, NoRetry: true,
		LastLine: "disk full: \"/\"\t\\ ✓ <&>", Left: []string{"4711 sleep", "4712 sh"},
		Outputs: map[string]string{"rows": "12", "path": "/tmp/ключ", "": ""},
	}},
	RetryDue{3, 0, 1, epoch},
	AttemptTimedOut{3, 0, 2, epoch},
	PoolBusy{3, 0, epoch},
	RunTimedOut{epoch},
	CancelRequested{"ax cancel", epoch},
	CancelRequested{At: epoch},
	RunRetried{[]dag.Task{3, 0, 7}, nil, false, epoch},
	RunRetried{At: epoch},
	TakenOver{"06h2f", epoch},
	VersionChanged{"c0ffee", "beef", epoch},
	Expanded{Task: 3, Items: []string{`"a.csv"`, `7`, `{"name":"ключ","size":[1,2.5,null]}`}, At: epoch},
	Expanded{Task: 3, Error: "no list", At: epoch},
	Expanded{Task: 3, At: epoch},
	AttemptStarted{3, InstanceOf(0), 1, epoch},
	AttemptEnded{Task: 3, Instance: InstanceOf(9_999), Attempt: 2, At: epoch},
	RetryDue{3, InstanceOf(1), 1, epoch},
	AttemptTimedOut{3, InstanceOf(1), 2, epoch},
	PoolBusy{3, InstanceOf(2), epoch},
	RunRetried{nil, []Unit{{3, InstanceOf(2)}, {0, InstanceOf(0)}}, false, epoch},
	RunRetried{Waits: true, At: epoch},
}

// The stored events of a run are the truth about it, so what is written today
// must be read for good: a change of a line of the golden file is a mistake,
// and only a new line is not.
func TestTheStoredFormOfEveryKindOfEvent(t *testing.T) {
	var got []byte
	for _, e := range everyKind {
		line, err := Encode(e)
		if err != nil {
			t.Fatal(err)
		}
		got = append(append(got, line...), '\n')
	}
	if *update {
		if err := os.WriteFile(golden, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	for i, line := range strings.Split(strings.TrimSpace(string(want)), "\n") {
		if e, err := Decode([]byte(line)); err != nil || !reflect.DeepEqual(e, everyKind[i]) {
			t.Errorf("%s\n\tgives %#v, %v\n\twant  %#v", line, e, err, everyKind[i])
		}
	}
}

func TestEveryKindOfEventIsInTheGoldenFile(t *testing.T) {
	in := map[reflect.Type]bool{}
	for _, e := range everyKind {
		in[reflect.TypeOf(e)] = true
	}
	if len(in) != 13 {
		t.Errorf("%d kinds", len(in))
	}
	// Every field of every kind has a value that is not its zero somewhere.
	var result reflect.Value
	for _, e := range everyKind {
		if e, ok := e.(AttemptEnded); ok && e.Result.ExitCode != 0 {
			result = reflect.ValueOf(e.Result)
		}
	}
	for i := range result.NumField() {
		if result.Field(i).IsZero() {
			t.Errorf("no event has a %s", result.Type().Field(i).Name)
		}
	}
}

func TestAnEventThatCannotBeReadIsRefusedWithWords(t *testing.T) {
	for _, c := range []struct{ name, data, want string }{
		{"nothing", ``, `decode event: unexpected end of JSON input`},
		{"no JSON", `attempt-ended`, `decode event: invalid character 'a' looking for beginning of value`},
		{"half an event", `{"kind":"pool-bu`, `decode event: unexpected end of JSON input`},
		{"two events", `{"kind":"run-started","at":1}{}`, `decode event: invalid character '{' after top-level value`},
		{"an unknown kind", `{"kind":"run-paused","at":1}`, `decode event: unknown kind "run-paused", perhaps written by a newer version`},
		{"no kind", `{"at":1}`, `decode event: "kind" is missing`},
		{"no time", `{"kind":"run-started"}`, `decode event of kind "run-started": "at" is missing`},
		{"no task", `{"kind":"pool-busy","at":1}`, `decode event of kind "pool-busy": "task" is missing`},
		{"no attempt", `{"kind":"retry-due","at":1,"task":0}`, `decode event of kind "retry-due": "attempt" is missing`},
	} {
		t.Run(c.name, func(t *testing.T) {
			if e, err := Decode([]byte(c.data)); err == nil || err.Error() != c.want {
				t.Errorf("got %v, %v, want %s", e, err, c.want)
			}
		})
	}
	for _, data := range []string{
		`{"kind":"pool-busy","at":1,"task":9999999999}`,
		`{"kind":"pool-busy","at":"now","task":1}`,
		`{"kind":"retry-due","at":1,"task":1,"attempt":1.5}`,
		`[]`,
	} {
		if e, err := Decode([]byte(data)); err == nil {
			t.Errorf("%s gives %v", data, e)
		}
	}
	broken := Expanded{Task: 2, Items: []string{`1`, `{"a"`}, At: epoch}
	if data, err := Encode(broken); err == nil || err.Error() != "encode event: item 1 of task 2 is no JSON" {
		t.Errorf("a broken item gives %s, %v", data, err)
	}
	if data, err := Encode(nil); err == nil || err.Error() != "encode event: unknown type <nil>" {
		t.Errorf("no event at all gives %s, %v", data, err)
	}
}

func TestFieldsOfANewerVersionAreIgnored(t *testing.T) {
	e, err := Decode([]byte(`{"kind":"pool-busy","at":0,"task":2,"pool":{"name":"db"},"since":[1]}`))
	if want := (PoolBusy{2, 0, time.Unix(0, 0).UTC()}); err != nil || e != want {
		t.Errorf("got %v, %v", e, err)
	}
}

// drawEvent gives any event, as Decode would give it.
func drawEvent(t *rapid.T) Event {
	at := time.UnixMicro(rapid.Int64Range(-1<<52, 1<<52).Draw(t, "at")).UTC()
	task := rapid.Map(rapid.Int32(), func(i int32) dag.Task { return dag.Task(i) })
	text := rapid.String()
	one, n := task.Draw(t, "task"), rapid.Int().Draw(t, "attempt")
	some := rapid.Map(rapid.Int32Range(0, math.MaxInt32), func(i int32) Instance { return InstanceOf(int(i)) })
	instance := some.Draw(t, "instance")
	if chance(t, 2, "no instance") {
		instance = 0
	}
	switch rapid.IntRange(0, 12).Draw(t, "kind") {
	case 0:
		return RunStarted{at}
	case 1:
		return Evaluated{one, rapid.Bool().Draw(t, "holds"), text.Draw(t, "error"), at}
	case 2:
		return AttemptStarted{one, instance, n, at}
	case 3:
		return RetryDue{one, instance, n, at}
	case 4:
		return AttemptTimedOut{one, instance, n, at}
	case 5:
		return PoolBusy{one, instance, at}
	case 6:
		return RunTimedOut{at}
	case 7:
		return CancelRequested{text.Draw(t, "by"), at}
	case 8:
		e := RunRetried{At: at}
		if tasks := rapid.SliceOf(task).Draw(t, "tasks"); len(tasks) > 0 {
			e.Tasks = tasks
		}
		for range rapid.IntRange(0, 3).Draw(t, "instances") {
			e.Instances = append(e.Instances, Unit{task.Draw(t, "of task"), some.Draw(t, "one")})
		}
		return e
	case 10:
		e := Expanded{Task: one, Error: text.Draw(t, "error"), At: at}
		for range rapid.IntRange(0, 3).Draw(t, "items") {
			item, err := json.Marshal(map[string]any{text.Draw(t, "name"): rapid.Int().Draw(t, "value")})
			if err != nil {
				t.Fatal(err)
			}
			e.Items = append(e.Items, string(item))
		}
		return e
	case 9:
		return TakenOver{text.Draw(t, "by"), at}
	case 12:
		return VersionChanged{text.Draw(t, "from"), text.Draw(t, "to"), at}
	}
	return AttemptEnded{one, instance, n, drawAnyResult(t), at}
}

func drawAnyResult(t *rapid.T) Result {
	text := rapid.String()
	r := Result{
		ExitCode: rapid.Int().Draw(t, "exit"), Signal: text.Draw(t, "signal"),
		StartError: text.Draw(t, "start error"), Failure: text.Draw(t, "failure"),
		Stopped: rapid.Bool().Draw(t, "stopped"), Interrupted: rapid.Bool().Draw(t, "interrupted"),
		NoRetry: rapid.Bool().Draw(t, "no retry"), LastLine: text.Draw(t, "last"),
	}
	if left := rapid.SliceOf(text).Draw(t, "left"); len(left) > 0 {
		r.Left = left
	}
	if outputs := rapid.MapOf(text, text).Draw(t, "outputs"); len(outputs) > 0 {
		r.Outputs = outputs
	}
	return r
}

func TestWhatIsEncodedIsDecoded(t *testing.T) {
	many(t, 20, func(t *rapid.T) {
		e := drawEvent(t)
		data, err := Encode(e)
		if err != nil {
			t.Fatal(err)
		}
		back, err := Decode(data)
		if err != nil || !reflect.DeepEqual(e, back) {
			t.Fatalf("%#v\n\tbecomes %s\n\tand then %#v, %v", e, data, back, err)
		}
		again, err := Encode(back)
		if err != nil || !bytes.Equal(data, again) {
			t.Fatalf("%s becomes %s, %v", data, again, err)
		}
	})
}

func TestTimesComeBackInUTCAndInMicroseconds(t *testing.T) {
	shanghai := time.FixedZone("", 8*60*60)
	data, err := Encode(RunStarted{time.Date(2026, 1, 2, 11, 0, 0, 1999, shanghai)})
	if err != nil {
		t.Fatal(err)
	}
	e, err := Decode(data)
	if want := (RunStarted{epoch.Add(time.Microsecond)}); err != nil || e != want {
		t.Errorf("got %v, %v, want %v", e, err, want)
	}
}

// Whatever is stored, reading it gives an event or an error, and what could be
// read is written and read again unchanged.
func FuzzDecode(f *testing.F) {
	for _, e := range everyKind {
		data, err := Encode(e)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Add([]byte(`{"kind":"attempt-ended","at":-1,"task":1,"attempt":0,"left":[],"outputs":{},"last":"\ud800"}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		e, err := Decode(data)
		if err != nil {
			return
		}
		once, err := Encode(e)
		if err != nil {
			t.Fatal(err)
		}
		back, err := Decode(once)
		if err != nil {
			t.Fatalf("%s: %v", once, err)
		}
		if twice, err := Encode(back); err != nil || !bytes.Equal(once, twice) {
			t.Fatalf("%s becomes %s, %v", once, twice, err)
		}
	})
}

func BenchmarkEncode(b *testing.B) {
	e := AttemptEnded{Task: 12_345, Attempt: 2, At: epoch, Result: Result{ExitCode: 1, LastLine: "make: *** [all] Error 1"}}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Encode(e); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkDecode(b *testing.B) {
	data, err := Encode(AttemptEnded{Task: 12_345, Attempt: 2, At: epoch})
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Decode(data); err != nil {
			b.Fatal(err)
		}
	}
}
