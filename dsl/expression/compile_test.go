package expression

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// faults are expressions that do not compile: what is underlined, and what is
// said. The order is that of the manual.
var faults = []struct {
	code    string
	want    Want
	kind    Kind
	at      string // the part of the code that the error is about
	message string
	hint    string
}{
	// Reading.
	{"", WantText, Bad, "", "the expression is empty", ""},
	{" \n ", WantText, Bad, " \n ", "the expression is empty", ""},
	{"1 +", WantText, Bad, "", "the expression ends too early", ""},
	{"(1", WantText, Bad, "", "the expression ends too early", ""},
	{"1 + )", WantText, Bad, ")", `unexpected ")"`, ""},
	{"'abc", WantText, Bad, "'", "this quote is never closed", "close it in the same line"},
	{"params.n = 3", WantBool, Bad, "=", `unexpected "="`, "write == to compare"},
	{"contains(params.region, 'c')", WantBool, Bad, "contains", `unexpected "contains"`, "write it between its two sides: text contains part"},
	{"$HOME", WantText, Bad, "$", `"$" means nothing in an expression`, "a variable is env.HOME"},
	{"${HOME}", WantText, Bad, "$", `"$" means nothing in an expression`, "a variable is env.HOME"},
	{"1 // one", WantText, Bad, "//", "an expression has no comments", ""},
	{"1 /* one */", WantText, Bad, "/*", "an expression has no comments", ""},
	{"let x = 1; x", WantText, Bad, "x", `"let" is not available`, "write the value where it is needed"},
	{"1; 2", WantText, Bad, "1", `";" is not available`, "an expression has one value"},
	{"if true {1} else {2}", WantText, Bad, "true", `"if" is not available`, "write condition ? this : that"},
	{"b'a'", WantText, Bad, "b'a'", `b"…" is not available`, "write a string"},
	{"2 ** 3", WantText, Bad, "**", `"**" is not available`, ""},
	{"1 ?? 2 + 3", WantText, Bad, "+", `"??" stands beside another operator`, "put one of them into parentheses"},
	{"params.", WantText, Bad, "", "the expression ends too early", ""},
	{"params.[1]", WantText, Bad, "1", "a name is missing behind the dot", ""},
	{"filter([1])", WantText, Bad, ")", "too few arguments", ""},
	{"1 + `a", WantText, Bad, "`", "this quote is never closed", "close it in the same line"},
	{"'\\q'", WantText, Bad, "q", "invalid char escape", ""},
	{"item?.[", WantText, Bad, "", "the expression ends too early", ""},
	{"params.region | ", WantText, Bad, "", "the expression ends too early", ""},
	{"'é' + 1 ~ 2", WantText, Bad, "~", `unexpected '~'`, ""},
	{"#", WantText, Bad, "#", `unexpected "#"`, ""},
	{"filter([1], #index > 0)", WantText, Bad, "#", `"#index" means nothing here`, "# is the item within filter, map, all, any, none, count and find"},
	{strings.Repeat("x", MaxCode+1), WantText, Bad, strings.Repeat("x", MaxCode+1), "the expression is longer than 8192 bytes", ""},
	{strings.Repeat("1+", 600) + "1", WantText, Bad, strings.Repeat("1+", 600) + "1", "the expression is too large", "let a task work it out and write it to AX_OUTPUT"},

	// Names.
	{"params.regoin", WantText, UnknownReference, "params.regoin", `unknown parameter "regoin"`, `did you mean "params.region"?`},
	{"'é' + params.regoin", WantText, UnknownReference, "params.regoin", `unknown parameter "regoin"`, `did you mean "params.region"?`},
	{"params.my-kye", WantText, UnknownReference, "params.my-kye", `unknown parameter "my-kye"`, `did you mean "params.my-key"?`},
	{`params["my-kye"]`, WantText, UnknownReference, `params["my-kye"`, `unknown parameter "my-kye"`, `did you mean "params.my-key"?`},
	{"secrets.TOKE", WantText, UnknownReference, "secrets.TOKE", `unknown secret "TOKE"`, `did you mean "secrets.TOKEN"?`},
	{"secrets.PASSWORD", WantText, UnknownReference, "secrets.PASSWORD", `unknown secret "PASSWORD"`, "there is TOKEN"},
	{"run.sheduled_for", WantText, UnknownReference, "run.sheduled_for", `a run has no "sheduled_for"`, `did you mean "run.scheduled_for"?`},
	{"tasks.lod.state", WantText, UnknownReference, "tasks.lod", `unknown task "lod"`, `did you mean "tasks.load"?`},
	{"tasks.my_task.state", WantText, UnknownReference, "tasks.my_task", `unknown task "my_task"`, `did you mean "tasks.my-task"?`},
	{"tasks.load.status", WantText, UnknownReference, "tasks.load.status", `a task has no "status"`, `did you mean "state"?`},
	{"tasks.load.rows", WantText, UnknownReference, "tasks.load.rows", `a task has no "rows"`,
		"an output is tasks.load.outputs.rows; else there is state, exit_code, error"},
	{"tasks.later.state", WantText, NotUpstream, "tasks.later", `task "later" may not have ended when this is evaluated`, `add "later" to depends_on`},
	{"tasks.me.state", WantText, NotUpstream, "tasks.me", `task "me" has not ended when this is evaluated`, "a task can look at itself only in retry.if"},
	{"region", WantText, UnknownReference, "region", `unknown name "region"`, `did you mean "params.region"?`},
	{"load.outputs.rows", WantText, UnknownReference, "load", `unknown name "load"`, `did you mean "tasks.load"?`},
	{"TOKEN", WantText, UnknownReference, "TOKEN", `unknown name "TOKEN"`, `did you mean "secrets.TOKEN"?`},
	{"parms.region", WantText, UnknownReference, "parms", `unknown name "parms"`, `did you mean "params"?`},
	{"github.sha", WantText, UnknownReference, "github", `unknown name "github"`, ""},
	{"params", WantText, Bad, "params", `"params" alone is not a value`, "write out the name in it: params.NAME"},
	{"params[item.name]", WantText, Bad, "params", `"params" alone is not a value`, "write out the name in it: params.NAME"},
	{"tasks.load", WantText, Bad, "tasks.load", `task "load" alone is not a value`, "name one of state, outputs, exit_code, error"},
	{"upper", WantText, Bad, "upper", `"upper" is a function`, "call it: upper(text)"},

	// Functions.
	{"now()", WantText, Bad, "now", `unknown function "now"`, "a run must give the same when it is repeated: use run.scheduled_for"},
	{"uper('a')", WantText, Bad, "uper", `unknown function "uper"`, `did you mean "upper"?`},
	{"reduce([1], #acc)", WantText, Bad, "reduce", `unknown function "reduce"`, "let a task work it out and write it to AX_OUTPUT"},
	{"repeat('a', 9)", WantText, Bad, "repeat", `unknown function "repeat"`, "let a task work it out and write it to AX_OUTPUT"},
	{"fromJSON('1')", WantText, Bad, "fromJSON", `unknown function "fromJSON"`, "it is json(text)"},
	{"upper()", WantText, Bad, "upper", "upper has too few arguments", "it is upper(text)"},
	{"upper('a', 'b')", WantText, Bad, "upper", "upper has too many arguments", "it is upper(text)"},
	{"upper(3)", WantText, Bad, "3", "upper needs a string, but this is an int", "string(…) makes a string of it"},
	{"addDays(run.date, '1')", WantText, Bad, "'1'", "addDays needs an int, but this is a string", "int(…) or float(…) makes a number of a string"},
	{"addDays('2026-01-01', 1)", WantText, Bad, "'2026-01-01'", "addDays needs a time or a date, but this is a string", "date(…) or time(…) reads a string"},
	{"filter('a', # == 1)", WantText, Bad, "'a'", "filter needs a list, but this is a string", "json(…), lines(…) or split(…) makes a list of a string"},
	{"filter([1], 'x')", WantText, Bad, "'x'", "the condition of filter needs a bool, but this is a string", `compare it with "true", or use bool(…)`},
	{"format(run.date, '%Q')", WantText, Bad, "'%Q'", `unknown "%Q" in the layout`,
		`such as "%Y-%m-%d %H:%M:%S", with %j, %V, %u, %a, %b, %p, %s, %z and others of strftime`},
	{"format(run.date, 'YYYY')", WantText, Bad, "'YYYY'", `the layout "YYYY" has no "%"`, `it is one of strftime: "%Y-%m-%d %H:%M:%S"`},
	{"run.date.year()", WantText, Bad, "year", "values have no methods", ""},
	{"run.scheduled_for.Unix", WantText, Bad, "run.scheduled_for.Unix", `a time has no parts such as "Unix"`, `format(…, "%Y") gives parts of a time`},
	{"params.pause.Hours", WantText, Bad, "params.pause.Hours", `a duration has no parts such as "Hours"`, ""},
	{"tasks.load.outputs.info.size", WantText, Bad, "tasks.load.outputs.info.size", `a string has no parts such as "size"`,
		"json(…), lines(…) or split(…) makes a list of a string"},

	// Types.
	{"tasks.load.outputs.rows > 3", WantBool, Bad, "tasks.load.outputs.rows > 3", `cannot apply ">" to a string and an int`,
		"int(…) or float(…) makes a number of a string"},
	{"tasks.load.outputs.rows == 3", WantBool, Bad, "tasks.load.outputs.rows == 3", `cannot apply "==" to a string and an int`,
		"int(…) or float(…) makes a number of a string"},
	{"'a' + 1", WantText, Bad, "'a' + 1", `cannot apply "+" to a string and an int`, "string(…) makes a string of a value"},
	{"params.on == 'true'", WantBool, Bad, "params.on == 'true'", `cannot apply "==" to a bool and a string`, `compare it with "true", or use bool(…)`},
	{"run.date > '2026-01-01'", WantBool, Bad, "run.date > '2026-01-01'", `cannot apply ">" to a date and a string`, "date(…) or time(…) reads a string"},
	{"run.date + 1", WantText, Bad, "run.date + 1", `cannot apply "+" to a date and an int`, "addDays(…), addHours(…) and addMonths(…) move a time"},
	{"params.on AND params.on", WantBool, Bad, "AND", `unexpected "AND"`, "write and, in small letters"},
	{"not 1", WantBool, Bad, "1", `"not" needs a bool, but this is an int`, ""},
	{"-'a'", WantText, Bad, "'a'", `"-" needs an int, a float or a duration, but this is a string`, "int(…) or float(…) makes a number of a string"},
	{"true and 1", WantBool, Bad, "1", `"and" needs a bool, but this is an int`, ""},
	{"'a' or true", WantBool, Bad, "'a'", `"or" needs a bool, but this is a string`, `compare it with "true", or use bool(…)`},
	{"params.region ? 1 : 2", WantText, Bad, "params.region", "a condition needs a bool, but this is a string", `compare it with "true", or use bool(…)`},
	{"params.region matches '['", WantBool, Bad, "'['", `"[" is no regular expression: missing closing ]: ` + "`[`", "the syntax is RE2, that of Go"},
	{"params.region matches params.my-key", WantBool, Bad, "params.my-key", `"matches" needs a pattern that is written out`, "put it into quotes"},
	{"'a' in 'abc'", WantBool, Bad, "'a' in 'abc'", `cannot apply "in" to a string and a string`, ""},
	{"tasks.load.state == 'sucess'", WantBool, Bad, "'sucess'", `no task has the state "sucess"`, `did you mean "succeeded"?`},
	{"'done' != tasks.load.state", WantBool, Bad, "'done'", `no task has the state "done"`, "a task that has ended is succeeded, failed, skipped or cancelled"},
	{"[1]['a']", WantText, Bad, "'a'", "the choice from a list needs an int, but this is a string", "int(…) or float(…) makes a number of a string"},

	// What it is for.
	{"params.region", WantBool, Bad, "params.region", "a condition needs a bool, but this is a string", `compare it with "true", or use bool(…)`},
	{"tasks.load.outputs.files", WantList, Bad, "tasks.load.outputs.files", "foreach needs a list, but this is a string",
		"json(…), lines(…) or split(…) makes a list of a string"},
	{"nil", WantText, Bad, "nil", "a text needs a value, but this is nothing", "give another value with ?? or default"},
}

func TestAFaultIsNamedWithItsPlaceAndARemedy(t *testing.T) {
	for _, f := range faults {
		name := f.code[:min(len(f.code), 40)]
		t.Run(name, func(t *testing.T) {
			_, err := Compile(f.code, f.want, inTask())
			if err == nil {
				t.Fatal("it compiled")
			}
			e := asError(t, err)
			if e.Message != f.message || e.Hint != f.hint || e.Kind != f.kind {
				t.Errorf("got kind %d, %s\n= %s\nwant kind %d, %s\n= %s", e.Kind, e.Message, e.Hint, f.kind, f.message, f.hint)
			}
			if at := under(f.code, e); at != f.at {
				t.Errorf("it points at %q, want %q", at, f.at)
			}
		})
	}
}

// under gives what an error underlines; an error at the end of a text
// underlines nothing.
func under(text string, e *Error) string {
	if e.Offset >= len(text) {
		return ""
	}
	return text[e.Offset:min(e.Offset+e.Width, len(text))]
}

func TestANameIsKnownOnlyWhereItHasAValue(t *testing.T) {
	s := NewScope(workflow)
	for _, c := range []struct {
		name, code string
		scope      *Scope
		message    string
		hint       string
	}{
		{"a task, outside of tasks", "tasks.load.state", s, `"tasks" is not available here`, "there is params, env, secrets, run here"},
		{"an item, without foreach", "item", s.ForTask("me", nil, false), `"item" is not available here`, "it is there in a task with foreach"},
		{"a secret, in the items of a foreach", "secrets.TOKEN", inTask().Items(), `"secrets" is not available here`, "there is params, env, run, tasks here"},
		{"an item, in the items themselves", "item", inTask().Items(), `"item" is not available here`, "it is there in a task with foreach"},
		{"a parameter, before there are any", "params.region", s.Only("run", "env"), `"params" is not available here`, "there is env, run here"},
		{"a task, where none has ended", "tasks.load.state", s.ForTask("me", nil, false),
			`task "load" may not have ended when this is evaluated`, `add "load" to depends_on`},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := Compile(c.code, WantText, c.scope)
			e := asError(t, err)
			if e.Message != c.message || e.Hint != c.hint {
				t.Errorf("got %s\n= %s\nwant %s\n= %s", e.Message, e.Hint, c.message, c.hint)
			}
		})
	}
	if _, err := Compile("tasks.me.exit_code == 75", WantBool, s.ForTask("me", func(id string) bool { return id == "me" }, false)); err != nil {
		t.Errorf("a task that may look at itself: %v", err)
	}
}

func TestTheBracketsAroundABareExpressionMeanNothing(t *testing.T) {
	for _, code := range []string{"${{ params.on }}", "  ${{params.on}} ", "${{ params.on }}\n"} {
		p, err := Compile(code, WantBool, inTask())
		if err != nil {
			t.Fatalf("%q: %v", code, err)
		}
		if v, err := p.Eval(someValues(t)); v != true || err != nil {
			t.Errorf("%q is %v, %v", code, v, err)
		}
	}
	code := "  ${{ 1 + params.x }}"
	_, err := Compile(code, WantText, inTask())
	if at := under(code, asError(t, err)); at != "params.x" {
		t.Errorf("it points at %q", at)
	}
	if _, err = Compile("${{ 1 }} ${{ 2 }}", WantText, inTask()); err == nil {
		t.Error("two expressions are not one")
	}
	code = "${{ tasks.load.outputs.none }}"
	p, err := Compile(code, WantText, inTask())
	if err != nil {
		t.Fatal(err)
	}
	_, err = p.Eval(someValues(t))
	if at := under(code, asError(t, err)); at != "tasks.load.outputs.none" {
		t.Errorf("at run time it points at %q", at)
	}
}

func TestReferencesAreGivenAsOftenAsTheyStand(t *testing.T) {
	p, err := Compile(`params.my-key == "x" ? item.name : (tasks.load.outputs["my-out"] ?? tasks.my-task.state) + env.A + run.id`, WantText, inTask())
	if err != nil {
		t.Fatal(err)
	}
	want := "[[params my-key] [item] [tasks load outputs my-out] [tasks my-task state] [env A] [run id]]"
	if got := fmt.Sprint(p.References()); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if r := p.References()[0]; r.Root() != "params" || r.Name() != "my-key" {
		t.Errorf("root %q, name %q", r.Root(), r.Name())
	}
	if r := p.References()[1]; r.Name() != "" {
		t.Errorf("item has the name %q", r.Name())
	}
}

func TestEveryFunctionIsDescribedAndCanBeCalled(t *testing.T) {
	seen := map[string]bool{}
	for _, f := range Functions() {
		if seen[f.Name] {
			t.Errorf("%s is there twice", f.Name)
		}
		seen[f.Name] = true
		if !strings.HasPrefix(f.Signature, f.Name+"(") || f.Doc == "" || strings.HasSuffix(f.Doc, ".") {
			t.Errorf("%s: %q, %q", f.Name, f.Signature, f.Doc)
		}
		if !slices.ContainsFunc(results, func(r struct{ code, want string }) bool { return strings.Contains(r.code, f.Name+"(") }) {
			t.Errorf("no value of %s is tested", f.Name)
		}
		_, err := Compile(f.Name+"()", WantText, inTask())
		if e := asError(t, err); !strings.Contains(e.Message, "too few arguments") {
			t.Errorf("%s(): %s", f.Name, e.Message)
		}
	}
	for name := range instead {
		if seen[name] {
			t.Errorf("there is a function %s, and a hint what to use instead of it", name)
		}
	}
}
