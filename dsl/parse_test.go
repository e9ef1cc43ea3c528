package dsl

import (
	"fmt"
	"os"
	"reflect"
	"strings"
	"testing"
	"time"
)

// parse reads a file that must be without mistakes.
func parse(t *testing.T, text string) *Workflow {
	t.Helper()
	w, ds := Parse("dir/w.yaml", []byte(text))
	if len(ds) > 0 {
		t.Fatalf("unwanted: %v\n%s", ds, text)
	}
	return w
}

// bare gives a value without its places, for comparison: a Value is what it
// holds, fields that are zero are left out.
func bare(v any) string {
	var b strings.Builder
	var write func(v reflect.Value)
	write = func(v reflect.Value) {
		if d, ok := v.Interface().(fmt.Stringer); ok && v.Kind() != reflect.Pointer {
			b.WriteString(d.String())
			return
		}
		switch v.Kind() {
		case reflect.Pointer:
			write(v.Elem())
		case reflect.Slice:
			b.WriteByte('[')
			for i := range v.Len() {
				if i > 0 {
					b.WriteByte(' ')
				}
				write(v.Index(i))
			}
			b.WriteByte(']')
		case reflect.Struct:
			if strings.HasPrefix(v.Type().Name(), "Value[") {
				write(v.Field(0))
				return
			}
			b.WriteByte('{')
			space := ""
			for i := range v.NumField() {
				if f := v.Field(i); !f.IsZero() && v.Type().Field(i).Name != "Pos" {
					fmt.Fprintf(&b, "%s%s:", space, v.Type().Field(i).Name)
					write(f)
					space = " "
				}
			}
			b.WriteByte('}')
		case reflect.String:
			fmt.Fprintf(&b, "%q", v.String())
		default:
			fmt.Fprint(&b, v.Interface())
		}
	}
	write(reflect.ValueOf(v))
	return b.String()
}

func TestWhatAWorkflowSays(t *testing.T) {
	for _, c := range []struct {
		name, text string
		get        func(w *Workflow) any
		want       string
	}{
		{"the name is the file's", "", func(w *Workflow) any { return w.Name }, `"w"`},
		{"the name as written", "name: _a-9", func(w *Workflow) any { return w.Name }, `"_a-9"`},
		{"texts", "description: \"ночь ✓\"\nowner: ''\ntags: [ночь, a b]",
			func(w *Workflow) any { return []any{w.Description.V, w.Owner.Set(), bare(w.Tags)} }, `[ночь ✓ true ["ночь" "a b"]]`},
		{"one schedule", "cron: 0 5 * * *\nevery: 5m", func(w *Workflow) any { return w.Schedules }, `[{Cron:"0 5 * * *"} {Every:5m0s}]`},
		{"a list of schedules", "cron: [\"@daily\", {cron: \"0 1 * * *\", timezone: Asia/Tokyo, params: {a: 01, b: no}}]",
			func(w *Workflow) any { return w.Schedules },
			`[{Cron:"@daily"} {Cron:"0 1 * * *" Timezone:"Asia/Tokyo" Params:[{Name:"a" Value:"01"} {Name:"b" Value:"no"}]}]`},
		{"after one", "after: a", func(w *Workflow) any { return w.After }, `[{Workflow:"a"}]`},
		{"after several", "after: [a, b]", func(w *Workflow) any { return w.After }, `[{Workflow:"a"} {Workflow:"b"}]`},
		{"after an outcome", "after: {a: failed, b: finished, c: succeeded}",
			func(w *Workflow) any { return w.After }, `[{Workflow:"a" On:1} {Workflow:"b" On:2} {Workflow:"c"}]`},
		{"the span", "valid_from: 2026-01-31\nvalid_until: \"2026-12-01\"\nexcept: [2026-05-01, days/holidays.txt]\ntimezone: Asia/Tokyo",
			func(w *Workflow) any { return []any{w.ValidFrom.V, w.ValidUntil.V, bare(w.Except), w.Timezone.V} },
			`[2026-01-31 2026-12-01 ["2026-05-01" "days/holidays.txt"] Asia/Tokyo]`},
		{"ticks", "jitter: 30\ncatchup: merge\ncatchup_window: 2d\nmax_active: 0\noverlap: replace",
			func(w *Workflow) any {
				return []any{w.Jitter.V, w.Catchup.V, w.CatchupWindow.V, w.MaxActive.V, w.MaxActive.Set(), w.Overlap.V}
			}, `[30s 3 48h0m0s 0 true 3]`},
		{"limits", "max_parallel: 4\ntimeout: 1h30m\npriority: 0\nexpect_within: 90m\ndisabled: TRUE",
			func(w *Workflow) any {
				return []any{w.MaxParallel.V, w.Timeout.V, w.Priority.V, w.Priority.Set(), w.ExpectWithin.V, w.Disabled.V}
			}, `[4 1h30m0s 0 true 1h30m0s true]`},
		{"handlers", "on_failure: t\non_success: [t, t]\non_finish: []",
			func(w *Workflow) any { return []any{bare(w.OnFailure), bare(w.OnSuccess), bare(w.OnFinish)} }, `[["t"] ["t" "t"] []]`},
		{"files of variables", "env_file: [a.env, b.env]", func(w *Workflow) any { return w.EnvFile }, `["a.env" "b.env"]`},
		{"one file of variables", "env_file: a.env", func(w *Workflow) any { return w.EnvFile }, `["a.env"]`},
		{"secrets", "secrets: {A: {env: B}, C: {file: d/e}}", func(w *Workflow) any { return w.Secrets }, `[{Name:"A" Env:"B"} {Name:"C" File:"d/e"}]`},
		{"retention", "retention: {runs: 100, age: 30d}", func(w *Workflow) any { return w.Retention }, `{Runs:100 Age:720h0m0s}`},
		{"messages", "notify: [{url: \"https://a\", on: [failed, late], secret: s, format: slack}, {email: a@b, on: broken}]",
			func(w *Workflow) any { return w.Notify },
			`[{URL:"https://a" On:["failed" "late"] Secret:"s" Format:"slack"} {Email:"a@b" On:["broken"]}]`},
		{"short parameters", "params: {a: x, b: \"1\", c: 1, d: -1.5, e: true, f: \"true\", g: 2026-01-31, h: 5m, i: 007, j: 1e3, k: \"\", l: yes, m: +1}",
			func(w *Workflow) any { return w.Params },
			`[{Name:"a" Type:"string" Default:"x"} {Name:"b" Type:"string" Default:"1"} {Name:"c" Type:"int" Default:"1"}` +
				` {Name:"d" Type:"float" Default:"-1.5"} {Name:"e" Type:"bool" Default:"true"} {Name:"f" Type:"string" Default:"true"}` +
				` {Name:"g" Type:"date" Default:"2026-01-31"} {Name:"h" Type:"string" Default:"5m"} {Name:"i" Type:"string" Default:"007"}` +
				` {Name:"j" Type:"float" Default:"1e3"} {Name:"k" Type:"string" Default:""} {Name:"l" Type:"string" Default:"yes"}` +
				` {Name:"m" Type:"string" Default:"+1"}]`},
		{"long parameters", "params: {a: {type: duration, default: 5m, min: 1m, max: 1h}, b: {default: 3, choices: [3, 4]}, c: {required: true, pattern: \"x+\", description: d}}",
			func(w *Workflow) any { return w.Params },
			`[{Name:"a" Type:"duration" Default:"5m" Min:"1m" Max:"1h"} {Name:"b" Type:"int" Default:"3" Choices:["3" "4"]}` +
				` {Name:"c" Type:"string" Required:true Pattern:"x+" Description:"d"}]`},
		{"own keys are ignored", "x-: {a: [1, {b: c}]}\nx-y: |\n  z", func(w *Workflow) any { return len(w.Tasks) }, `1`},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := bare(c.get(parse(t, top(c.text)))); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}

func TestWhatATaskSays(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"a script", "run: |\n  echo one\n  echo two", `{ID:"t" Kind:run Run:"echo one\necho two\n"}`},
		{"a command", "command: [printf, \"%s|\", 010, yes, 1.50, 2026-01-02, off, 12:30:45, \"\", \"~\"]",
			`{ID:"t" Kind:command Command:["printf" "%s|" "010" "yes" "1.50" "2026-01-02" "off" "12:30:45" "" "~"]}`},
		{"a query", "sql: {db: \"sqlite:a.db\", query: select 1, params: {a: 01}, save: \"${{ params.x }}\"}",
			`{ID:"t" Kind:sql SQL:{DB:"sqlite:a.db" Query:"select 1" Params:[{Name:"a" Value:"01"}] Save:"${{ params.x }}"}}`},
		{"a script of SQL", "sql: {db: \"${{ secrets.DB }}\", file: a.sql, save: a.csv}",
			`{ID:"t" Kind:sql SQL:{DB:"${{ secrets.DB }}" File:"a.sql" Save:"a.csv"}}`},
		{"a request", "http: {url: \"${{ env.U }}\", method: PUT, headers: {X-A: \"1\"}, body: \"\", expect: [200, 404], save: a.html}",
			`{ID:"t" Kind:http HTTP:{Method:"PUT" URL:"${{ env.U }}" Headers:[{Name:"X-A" Value:"1"}] Body:"" Expect:[200 404] Save:"a.html"}}`},
		{"a child", "workflow: {name: other, params: {day: 2026-01-02}}",
			`{ID:"t" Kind:workflow Workflow:{Name:"other" Params:[{Name:"day" Value:"2026-01-02"}]}}`},
		{"a wait for a file", "wait_for: {file: a/b, poll: 5s}", `{ID:"t" Kind:wait_for WaitFor:{File:"a/b" Poll:5s}}`},
		{"a wait for a query", "wait_for: {sql: {db: \"postgres://h/d\", query: q}}",
			`{ID:"t" Kind:wait_for WaitFor:{SQL:{DB:"postgres://h/d" Query:"q"}}}`},
		{"a wait for a page", "wait_for: {http: {url: \"http://a\"}}", `{ID:"t" Kind:wait_for WaitFor:{HTTP:{URL:"http://a"}}}`},
		{"a wait for a time", "wait_for: {until: 22:30}", `{ID:"t" Kind:wait_for WaitFor:{Until:"22:30"}}`},
		{"a function", "call: sales.load\nwith: {n: 05, on: yes, list: [1, 1.50, 010, \"1\", true, on, ~, {a: b}], map: {}}",
			`{ID:"t" Kind:call Call:"sales.load" With:[{Name:"n" Value:"05"} {Name:"on" Value:"yes"}` +
				` {Name:"list" Value:"[1,1.50,\"010\",\"1\",true,\"on\",null,{\"a\":\"b\"}]"} {Name:"map" Value:"{}"}]}`},
		{"one dependency", "run: x\ndepends_on: a", `{ID:"t" Kind:run Run:"x" DependsOn:[{Task:"a" On:succeeded}]}`},
		{"dependencies", "run: x\ndepends_on: [a, b]\njoin: any", `{ID:"t" Kind:run Run:"x" DependsOn:[{Task:"a" On:succeeded} {Task:"b" On:succeeded}] Join:1}`},
		{"conditions", "run: x\ndepends_on: {a: finished, b: [succeeded, skipped], c: failed}\njoin: all",
			`{ID:"t" Kind:run Run:"x" DependsOn:[{Task:"a" On:finished} {Task:"b" On:succeeded, skipped} {Task:"c" On:failed}] Join:0}`},
		{"a handler", "run: x\non_failure: [a, b]\nwhen: tasks.a.state == \"failed\"",
			`{ID:"t" Kind:run Run:"x" OnFailure:["a" "b"] When:"tasks.a.state == \"failed\""}`},
		{"retries", "run: x\nretry: 010", `{ID:"t" Kind:run Run:"x" Retry:{Max:10}}`},
		{"retries in full", "run: x\nretry: {max: 3, delay: 10, backoff: linear, max_delay: 5m, jitter: 1s, exit_codes: [75, 1], if: attempt < 2}",
			`{ID:"t" Kind:run Run:"x" Retry:{Max:3 Delay:10s Backoff:2 MaxDelay:5m0s Jitter:1s ExitCodes:[75 1] If:"attempt < 2"}}`},
		{"times", "run: x\ntimeout: \"45\"\nkill_after: 1.5s", `{ID:"t" Kind:run Run:"x" Timeout:45s KillAfter:1.5s}`},
		{"schedules", "run: x\ncron: \"@hourly\"\nevery: 90", `{ID:"t" Kind:run Run:"x" Schedules:[{Cron:"@hourly"} {Every:1m30s}]}`},
		{"a loop", "run: x\nforeach: [a, 01]", `{ID:"t" Kind:run Run:"x" Foreach:{Items:["a" "01"]}}`},
		{"a loop over an expression", "run: x\nforeach: params.list", `{ID:"t" Kind:run Run:"x" Foreach:{Expr:"params.list"}}`},
		{"a loop in full", "run: x\nforeach: {items: split(params.list), max_parallel: 2}",
			`{ID:"t" Kind:run Run:"x" Foreach:{Expr:"split(params.list)" MaxParallel:2}}`},
		{"a loop over a list in full", "run: x\nforeach: {items: [a]}", `{ID:"t" Kind:run Run:"x" Foreach:{Items:["a"]}}`},
		{"outcomes", "run: x\nallow_failure: true\nsuccess_codes: [0, 3]\nskip_codes: [99]",
			`{ID:"t" Kind:run Run:"x" AllowFailure:true SuccessCodes:[0 3] SkipCodes:[99]}`},
		{"surroundings", "run: x\nenv: {A: 0640, B: no, C: 22:30, D: 1e3, E: 10_000, F: 3.10, G: 0x1F, H: \"\", I: \"null\", J: '~'}\nworkdir: a\nshell: python3",
			`{ID:"t" Kind:run Run:"x" Env:[{Name:"A" Value:"0640"} {Name:"B" Value:"no"} {Name:"C" Value:"22:30"} {Name:"D" Value:"1e3"}` +
				` {Name:"E" Value:"10_000"} {Name:"F" Value:"3.10"} {Name:"G" Value:"0x1F"} {Name:"H" Value:""} {Name:"I" Value:"null"}` +
				` {Name:"J" Value:"~"}] Workdir:"a" Shell:{Argv:["python3"]}}`},
		{"a shell as a list", "run: x\nshell: [bash, -x]", `{ID:"t" Kind:run Run:"x" Shell:{Argv:["bash" "-x"]}}`},
		{"a pool", "run: x\npool: db", `{ID:"t" Kind:run Run:"x" Pool:{Name:"db"}}`},
		{"a pool in full", "run: x\npool: {name: db, slots: 2, busy: skip}", `{ID:"t" Kind:run Run:"x" Pool:{Name:"db" Slots:2 Busy:1}}`},
		{"the rest", "run: x\nruns_on: gpu\npriority: 9\nrecovery: fail\ndisabled: false\ndescription: d",
			`{ID:"t" Description:"d" Kind:run Run:"x" RunsOn:"gpu" Priority:9 Recovery:1 Disabled:false}`},
		{"a folded script", "run: >-\n  a\n  b", `{ID:"t" Kind:run Run:"a b"}`},
		{"an explicit text", "run: !!str 5", `{ID:"t" Kind:run Run:"5"}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := bare(parse(t, as(c.text)).Tasks[0]); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}

func TestDefaultsHoldForTasksThatDoNotSayOtherwise(t *testing.T) {
	w := parse(t, `
defaults: {timeout: 1m, retry: 2, shell: bash, workdir: d, pool: p, runs_on: r, recovery: fail, env: {A: a, B: b}}
tasks:
  plain: {run: x}
  own: {run: x, timeout: 2m, retry: 0, shell: sh, workdir: o, pool: q, runs_on: s, recovery: rerun, env: {B: own, C: c}}
`)
	want := []string{
		`{ID:"plain" Kind:run Run:"x" Retry:{Max:2} Timeout:1m0s Env:[{Name:"A" Value:"a"} {Name:"B" Value:"b"}]` +
			` Workdir:"d" Shell:{Argv:["bash"]} Pool:{Name:"p"} RunsOn:"r" Recovery:1}`,
		`{ID:"own" Kind:run Run:"x" Retry:{Max:0} Timeout:2m0s Env:[{Name:"A" Value:"a"} {Name:"B" Value:"own"} {Name:"C" Value:"c"}]` +
			` Workdir:"o" Shell:{Argv:["sh"]} Pool:{Name:"q"} RunsOn:"s" Recovery:0}`,
	}
	for i, task := range w.Tasks {
		if got := bare(task); got != want[i] {
			t.Errorf("got  %s\nwant %s", got, want[i])
		}
	}
	if w.Tasks[0].Timeout.Pos.Line != 2 || w.Tasks[1].Timeout.Pos.Line != 5 {
		t.Error("a default keeps its place in defaults")
	}
	if len(w.Defaults.Env) != 2 {
		t.Errorf("merging changed the defaults: %v", w.Defaults.Env)
	}
}

func TestMergedMaps(t *testing.T) {
	const head = "x-a: &a {timeout: 1m, priority: 1}\nx-b: &b {timeout: 2m, run: b, env: {E: b}}\nx-c: &c {<<: *b, priority: 3}\n"
	for _, c := range []struct{ name, task, want string }{
		{"an alias", "{<<: *b}", `{ID:"t" Kind:run Run:"b" Timeout:2m0s Env:[{Name:"E" Value:"b"}]}`},
		{"own keys win, before and after", "{run: own, <<: *b, timeout: 9m}", `{ID:"t" Kind:run Run:"own" Timeout:9m0s Env:[{Name:"E" Value:"b"}]}`},
		{"the earlier of a list wins", "{<<: [*a, *b]}", `{ID:"t" Kind:run Run:"b" Timeout:1m0s Env:[{Name:"E" Value:"b"}] Priority:1}`},
		{"the other way round", "{<<: [*b, *a]}", `{ID:"t" Kind:run Run:"b" Timeout:2m0s Env:[{Name:"E" Value:"b"}] Priority:1}`},
		{"a map on the spot", "{<<: {run: here}, timeout: 5s}", `{ID:"t" Kind:run Run:"here" Timeout:5s}`},
		{"a merge in a merge", "{<<: *c}", `{ID:"t" Kind:run Run:"b" Timeout:2m0s Env:[{Name:"E" Value:"b"}] Priority:3}`},
		{"the whole task", "*b", `{ID:"t" Kind:run Run:"b" Timeout:2m0s Env:[{Name:"E" Value:"b"}]}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := parse(t, head+"tasks: {t: "+c.task+" }\n")
			if got := bare(w.Tasks[0]); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
	w := parse(t, "x-t: &t {a: {run: x}, b: {run: y}}\ntasks:\n  c: {run: z}\n  <<: *t\n")
	if len(w.Tasks) != 3 || w.Tasks[1].ID.V != "a" || w.Tasks[1].ID.Pos != (Pos{1, 10}) {
		t.Errorf("tasks can be merged too: %s", bare(w.Tasks))
	}
}

func TestEverythingKnowsItsPlace(t *testing.T) {
	w := parse(t, `description: &d "größe"
owner: *d
cron:
  - {cron: "0 5 * * *", timezone: UTC}
tasks:
  a: {run: "größe", timeout: 5m}
  b:
    command: [größe, two]
    depends_on:
      a: &s
        succeeded
`)
	for _, c := range []struct {
		name      string
		got, want Pos
	}{
		{"behind an anchor", w.Description.Pos, Pos{1, 17}},
		{"where an alias leads", w.Owner.Pos, Pos{1, 17}},
		{"in a long form", w.Schedules[0].Timezone.Pos, Pos{4, 35}},
		{"an id", w.Tasks[1].ID.Pos, Pos{7, 3}},
		{"columns are code points", w.Tasks[0].Timeout.Pos, Pos{6, 30}},
		{"an argument", w.Tasks[1].Command[1].Pos, Pos{8, 22}},
		{"a key that is a value", w.Tasks[1].DependsOn[0].Task.Pos, Pos{10, 7}},
	} {
		if c.got != c.want {
			t.Errorf("%s: %v, want %v", c.name, c.got, c.want)
		}
	}
}

func TestTheTextOfAScriptHasUnixLineEnds(t *testing.T) {
	for _, end := range []string{"\n", "\r\n", "\r"} {
		text := strings.ReplaceAll("\ufeffname: win\ntasks:\n  a:\n    run: |\n      one\n\n      two\n  b: {run: \"x\n    y\"}\n", "\n", end)
		w := parse(t, text)
		if w.Name.V != "win" || w.Tasks[0].Run.V != "one\n\ntwo\n" || w.Tasks[1].Run.V != "x y" {
			t.Errorf("with %q: %q and %q", end, w.Tasks[0].Run.V, w.Tasks[1].Run.V)
		}
	}
}

func TestCharactersThatOnlyOldYAMLTakesForLineEndsAreKept(t *testing.T) {
	const odd = "a\u2028b\u2029c\u0085d"
	w := parse(t, "description: \""+odd+"\"\nowner: "+odd+" \U000F0000\ntasks: {t: {run: \"\\U000F0001\\N\", env: {A: '"+odd+"'}}}\n")
	if w.Description.V != odd || w.Owner.V != odd+" \U000F0000" || w.Tasks[0].Env[0].Value.V != odd || w.Tasks[0].Run.V != "\U000F0001\u0085" {
		t.Errorf("got %q, %q, %q and %q", w.Description.V, w.Owner.V, w.Tasks[0].Env[0].Value.V, w.Tasks[0].Run.V)
	}
}

func TestAWrongValueIsAsIfItWereNotThere(t *testing.T) {
	w, ds := Parse("w.yaml", []byte("timeout: soon\ntasks:\n  a: {run: x, depends_on: [b, [c]], timeout: 0}\n  b: nonsense\n"))
	if len(ds) != 4 || w.Timeout.Set() || len(w.Tasks) != 2 || w.Tasks[0].Timeout.Set() {
		t.Fatalf("got %s and %v", bare(w.Tasks), ds)
	}
	if len(w.Tasks[0].DependsOn) != 1 || w.Tasks[1].ID.V != "b" || w.Tasks[1].Kind != NoKind {
		t.Errorf("what is right of it is kept: %s", bare(w.Tasks))
	}
}

func TestValueOr(t *testing.T) {
	if d := (Value[time.Duration]{}).Or(time.Second); d != time.Second {
		t.Errorf("unset: %v", d)
	}
	if d := (Value[time.Duration]{0, Pos{1, 1}}).Or(time.Second); d != 0 {
		t.Errorf("set to 0: %v", d)
	}
}

func ExampleParse() {
	text := []byte("tasks:\n  build:\n    runn: make\n")
	workflow, diagnostics := Parse("nightly.yaml", text)
	source := workflow.Source
	if err := Render(os.Stdout, diagnostics, func(string) *Source { return source }, false); err != nil {
		fmt.Println(err)
	}
	// Output:
	// nightly.yaml:3:5: error: unknown key "runn" in task "build" [unknown-key]
	//    |
	//  3 |     runn: make
	//    |     ^~~~
	//    = help: did you mean "run"?
}
