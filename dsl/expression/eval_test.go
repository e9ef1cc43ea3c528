package expression

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ax-scheduler/ax/dsl"
)

// results are expressions and the texts that they give.
var results = []struct{ code, want string }{
	// Names.
	{"params.region", "cn"},
	{`params["region"]`, "cn"},
	{"params.my-key", "k"},
	{"params . my-key", "k"},
	{"params.n + 1", "8"},
	{"params.ratio", "2.5"},
	{"params.on", "true"},
	{"params.day", "2026-01-31"},
	{"params.pause", "1h30m"},
	{"env.HOME", "/root"},
	{"env.EMPTY", ""},
	{"secrets.TOKEN", "s3cret"},
	{"run.id + run.workflow + run.trigger", "r1nightlycron"},
	{"run.scheduled_for", "2026-03-08T03:00:00-04:00"},
	{"run.date", "2026-03-08"},
	{"tasks.load.state", "succeeded"},
	{"tasks.my-task.state", "failed"},
	{`tasks["my-task"].exit_code`, "3"},
	{"tasks.my-task.error", "exit code 3: no such file"},
	{"tasks.load.error", ""},
	{"tasks.load.outputs.my-out", "x"},
	{`tasks.load.outputs["my-out"]`, "x"},
	{`tasks.load.outputs["my-" + "out"]`, "x"},
	{"len(tasks.load.outputs)", "5"},
	{"item.name", "first"},
	{"item.size * 10 + index", "24"},

	// A hyphen is a minus only where no longer name is known.
	{"params.a-b", "100"},
	{"params.a - params.b", "7"},
	{"params.a -params.b", "7"},
	{"params.a-params.b", "7"},
	{"params.a-1", "9"},
	{"params.a-b-1", "99"},
	{"params.a-b-params.a-b", "0"},
	{"item.size-index", "-2"},

	// Operators.
	{"1 + 2 * 3 - 4", "3"},
	{"(1 + 2) * 3", "9"},
	{"7 / 2", "3.5"},
	{"6 / 2", "3"},
	{"7 % 3", "1"},
	{"-7 % 3", "-1"},
	{"0.1 + 0.2", "0.30000000000000004"},
	{"1e3", "1000"},
	{"1e300 * 10", "1e+301"},
	{"0x10 + 1_000", "1016"},
	{"-params.n", "-7"},
	{"+params.n", "7"},
	{"- 0.0", "0"},
	{"'a' + \"b\" + `c`", "abc"},
	{"`a``b` + `\\n`", "a`b\\n"},
	{`'it\'s' + "\t\u00e9"`, "it's\té"},
	{"1 < 2 and 2 <= 2 and 3 > 2 and 3 >= 3", "true"},
	{"1 < 2 < 3", "true"},
	{"1 < 3 < 2", "false"},
	{"1 == 1.0 and 1 != 2", "true"},
	{"'b' > 'a'", "true"},
	{"params.pause > duration('1h')", "true"},
	{"run.date > params.day", "true"},
	{"run.scheduled_for > run.date", "true"},
	{"run.date == date('2026-03-08')", "true"},
	{"not true or !false", "true"},
	{"false && tasks.load.outputs.none == 'x'", "false"},
	{"true or tasks.load.outputs.none == 'x'", "true"},
	{"params.on ? 'yes' : 'no'", "yes"},
	{"params.n > 8 ? 'yes' : 'no'", "no"},
	{"'cn' in ['cn', 'us']", "true"},
	{"params.region not in ['cn', 'us']", "false"},
	{"2 in [1, 2.0]", "true"},
	{"'rows' in tasks.load.outputs", "true"},
	{"4 in 1..3", "false"},
	{"'abc' contains 'b' and 'abc' startsWith 'a' and 'abc' endsWith 'c'", "true"},
	{"'abc' not contains 'z'", "true"},
	{"'a.csv' matches '^[a-z]+[.]csv$'", "true"},
	{"[1, 2] == [1, 2.0] and [1] != [2] and {'a': [1]} == {'a': [1]}", "true"},
	{"[nil] == [nil]", "true"},
	{"'}}' + '${{'", "}}${{"},

	// What is missing.
	{"tasks.load.outputs.none ?? 'd'", "d"},
	{"default(tasks.load.outputs.none, 'd')", "d"},
	{"upper(tasks.load.outputs.none) ?? 'd'", "d"},
	{"tasks.load.outputs.rows ?? 'd'", "12"},
	{"params.unset ?? 'd'", "d"},
	{"env.NONE ?? env.OTHER ?? 'd'", "d"},
	{"tasks.load.exit_code ?? 0", "0"},
	{"tasks.load.exit_code == nil", "true"},
	{"nil != tasks.my-task.exit_code", "true"},
	{"json(tasks.load.outputs.info).none ?? 'd'", "d"},
	{"json(tasks.load.outputs.info).nix ?? 'd'", "d"},
	{"json(tasks.load.outputs.info)?.nix?.deep ?? 'd'", "d"},
	{"[1][5] ?? 'd'", "d"},
	{"find([1, 2], # > 5) ?? 'd'", "d"},
	{"'' ?? 'd'", ""},
	{"json('null') == nil", "true"},

	// Lists and maps.
	{"[1, 'a', true, nil, 1.5]", `[1,"a",true,null,1.5]`},
	{`{"b": 1, a: [run.date], 2: params.pause}`, `{"2":"1h30m","a":["2026-03-08"],"b":1}`},
	{"json(tasks.load.outputs.files)[0]", "a.csv"},
	{"json(tasks.load.outputs.files)[-1]", "b.csv"},
	{"json(tasks.load.outputs.info).size + 1", "4"},
	{"json(tasks.load.outputs.info)['ratio'] * 2", "1"},
	{"(1..5)[1:3]", "[2,3]"},
	{"(1..5)[:-1]", "[1,2,3,4]"},
	{"(1..5)[4:99]", "[5]"},
	{"'héllo'[1:3]", "él"},
	{"5..1", "[]"},
	{"map(json(tasks.load.outputs.files), # + '!')", `["a.csv!","b.csv!"]`},
	{"map([item], .name)", `["first"]`},
	{"filter(1..6, # % 2 == 0)", "[2,4,6]"},
	{"filter(1..4, # in map(1..2, # * 2))", "[2,4]"},
	{"1..3 | map(# * 2) | filter(# > 2)", "[4,6]"},
	{"all([], # > 1) and not any([], # > 1) and none([1], # > 1)", "true"},
	{"any(1..3, # == 2)", "true"},
	{"count(1..10, # > 7)", "3"},
	{"find(1..10, # > 7)", "8"},
	{"first([3, 1, 2]) + last([3, 1, 2])", "5"},
	{"sort([3, 1.5, 2])", "[1.5,2,3]"},
	{"sort(['b', 'a'])", `["a","b"]`},
	{"keys({'b': 1, 'a': 2})", `["a","b"]`},
	{"len('é') + len([1, 2]) + len({'a': 1})", "4"},

	// Texts.
	{"upper('aé') + lower('AÉ')", "AÉaé"},
	{`trim('  a b\n') + '|'`, "a b|"},
	{"trimPrefix('v1.2', 'v') + trimSuffix('a.csv', '.csv')", "1.2a"},
	{"replace('a-b-c', '-', '--')", "a--b--c"},
	{"split('a,b,,c', ',')", `["a","b","","c"]`},
	{`lines('a\r\n\nb\n')`, `["a","b"]`},
	{"join(['a', 1, true], '-')", "a-1-true"},
	{"string(1.50) + string(true) + string(run.date)", "1.5true2026-03-08"},
	{`int('42') + int(' 7\n') + int(2.9) + int(-2.9)`, "49"},
	{"float('2.50') + float(1)", "3.5"},
	{"bool('true') and not bool('false') and bool(true)", "true"},
	{"json('[9223372036854775807, -9223372036854775808, 9007199254740993]')", `[9223372036854775807,-9223372036854775808,9007199254740993]`},
	{"json('{\"a\": [1, 2.5, 1e2, null, \"x\"]}')", `{"a":[1,2.5,100,null,"x"]}`},
	{"toJSON({'a<b': '\"é\\n'})", `{"a<b":"\"é\n"}`},
	{"toJSON('x')", `"x"`},
	{"tasks.load.outputs.rows | int() | string()", "12"},

	// Numbers.
	{"min(3, 1.5, 2)", "1.5"},
	{"max(3, 1)", "3"},
	{"max('a', 'b')", "b"},
	{"min(run.date, params.day)", "2026-01-31"},
	{"abs(-3) + abs(2.5)", "5.5"},
	{"round(2.5) + round(-2.5) + floor(1.9) + ceil(1.1) + round(3)", "6"},

	// Times: the clocks go forward on the day of the run.
	{"date(run.scheduled_for)", "2026-03-08"},
	{"date('2026-03-08T03:30:00Z')", "2026-03-07"},
	{"time(run.date)", "2026-03-08T00:00:00-05:00"},
	{"time('2026-03-08 02:30')", "2026-03-08T03:00:00-04:00"},
	{"time('2026-11-01 01:30')", "2026-11-01T01:30:00-04:00"},
	{"time('2026-03-08T12:00:00Z')", "2026-03-08T08:00:00-04:00"},
	{"time('2026-03-08')", "2026-03-08T00:00:00-05:00"},
	{"time('2026-01-02T03:04:05')", "2026-01-02T03:04:05-05:00"},
	{"run.scheduled_for - time(run.date)", "2h"},
	{"run.scheduled_for - run.date", "2h"},
	{"run.date - params.day", "864h"},
	{"run.scheduled_for + params.pause", "2026-03-08T04:30:00-04:00"},
	{"run.scheduled_for - duration('1d')", "2026-03-07T02:00:00-05:00"},
	{"params.day + duration('36h')", "2026-02-01T12:00:00-05:00"},
	{"addHours(run.scheduled_for, -1)", "2026-03-08T01:00:00-05:00"},
	{"addHours(run.date, 2.5)", "2026-03-08T03:30:00-04:00"},
	{"addDays(run.scheduled_for, -1)", "2026-03-07T03:00:00-05:00"},
	{"addDays(time('2026-03-07 02:30'), 1)", "2026-03-08T03:00:00-04:00"},
	{"addDays(run.date, 1)", "2026-03-09"},
	{"addMonths(params.day, 1)", "2026-02-28"},
	{"addMonths(params.day, -11)", "2025-02-28"},
	{"addMonths(time('2026-01-31 08:00'), 13)", "2027-02-28T08:00:00-05:00"},
	{"startOfDay(run.scheduled_for)", "2026-03-08T00:00:00-05:00"},
	{"startOfDay(run.date)", "2026-03-08"},
	{"startOfWeek(run.date)", "2026-03-02"},
	{"startOfWeek(run.scheduled_for)", "2026-03-02T00:00:00-05:00"},
	{"startOfMonth(run.scheduled_for)", "2026-03-01T00:00:00-05:00"},
	{"weekday(run.date)", "7"},
	{"weekday(addDays(run.date, 1))", "1"},
	{"format(run.scheduled_for, '%Y/%m/%d %H:%M:%S %z')", "2026/03/08 03:00:00 -0400"},
	{"format(run.date, 'week %V of %G, %a %e %b, day %j, 100%%')", "week 10 of 2026, Sun  8 Mar, day 067, 100%"},
	{"format(addDays(run.date, -1), '%Y%m%d')", "20260307"},
	{"duration(90)", "1m30s"},
	{"duration('90')", "1m30s"},
	{"duration('2d') / duration('1h')", "48"},
	{"duration('1h') * 1.5 - duration('30m')", "1h"},
	{"duration('1h') / 4", "15m"},
	{"-duration('1h')", "-1h"},
	{"seconds(params.pause)", "5400"},
	{"params.pause + duration('30m')", "2h"},
}

func TestAnExpressionGivesTheTextOfItsValue(t *testing.T) {
	values := someValues(t)
	for _, r := range results {
		t.Run(r.code, func(t *testing.T) {
			p, err := Compile(r.code, WantText, inTask())
			if err != nil {
				t.Fatal(err)
			}
			v, err := p.Eval(values)
			if err != nil {
				t.Fatal(err)
			}
			if got, err := Text(v); got != r.want || err != nil {
				t.Errorf("got %q, %v, want %q", got, err, r.want)
			}
		})
	}
}

// failures compile, but find no value.
var failures = []struct {
	code    string
	kind    Kind
	at      string
	message string
	hint    string
}{
	{"'é' + tasks.load.outputs.row", Missing, "tasks.load.outputs.row", `task "load" has no output "row"`, `did you mean "rows"?`},
	{"tasks.my-task.outputs.x", Missing, "tasks.my-task.outputs.x", `task "my-task" has no output "x"`, "give another value with ?? or default"},
	{"tasks.load.outputs['a' + 'b']", Missing, "tasks.load.outputs['a' + 'b'", `there is no "ab" in the map`, "give another value with ?? or default"},
	{"tasks.load.exit_code", Missing, "tasks.load.exit_code", `task "load" has no exit code`, "give another value with ?? or default"},
	{"params.unset", Missing, "params.unset", `parameter "unset" has no value`, "give another value with ?? or default"},
	{"env.HOM", Missing, "env.HOM", `variable "HOM" is not set`, `did you mean "HOME"?`},
	{"item.nme", Missing, "item.nme", `there is no "nme" in the map`, `did you mean "name"?`},
	{"item.name.x", Failed, "item.name.x", "a string has no parts", ""},
	{"item[0]", Failed, "item[0", "a map has names, not numbers such as 0", ""},
	{"[[1]][0]['a']", Failed, "[[1]][0]['a'", `a list is counted, it has no "a"`, ""},
	{"[1, 2][2]", Missing, "[1, 2][2", "there is no item 2 in a list of 2", "give another value with ?? or default"},
	{"[1, 2][-3]", Missing, "[1, 2][-3", "there is no item -3 in a list of 2", "give another value with ?? or default"},
	{"json('null').a", Missing, "json('null').a", "there are no parts in nothing", "give another value with ?? or default"},
	{"item.size + 'a'", Failed, "item.size + 'a'", `cannot apply "+" to an int and a string`, "string(…) makes a string of a value"},
	{"item.name > 1", Failed, "item.name > 1", `cannot apply ">" to a string and an int`, "int(…) or float(…) makes a number of a string"},
	{"upper(item.size)", Failed, "item.size", "upper needs a string, but got an int", "string(…) makes a string of it"},
	{"item.name and true", Failed, "item.name", `"and" needs a bool, but got a string`, `compare it with "true", or use bool(…)`},
	{"filter([1, 'a'], #)", Failed, "#", "the condition of filter needs a bool, but got an int", ""},
	{"json('null')", Missing, "json('null'", "a text needs a value, but got nothing", "give another value with ?? or default"},
	{"json('null') + 1", Missing, "json('null') + 1", `cannot apply "+" to nothing and an int`, "give another value with ?? or default"},
	{"json('{')", Failed, "json('{'", `"{" is no JSON: it ends too early`, "see what the task writes to AX_OUTPUT"},
	{"json('1 2')", Failed, "json('1 2'", `"1 2" is no JSON: text behind the end of the value`, "see what the task writes to AX_OUTPUT"},
	{"json('[18446744073709551617]')", Failed, "json('[18446744073709551617]'", `the integer "18446744073709551617" has more than 64 bits`, "have it written in quotes, as text"},
	{"json('1e999')", Failed, "json('1e999'", `the number "1e999" is too large`, ""},
	{"1 / 0", Failed, "1 / 0", "division by zero", ""},
	{"1 % 0", Failed, "1 % 0", "division by zero", ""},
	{"duration(1) / 0", Failed, "duration(1) / 0", "division by zero", ""},
	{"9223372036854775807 + 1", Failed, "9223372036854775807 + 1", "the number is too large", ""},
	{"-9223372036854775807 - 2", Failed, "-9223372036854775807 - 2", "the number is too large", ""},
	{"-(-9223372036854775807 - 1)", Failed, "-", "the number is too large", ""},
	{"9223372036854775807 * 2", Failed, "9223372036854775807 * 2", "the number is too large", ""},
	{"1e308 * 10", Failed, "1e308 * 10", "the number is too large", ""},
	{"int(1e19)", Failed, "int(1e19", "the number is too large", ""},
	{"duration(1e18)", Failed, "duration(1e18", "the number is too large", ""},
	{"int('4x')", Failed, "int('4x'", `"4x" is no integer`, ""},
	{"float('x')", Failed, "float('x'", `"x" is no number`, ""},
	{"bool('yes')", Failed, "bool('yes'", `"yes" is neither true nor false`, ""},
	{"duration('1x')", Failed, "duration('1x'", `"1x" is no duration: unknown unit "x"`, "write it like 500ms, 10s, 1h30m or 2d"},
	{"date('31.1.2026')", Failed, "date('31.1.2026'", `"31.1.2026" is no date`, "write it like 2026-01-31"},
	{"time('noon')", Failed, "time('noon'", `"noon" is no time`, "write it like 2026-01-31 08:30 or 2026-01-31T08:30:00Z"},
	{"addMonths(run.date, 100000)", Failed, "addMonths(run.date, 100000", "the time is not in the years 1 to 9999", ""},
	{"addDays(run.date, -9223372036854775807)", Failed, "addDays(run.date, -9223372036854775807", "the time is not in the years 1 to 9999", ""},
	{"addHours(run.date, 1e9)", Failed, "addHours(run.date, 1e9", "the number is too large", ""},
	{"date('9999-01-01') - date('0001-01-01')", Failed, "date('9999-01-01') - date('0001-01-01'", "the number is too large", ""},
	{"sort([1, 'a'])", Failed, "sort([1, 'a'", "a string and an int have no order", ""},
	{"min(1, 'a')", Failed, "min(1, 'a'", "a string and an int have no order", ""},
	{"join([[1]], '')", Failed, "join([[1]], ''", "item 0 of the list: a list has no text", ""},
	{"split('a', '')", Failed, "split('a', ''", "split needs a separator, the text is empty", ""},
	{"replace('a', '', 'b')", Failed, "replace('a', '', 'b'", "replace needs something to replace, the text is empty", ""},
	{"0..1000000", Failed, "0..1000000", "a range has at most 100000 numbers", ""},
	{"-9223372036854775807..9223372036854775807", Failed, "-9223372036854775807..9223372036854775807", "a range has at most 100000 numbers", ""},
	{"format(run.date, item.name + '%')", Failed, "format(run.date, item.name + '%'", `the layout ends with "%"`, `a percent sign is "%%"`},
}

func TestAValueThatIsMissingOrUnfitIsNamedWithItsPlace(t *testing.T) {
	values := someValues(t)
	for _, f := range failures {
		t.Run(f.code, func(t *testing.T) {
			p, err := Compile(f.code, WantText, inTask())
			if err != nil {
				t.Fatal(err)
			}
			v, err := p.Eval(values)
			if err == nil {
				t.Fatalf("it is %v", v)
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

func TestARunMayNotHaveWhatItsWorkflowHas(t *testing.T) {
	for _, c := range []struct{ code, message string }{
		{"run.date", "the run has no scheduled time"},
		{"tasks.load.state", `task "load" is not part of this run`},
		{"tasks.load.error", `task "load" is not part of this run`},
		{"tasks.load.exit_code", `task "load" is not part of this run`},
		{"tasks.load.outputs.x", `task "load" is not part of this run`},
		{"tasks.load.outputs", `task "load" is not part of this run`},
		{"secrets.TOKEN", `secret "TOKEN" has no value`},
		{"params.n", `parameter "n" has no value`},
	} {
		p, err := Compile(c.code, WantText, inTask())
		if err != nil {
			t.Fatal(err)
		}
		_, err = p.Eval(&Values{})
		if e := asError(t, err); e.Message != c.message || e.Kind != Missing {
			t.Errorf("%s: %s", c.code, e.Message)
		}
	}
}

func TestAParameterThatDoesNotFitItsTypeIsAnError(t *testing.T) {
	for name, want := range map[string]string{
		"n": "an int", "ratio": "a float", "on": "a bool", "day": "a date", "pause": "a duration",
	} {
		p, err := Compile("params."+name, WantText, inTask())
		if err != nil {
			t.Fatal(err)
		}
		_, err = p.Eval(&Values{Params: map[string]string{name: "?"}})
		message := fmt.Sprintf(`parameter %q is "?", which is not %s`, name, want)
		if e := asError(t, err); e.Message != message {
			t.Errorf("got %s, want %s", e.Message, message)
		}
	}
}

func TestWhatAnExpressionIsForIsHeldAgainstItsValue(t *testing.T) {
	values := someValues(t)
	for _, c := range []struct {
		code string
		want Want
		gave string
	}{
		{"item.size > 1", WantBool, "true"},
		{"item.name", WantBool, "a condition needs a bool, but got a string"},
		{"[1, 2]", WantList, "[1 2]"},
		{"json(tasks.load.outputs.files)", WantList, "[a.csv b.csv]"},
		{"json(tasks.load.outputs.info)", WantList, "foreach needs a list, but got a map"},
		{"item.none ?? [1]", WantList, "[1]"},
	} {
		p, err := Compile(c.code, c.want, inTask())
		if err != nil {
			t.Fatal(err)
		}
		v, err := p.Eval(values)
		gave := fmt.Sprint(v)
		if err != nil {
			gave = asError(t, err).Message
		}
		if gave != c.gave {
			t.Errorf("%s gave %s, want %s", c.code, gave, c.gave)
		}
	}
}

func TestAnItemOfATypeThatNoExpressionHasIsAnError(t *testing.T) {
	p, err := Compile("item", WantText, inTask())
	if err != nil {
		t.Fatal(err)
	}
	_, err = p.Eval(&Values{Item: int64(1)})
	if e := asError(t, err); e.Message != "item has the unknown type int64" {
		t.Error(e.Message)
	}
}

// TestNoExpressionIsStronger holds what could run for ever, or fill the memory,
// against the limits. What takes long here would make the test take long.
func TestNoExpressionIsStrongerThanItsLimits(t *testing.T) {
	long := strings.Repeat("x", MaxText/2)
	nested := "1"
	for range 40 {
		nested = "map([" + nested + "], [#, #])"
	}
	values := &Values{Env: map[string]string{"LONG": long, "A": strings.Repeat("a", 100_000), "LIST": "[" + strings.Repeat("[],", 20_000) + "[]]"}}
	for _, c := range []struct{ name, code, message string }{
		{"three loops in each other", "count(1..1000, any(1..1000, any(1..1000, # < 0)))", "the expression does too much work"},
		{"a loop over a loop's results", "len(map(1..1000, map(1..1000, map(1..1000, #))))", "the expression does too much work"},
		{"searching a long text often", "count(1..100000, env.LONG contains 'y')", "the expression does too much work"},
		{"matching a long text often", "count(1..100000, env.A matches '(a|aa)+b')", "the expression does too much work"},
		{"comparing a long text often", "count(1..100000, env.LONG == env.LONG + '')", "the expression does too much work"},
		{"a text that grows by doubling", "len(" + strings.Repeat("map(", 40) + "['xxxxxxxx']" + strings.Repeat(", # + #)", 40) + "[0])", "the text is longer than 1048576 bytes"},
		{"a text that grows by replacing", "len(replace(env.A, 'a', env.A))", "the text is longer than 1048576 bytes"},
		{"a text that grows by joining", "len(join(1..100000, env.A))", "the text is longer than 1048576 bytes"},
		{"a text of a list that shares its items", "len(string(" + nested + "))", "the text is longer than 1048576 bytes"},
		{"comparing lists that share their items", nested + " == " + strings.Replace(nested, "1", "1.0", 1), "the expression does too much work"},
		{"looking for a list among many", "count(json(env.LIST), json(env.LIST) == #)", "the expression does too much work"},
		{"looking through a list often", "count(1..100000, # in 1..100000)", "the expression does too much work"},
		{"sorting often", "count(1..1000, len(sort(1..1000)) > 5)", "the expression does too much work"},
		{"reading JSON often", "count(1..1000, len(json(env.LIST)) > 5)", "the expression does too much work"},
		{"splitting into too much", "len(split(env.LONG + env.LONG, 'x'))", "the expression does too much work"},
		{"a text of two long ones", "env.LONG + env.LONG + 'x'", "the text is longer than 1048576 bytes"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			p, err := Compile(c.code, WantText, inTask())
			if err != nil {
				t.Fatal(err)
			}
			_, err = p.Eval(values)
			if err == nil {
				t.Fatal("it came to an end")
			}
			if e := asError(t, err); e.Message != c.message {
				t.Errorf("got %s, want %s", e.Message, c.message)
			}
		})
	}
}

func TestAProgramMayBeEvaluatedByManyAtOnce(t *testing.T) {
	p, err := Compile("join(map(filter(1..20, # % 2 == 0), string(#) + params.region), ',')", WantText, inTask())
	if err != nil {
		t.Fatal(err)
	}
	var group sync.WaitGroup
	for i := range 8 {
		group.Go(func() {
			values := &Values{Params: map[string]string{"region": strconv.Itoa(i)}}
			for range 100 {
				if v, err := p.Eval(values); err != nil || !strings.HasPrefix(v.(string), "2"+strconv.Itoa(i)+",4") {
					t.Errorf("got %v, %v", v, err)
				}
			}
		})
	}
	group.Wait()
}

func TestTextOfEveryKindOfValue(t *testing.T) {
	at := time.Date(2026, 3, 8, 3, 0, 0, 500_000_000, time.FixedZone("", -4*3600))
	for _, c := range []struct {
		v    any
		want string
	}{
		{true, "true"}, {false, "false"}, {0, "0"}, {-7, "-7"}, {math.MaxInt, "9223372036854775807"},
		{2.0, "2"}, {0.1, "0.1"}, {-0.5, "-0.5"}, {1e21, "1e+21"}, {123456789012.0, "123456789012"}, {1e-7, "1e-07"}, {math.Copysign(0, -1), "0"},
		{"", ""}, {"a\nb", "a\nb"},
		{at, "2026-03-08T03:00:00.5-04:00"}, {at.UTC().Truncate(time.Second), "2026-03-08T07:00:00Z"},
		{dsl.Date{Year: 2026, Month: 3, Day: 8}, "2026-03-08"},
		{time.Duration(0), "0s"}, {90 * time.Minute, "1h30m"}, {2 * time.Hour, "2h"}, {time.Hour + time.Second, "1h0m1s"},
		{10 * time.Minute, "10m"}, {1500 * time.Millisecond, "1.5s"}, {-time.Hour, "-1h"},
		{[]any{}, "[]"}, {map[string]any{}, "{}"}, {[]any{at, "&", nil}, `["2026-03-08T03:00:00.5-04:00","&",null]`},
	} {
		if got, err := Text(c.v); got != c.want || err != nil {
			t.Errorf("Text(%#v) = %q, %v, want %q", c.v, got, err, c.want)
		}
	}
	for _, v := range []any{nil, int64(1), []any{struct{}{}}, map[string]any{"a": []string{"b"}}} {
		if got, err := Text(v); err == nil {
			t.Errorf("Text(%#v) = %q, want an error", v, got)
		}
	}
	deep := any("x")
	for range maxDepth + 1 {
		deep = []any{deep}
	}
	if _, err := JSON(deep); err == nil {
		t.Error("a value that is nested too deep has JSON")
	}
}
