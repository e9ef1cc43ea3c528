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

// server is the address of a database that tests may make tables in, from
// AX_TEST_POSTGRES.
func server(t *testing.T) string {
	t.Helper()
	address := os.Getenv("AX_TEST_POSTGRES")
	if address == "" {
		t.Skip("AX_TEST_POSTGRES names no server, such as postgres://postgres@127.0.0.1:5432/postgres")
	}
	return address
}

func postgresQuery(t *testing.T, text string) SQL {
	return SQL{DB: server(t), Text: text, Place: func(at int) string { return fmt.Sprintf("t.sql:%d", at) }}
}

func TestSQLAgainstPostgreSQL(t *testing.T) {
	for _, c := range []struct {
		name, text string
		named      map[string]any
		inserted   []any
		log        string
		outputs    map[string]string
		fails      string
	}{
		{"values of all types", "select 1 as n, 2.50 as d, true as b, null as nil, date '2026-01-31' as day, 'x' as t", nil, nil,
			"n  d     b     nil   day         t\n1  2.50  true  null  2026-01-31  x\n(1 row)\n",
			map[string]string{"n": "1", "d": "2.50", "b": "true", "day": "2026-01-31", "t": "x", "rows": "1", "changed": "0"}, ""},
		{"the server knows the types of what is bound", "select :day::date + 1 as day, :n + 1 as n, ${{ x }}::text as t, :b and true as b limit :l",
			map[string]any{"day": "2026-01-31", "n": 41, "b": true, "l": 1}, []any{"it's; --"},
			"", map[string]string{"day": "2026-02-01", "n": "42", "t": "it's; --", "b": "true", "rows": "1", "changed": "0"}, ""},
		{"a script", "create temp table t (a int); insert into t values (1), (2); update t set a = a + 1 where a = 2; do $$ begin raise notice 'hello; %', 1; end $$; select sum(a) as s from t", nil, nil,
			"t.sql:0: create\nt.sql:29: insert\n(2 rows changed)\nt.sql:60: update\n(1 row changed)\nnotice: hello; 1\nt.sql:96: do\nt.sql:144: select\ns\n4\n(1 row)\n",
			map[string]string{"s": "4", "rows": "1", "changed": "3"}, ""},
		{"the place of a mistake in a statement", "select 1;\nselect :a::text,\n  nope from pg_class", map[string]any{"a": "é"}, nil, "", nil, "t.sql:29: column \"nope\" does not exist"},
		{"a transaction that is left open", "begin; create table ax_open (a int)", nil, nil, "", nil, "the script leaves its transaction open"},
		{"no copy to the client", "copy pg_class to stdout", nil, nil, "", nil, "copy from and to the client is not possible"},
		{"what cannot stand in a transaction can stand alone", "vacuum pg_class", nil, nil, "vacuum: done\n", map[string]string{"rows": "0", "changed": "0"}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := postgresQuery(t, c.text)
			s.Named, s.Inserted = c.named, c.inserted
			a := newAttempt(t, s)
			o := execute(a)
			if c.fails != "" {
				if !strings.Contains(o.CallError+o.StartError, c.fails) {
					t.Errorf("failed with %q, %q", o.StartError, o.CallError)
				}
				return
			}
			if o.ExitCode != 0 || fmt.Sprint(o.Outputs) != fmt.Sprint(c.outputs) {
				t.Errorf("outcome %+v, want outputs %v", o, c.outputs)
			}
			if c.log != "" {
				wantLog(t, a, c.log)
			}
		})
	}
}

func TestRowsOfPostgreSQLAreSaved(t *testing.T) {
	s := postgresQuery(t, "select 1 as n, 2.5::numeric as d, true as b, null as x, '{\"a\": [1]}'::jsonb as j, 'NaN'::float8 as f, 'a' as t")
	a := newAttempt(t, nil)
	for name, want := range map[string]string{
		"a.csv":  "n,d,b,x,j,f,t\n1,2.5,true,,\"{\"\"a\"\": [1]}\",NaN,a\n",
		"a.json": "[\n{\"n\": 1, \"d\": 2.5, \"b\": true, \"x\": null, \"j\": {\"a\":[1]}, \"f\": \"NaN\", \"t\": \"a\"}\n]\n",
	} {
		s.Save = filepath.Join(a.Dir, name)
		a.Number, a.Action = a.Number+1, s
		o := execute(a)
		if got, err := os.ReadFile(s.Save); err != nil || string(got) != want {
			t.Errorf("%s: %q, %v, %+v", name, got, err, o)
		}
	}
	s.Text = "select 1 as a, 2 as a"
	a.Number, a.Action = a.Number+1, s
	if o := execute(a); !strings.Contains(o.CallError, `two columns are called "a"`) {
		t.Errorf("%+v", o)
	}
}

func TestAStatementOfPostgreSQLIsInterruptedOnTheServer(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	began := time.Now()
	o := (&Executor{}).Execute(ctx, newAttempt(t, postgresQuery(t, "select pg_sleep(60), 'ax test of a stop'")))
	if !o.Stopped || time.Since(began) > 20*time.Second {
		t.Errorf("after %s: %+v", time.Since(began), o)
	}
	eventually(t, "the server has stopped as well", func() bool {
		o := execute(newAttempt(t, postgresQuery(t, "select count(*) as n from pg_stat_activity where state = 'active' and query like '%a stop''' and pid <> pg_backend_pid()")))
		return o.Outputs["n"] == "0"
	})
}

func TestWaitingForPostgreSQL(t *testing.T) {
	s := postgresQuery(t, "select now() > :at::timestamptz as late")
	s.Named = map[string]any{"at": time.Now().Add(time.Second).Format(time.RFC3339Nano)}
	a := newAttempt(t, Wait{SQL: &s, Poll: 10 * time.Millisecond})
	if o := execute(a); o.ExitCode != 0 || o.Outputs["late"] != "true" {
		t.Errorf("%+v", o)
	}
	wantLog(t, a, "waits: the query gives nothing that is true\nlate\ntrue\n(1 row)\n")
	s.Text = "selct 1 from"
	bad := postgresQuery(t, "select 1 from from")
	if o := execute(newAttempt(t, Wait{SQL: &bad, Poll: time.Hour})); !strings.Contains(o.CallError, "syntax error") {
		t.Errorf("%+v", o)
	}
}

func TestAServerThatIsNotThereIsNamedWithoutThePassword(t *testing.T) {
	a := newAttempt(t, SQL{DB: "postgres://me:secret@127.0.0.1:1/shop", Text: "select 1", Place: func(int) string { return "" }})
	o := execute(a)
	if !strings.Contains(o.CallError, `no connection to database "shop" at 127.0.0.1:1`) || !strings.Contains(o.CallError, "refused") || strings.Contains(o.CallError, "secret") {
		t.Errorf("%+v", o)
	}
	a = newAttempt(t, SQL{DB: "postgres://me:secret@[::1/shop", Text: "select 1", Place: func(int) string { return "" }})
	if o := execute(a); !strings.Contains(o.StartError, "it is no address like") || strings.Contains(o.StartError, "secret") {
		t.Errorf("%+v", o)
	}
}

func TestWhatAnAddressLeavesOpenComesFromTheTask(t *testing.T) {
	env := []string{"PGHOST=db", "PGPORT=6543", "PGUSER=me", "PGPASSWORD=pw", "PGSSLMODE=disable", "USER=os"}
	for address, want := range map[string]string{
		"postgres:///shop": "me:pw@db:6543/shop", "postgres://you:x@h:1/d": "you:x@h:1/d", "postgres://h/d": "me:pw@h:6543/d",
	} {
		c, err := postgresConfig(address, env)
		if err != nil {
			t.Fatal(err)
		}
		if got := fmt.Sprintf("%s:%s@%s:%d/%s", c.User, c.Password, c.Host, c.Port, c.Database); got != want || c.TLSConfig != nil {
			t.Errorf("%s: %s", address, got)
		}
	}
}
