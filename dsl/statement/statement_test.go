package statement

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// shown gives the statements of a text with their marks in brackets.
func shown(text string, d Dialect) []string {
	statements, faults := Split(text, d, true)
	var all []string
	for _, s := range statements {
		var b strings.Builder
		from := s.Start
		for _, m := range s.Marks {
			fmt.Fprintf(&b, "%s<%s>", text[from:m.Start], m.Name)
			from = m.End
		}
		all = append(all, b.String()+text[from:s.End])
	}
	for _, f := range faults {
		all = append(all, fmt.Sprintf("fault at %q", text[f.Offset:f.Offset+f.Width]))
	}
	return all
}

func TestATextIsTakenApartAtItsSemicolons(t *testing.T) {
	for _, c := range []struct {
		name, text string
		d          Dialect
		want       []string
	}{
		{"nothing is no statement", " ;; -- a\n /* b; */ ", Any, nil},
		{"two statements, without what is around them", "-- first\nselect 1;\n\nselect 2 ;", Any, []string{"select 1", "select 2"}},
		{"a comment behind a statement is not part of it", "select 1 -- one; two\n", Any, []string{"select 1"}},
		{"semicolons in texts and names", `select ';', "a;b", 'it''s;'; x`, Any, []string{`select ';', "a;b", 'it''s;'`, "x"}},
		{"names of SQLite in brackets and back quotes", "select [a;b], `c;d`; x", SQLite, []string{"select [a;b], `c;d`", "x"}},
		{"a trigger of SQLite is one", "create temp trigger t after insert on a begin update b set x = case when 1 then 2 end; select 1; end; x",
			SQLite, []string{"create temp trigger t after insert on a begin update b set x = case when 1 then 2 end; select 1; end", "x"}},
		{"begin by itself is one", "begin; select 1; end; x", Any, []string{"begin", "select 1", "end", "x"}},
		{"texts between dollars", "do $a$ select ';' $$ $a$; x", Postgres, []string{"do $a$ select ';' $$ $a$", "x"}},
		{"a body of SQL is one", "create or replace function f() returns int begin atomic select 1; end; x", Postgres,
			[]string{"create or replace function f() returns int begin atomic select 1; end", "x"}},
		{"a rule with brackets is one", "create rule r as on insert to a do (select 1; select 2); x", Postgres,
			[]string{"create rule r as on insert to a do (select 1; select 2)", "x"}},
		{"backslashes in texts of PostgreSQL", `select E'\';', 'a\'; x`, Postgres, []string{`select E'\';', 'a\'`, "x"}},
		{"comments within comments", "/* a /* b */ ; */ x", Postgres, []string{"x"}},
		{"what is not closed goes to the end", "select 'a; b", Any, []string{"select 'a; b"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := shown(c.text, c.d); !slices.Equal(got, c.want) {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

func TestValuesAreBoundWhereTheyCanBe(t *testing.T) {
	for _, c := range []struct {
		name, text string
		d          Dialect
		want       []string
	}{
		{"names and expressions", "select :day, ${{ params.x }}", Any, []string{"select <day>, <>"}},
		{"a cast is no name", "select :a::date, x::int, y:=1", Postgres, []string{"select <a>::date, x::int, y:=1"}},
		{"braces and quotes in an expression", `select ${{ {a: "}}'"}.a }}; x`, Any, []string{"select <>", "x"}},
		{"not within a text", "select '${{ a }}', ':b'", Any, []string{"select '${{ a }}', ':b'", `fault at "${{ a }}"`}},
		{"not within a name", `select "${{ a }}"`, Any, []string{`select "${{ a }}"`, `fault at "${{ a }}"`}},
		{"not between dollars", `select $$ ${{ a }} $$`, Postgres, []string{`select $$ ${{ a }} $$`, `fault at "${{ a }}"`}},
		{"a comment has none", "select 1 -- ${{ a }} :b\n, ${{ c }}", Any, []string{"select 1 -- ${{ a }} :b\n, <>"}},
		{"placeholders of SQLite that nothing is bound to", "select ?, ?2, @a, $b", SQLite,
			[]string{"select ?, ?2, @a, $b", `fault at "?"`, `fault at "?2"`, `fault at "@a"`, `fault at "$b"`}},
		{"those of PostgreSQL", "select $1, j ? 'a', @x", Postgres, []string{"select $1, j ? 'a', @x", `fault at "$1"`}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := shown(c.text, c.d); !slices.Equal(got, c.want) {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

func TestTheVerbOfAStatementSaysWhatItDoes(t *testing.T) {
	for text, want := range map[string]string{
		"select 1": "SELECT",
		"with a as (select 1), b(x) as (values (2)) insert into c select * from a": "INSERT",
		"with recursive a as (select 1) select * from a":                           "SELECT",
		"/* x */ VACUUM": "VACUUM",
		"(select 1)":     "",
	} {
		s, _ := Split(text, Any, false)
		if got := s[0].Verb(); got != want {
			t.Errorf("%s: got %q, want %q", text, got, want)
		}
	}
}

func TestWhateverTheTextStatementsLieInItInOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		parts := rapid.SliceOf(rapid.SampledFrom([]string{"'", `"`, "`", "[", "]", "$$", "$a$", "--", "/*", "*/", "\n", ";", ":a", "::", "?", "${{ a }}",
			"${{", "(", ")", "begin", "end", "case", "create", "trigger", "E'", `\`, " ", "é", "1e5", "select"}))
		text := strings.Join(parts.Draw(t, "parts"), "")
		d := Dialect(rapid.IntRange(0, 2).Draw(t, "dialect"))
		statements, faults := Split(text, d, true)
		at := 0
		for _, s := range statements {
			if s.Start < at || s.End <= s.Start || s.End > len(text) {
				t.Fatalf("%q: statement %d to %d after %d", text, s.Start, s.End, at)
			}
			in := s.Start
			for _, m := range s.Marks {
				if m.Start < in || m.End <= m.Start || m.End > s.End {
					t.Fatalf("%q: mark %d to %d after %d of %d to %d", text, m.Start, m.End, in, s.Start, s.End)
				}
				in = m.End
			}
			at = s.End
		}
		for _, f := range faults {
			if f.Offset < 0 || f.Width <= 0 || f.Offset+f.Width > len(text) {
				t.Fatalf("%q: fault %d+%d", text, f.Offset, f.Width)
			}
		}
	})
}
