package executor

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// sqlite is a query against a database in the attempt's folder.
func sqliteQuery(a *Attempt, text string) SQL {
	return SQL{DB: "sqlite:" + filepath.Join(a.Dir, "t.db"), Text: text, Place: func(at int) string { return fmt.Sprintf("t.sql:%d", at) }}
}

func TestSQLAgainstSQLite(t *testing.T) {
	for _, c := range []struct {
		name, text string
		named      map[string]any
		log        string
		outputs    map[string]string
		fails      string
	}{
		{"a single row makes outputs", "select 1 as n, 'x' as who, null as empty, 2 as [a b]", nil,
			"n  who  empty  a b\n1  x    null   2\n(1 row)\n", map[string]string{"n": "1", "who": "x", "rows": "1", "changed": "0"}, ""},
		{"a column wins over a count", "select 7 as rows", nil, "rows\n7\n(1 row)\n", map[string]string{"rows": "7", "changed": "0"}, ""},
		{"no rows", "select 1 as n where false", nil, "n\n(0 rows)\n", map[string]string{"rows": "0", "changed": "0"}, ""},
		{"texts in columns for days stay what they are", "create table d (day date, at timestamp); insert into d values ('2026-01-31', '2026-01-31'); select * from d", nil,
			"t.sql:0: create\nt.sql:41: insert\n(1 row changed)\nt.sql:92: select\nday         at\n2026-01-31  2026-01-31\n(1 row)\n",
			map[string]string{"day": "2026-01-31", "at": "2026-01-31", "rows": "1", "changed": "1"}, ""},
		{"a value is never read as SQL", "select :x as x, :x || 'y' as y", map[string]any{"x": "'; drop table t; --"}, "x                    y\n'; drop table t; --  '; drop table t; --y\n(1 row)\n",
			map[string]string{"x": "'; drop table t; --", "y": "'; drop table t; --y", "rows": "1", "changed": "0"}, ""},
		{"numbers are bound as numbers", "select typeof(:i) as i, typeof(:f) as f, typeof(:t) as t, :b = 1 as b", map[string]any{"i": 1, "f": 0.5, "t": "1", "b": true},
			"i        f     t     b\ninteger  real  text  1\n(1 row)\n", map[string]string{"i": "integer", "f": "real", "t": "text", "b": "1", "rows": "1", "changed": "0"}, ""},
		{"what a statement returns", "create table r (a date); insert into r values ('2026-01-31') returning a", nil,
			"t.sql:0: create\nt.sql:25: insert\na\n2026-01-31\n(1 row)\n(1 row changed)\n", map[string]string{"a": "2026-01-31", "rows": "1", "changed": "1"}, ""},
		{"a script of which one statement fails changes nothing", "create table k (a); insert into k values (1); insert into nope values (2)", nil, "", nil, "t.sql:46: no such table: nope"},
		{"unless it says itself where it ends", "begin; create table own (a); commit; select * from nope", nil, "", nil, "t.sql:37: no such table: nope"},
		{"a transaction that is left open", "begin; create table open (a)", nil, "", nil, "the script leaves its transaction open"},
		{"what cannot stand in a transaction can stand alone", "vacuum", nil, "vacuum: done\n", map[string]string{"rows": "0", "changed": "0"}, ""},
		{"settings come before the transaction", "pragma foreign_keys = on; create table p (a primary key); create table c (a references p); insert into c values (1)", nil, "", nil, "FOREIGN KEY constraint failed"},
		{"a name without a value", "select :day", map[string]any{"days": 1}, "", nil, "t.sql:7: :day has no value: did you mean :days?"},
		{"no statement", "-- nothing", nil, "", nil, "there is no statement"},
		{"a placeholder of the database", "select ?", nil, "", nil, "the placeholder ? has no value"},
		{"a slip", "selct 1", nil, "", nil, `t.sql:0: near "selct": syntax error`},
	} {
		t.Run(c.name, func(t *testing.T) {
			a := newAttempt(t, nil)
			s := sqliteQuery(&a, c.text)
			s.Named = c.named
			a.Action = s
			o := (&Executor{}).Execute(t.Context(), a)
			if c.fails != "" {
				if !strings.Contains(o.CallError+o.StartError, c.fails) {
					t.Errorf("failed with %q, %q", o.StartError, o.CallError)
				}
				return
			}
			if o.ExitCode != 0 || fmt.Sprint(o.Outputs) != fmt.Sprint(c.outputs) {
				t.Errorf("outcome %+v, want outputs %v", o, c.outputs)
			}
			if got := string(readLog(t, a)); got != c.log {
				t.Errorf("the log is\n%q, want\n%q", got, c.log)
			}
		})
	}
}

func TestAScriptIsOneTransaction(t *testing.T) {
	a := newAttempt(t, nil)
	run := func(text string) Outcome {
		a.Number++
		a.Action = sqliteQuery(&a, text)
		return (&Executor{}).Execute(t.Context(), a)
	}
	run("create table t (a)")
	run("insert into t values (1); insert into nope values (1)")
	run("begin; insert into t values (2)")
	run("begin; insert into t values (3); commit; select * from nope")
	if o := run("select group_concat(a) as all_of_them from t"); o.Outputs["all_of_them"] != "3" {
		t.Errorf("there are %v", o.Outputs)
	}
}

func TestRowsAreSavedWholeOrNotAtAll(t *testing.T) {
	a := newAttempt(t, nil)
	save := func(name, text string) (Outcome, string) {
		a.Number++
		s := sqliteQuery(&a, text)
		s.Save = filepath.Join(a.Dir, name)
		a.Action = s
		o := (&Executor{}).Execute(t.Context(), a)
		saved, err := os.ReadFile(s.Save)
		if err != nil {
			return o, ""
		}
		return o, string(saved)
	}
	rows := "select 1 as n, 'a,\"b' as t, null as x union all select 2.5, 'é', x'01ff'"
	if o, got := save("a.csv", "select 0 as z; "+rows); got != "n,t,x\n1,\"a,\"\"b\",\n2.5,é,\\x01ff\n" {
		t.Errorf("%+v: %q", o, got)
	}
	if o, got := save("a.json", rows); got != "[\n{\"n\": 1, \"t\": \"a,\\\"b\", \"x\": null},\n{\"n\": 2.5, \"t\": \"é\", \"x\": \"\\\\x01ff\"}\n]\n" {
		t.Errorf("%+v: %q", o, got)
	}
	if o, got := save("none.json", "select 1 as n where false"); got != "[]\n" {
		t.Errorf("%+v: %q", o, got)
	}
	if o, got := save("a.csv", "select 1; select * from nope"); o.CallError == "" || !strings.HasPrefix(got, "n,t,x") {
		t.Errorf("the file of before is %q, %+v", got, o)
	}
	if o, _ := save("no.csv", "create table w (a)"); !strings.Contains(o.CallError, "there are no rows to save") {
		t.Errorf("%+v", o)
	}
	if o, _ := save("no/such/a.csv", "select 1"); !strings.Contains(o.StartError, "does not exist: create it") {
		t.Errorf("%+v", o)
	}
	left, err := filepath.Glob(filepath.Join(a.Dir, ".*.tmp"))
	if err != nil || len(left) > 0 {
		t.Errorf("left over: %v, %v", left, err)
	}
}

func TestARunningStatementIsInterrupted(t *testing.T) {
	a := newAttempt(t, nil)
	a.Action = sqliteQuery(&a, "with recursive n(i) as (select 1 union all select i + 1 from n) select i from n where i < 0")
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	began := time.Now()
	o := (&Executor{}).Execute(ctx, a)
	if !o.Stopped || o.CallError != "" || time.Since(began) > 10*time.Second {
		t.Errorf("after %s: %+v", time.Since(began), o)
	}
}

func TestManyRowsAreCountedAndFewAreShown(t *testing.T) {
	a := newAttempt(t, nil)
	a.Action = sqliteQuery(&a, "with recursive n(i) as (select 1 union all select i + 1 from n where i < 5000) select i, 'the '||hex(zeroblob(60)) as long from n")
	o := (&Executor{}).Execute(t.Context(), a)
	log := string(readLog(t, a))
	if o.Outputs["rows"] != "5000" || strings.Count(log, "\n") != 22 || !strings.Contains(log, "(5000 rows, the first 20 shown)") || !strings.Contains(log, "…") {
		t.Errorf("%+v\n%s", o, log)
	}
}

func TestOutputsBeyondTheLimitAreLeftOut(t *testing.T) {
	a := newAttempt(t, nil)
	a.Action = sqliteQuery(&a, "select hex(zeroblob(600000)) as large, 'x' as small")
	o := (&Executor{}).Execute(t.Context(), a)
	if o.ExitCode != 0 || o.Outputs["small"] != "x" || o.Outputs["large"] != "" || len(o.Warnings) != 1 || !strings.Contains(o.Warnings[0], `output "large" is left out`) {
		t.Errorf("%d %q %v", o.ExitCode, o.Outputs["small"], o.Warnings)
	}
}

func TestADatabaseWithoutAFolderSaysSo(t *testing.T) {
	a := newAttempt(t, nil)
	a.Action = SQL{DB: "sqlite:" + filepath.Join(a.Dir, "no", "t.db"), Text: "select 1", Place: func(int) string { return "" }}
	if o := (&Executor{}).Execute(t.Context(), a); !strings.Contains(o.StartError, "of the database does not exist") {
		t.Errorf("%+v", o)
	}
	a.Action = SQL{DB: "mysql://x", Text: "select 1", Place: func(int) string { return "" }}
	if o := (&Executor{}).Execute(t.Context(), a); !strings.Contains(o.StartError, `"db" names no database`) {
		t.Errorf("%+v", o)
	}
}
