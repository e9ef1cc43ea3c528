package dsl

import (
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

// sound checks what holds for any text whatever.
func sound(t interface {
	Helper()
	Fatalf(string, ...any)
}, text []byte,
) {
	t.Helper()
	src := NewSource("w.yaml", text)
	w, ds := Parse("w.yaml", text)
	if w == nil && len(ds) != 1 {
		t.Fatalf("no workflow, but %d diagnostics", len(ds))
	}
	seen := map[Diagnostic]bool{}
	last := Pos{}
	for _, d := range ds {
		switch {
		case d.Pos.compare(last) < 0:
			t.Fatalf("not sorted: %v", d)
		case seen[d]:
			t.Fatalf("reported twice: %v", d)
		case d.Message == "" || strings.ContainsAny(d.Message+d.Hint, "\n\r") || !utf8.ValidString(d.Message+d.Hint):
			t.Fatalf("bad words: %v", d)
		case !d.Pos.Written():
			if d.End.Written() {
				t.Fatalf("an end without a beginning: %v", d)
			}
			continue
		case d.End.compare(d.Pos) <= 0:
			t.Fatalf("ends before it begins: %v", d)
		case src.Pos(src.Offset(d.Pos)) != d.Pos:
			t.Fatalf("outside of the file: %v", d)
		case d.End.Line != d.Pos.Line && src.Pos(src.Offset(d.End)) != d.End:
			t.Fatalf("ends outside of the file: %v", d)
		}
		seen[d], last = true, d.Pos
	}
	if err := Render(io.Discard, ds, func(string) *Source { return src }, true); err != nil {
		t.Fatalf("render: %v", err)
	}
	if _, err := json.Marshal(ds); err != nil {
		t.Fatalf("marshal: %v", err)
	}
}

func FuzzParse(f *testing.F) {
	files, err := filepath.Glob("testdata/*.yaml")
	if err != nil || len(files) == 0 {
		f.Fatalf("no seeds: %v", err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text)
	}
	for _, seed := range []string{
		"", "\x00", "\xff\xfe", "\ufeff", "{", "- - |2\n", "a: &a [*a]\ntags: *a", "<<: {<<: *b}", "? ", "tasks: {t: {run: \"${{\"}}",
		"%YAML 1.2\n---\n---\n", "a: !!str\nb: &c\n", "? <<", "\t", "x: 'a\r\n\r b'", "1: x\n<<: {[a]: 1}", "{a?: b\n ",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) { sound(t, text) })
}

func TestAnyTextIsRefusedWithoutAPanic(t *testing.T) {
	pieces := []string{
		"a", "tasks", "t", "run", "retry", "depends_on", "env", "params", "with", "cron", "x-a", "<<", "${{ a }}", "${{", "5m", "true", "~",
		": ", ":", "- ", "-", "? ", "?", "\n", "\n  ", "\n    ", "\r\n", "\r", "\t", " ", "[", "]", "{", "}", ", ", "'", "\"", "\\", "|", ">", "|2-\n",
		"&a ", "*a", "!!str ", "!x ", "#", " # c", "---\n", "...\n", "%", "@", "é", "漢", "😀", "\u2028", "\u0085", "\ufeff", "\x00", "\xff",
	}
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOfN(rapid.SampledFrom(pieces), 0, 40).Draw(t, "text"), "")
		sound(t, []byte(text))
	})
}

func TestAnyChangeOfAGoodFileIsRefusedWithoutAPanic(t *testing.T) {
	good, err := os.ReadFile("testdata/full.yaml")
	if err != nil {
		t.Fatal(err)
	}
	rapid.Check(t, func(t *rapid.T) {
		at := rapid.IntRange(0, len(good)-1).Draw(t, "at")
		gone := rapid.IntRange(0, min(20, len(good)-at)).Draw(t, "gone")
		put := rapid.SampledFrom([]string{"", " ", "\n", "\t", "'", "\"", ":", "[", "}", "*x", "-1", "é", "${{"}).Draw(t, "put")
		sound(t, []byte(string(good[:at])+put+string(good[at+gone:])))
	})
}

// generated draws a workflow without mistakes.
type generated struct{ *rapid.T }

func (g generated) pick(label string, all ...string) string {
	return rapid.SampledFrom(all).Draw(g.T, label)
}

// maybe adds lines with one of some values to b, or none.
func (g generated) maybe(b *strings.Builder, indent, key string, values ...string) {
	if rapid.IntRange(0, 3).Draw(g.T, key) == 0 {
		b.WriteString(indent + key + ": " + g.pick(key+" value", values...) + "\n")
	}
}

func (g generated) workflow() string {
	var b strings.Builder
	g.maybe(&b, "", "name", "a", "_x-1", "\"quoted\"")
	g.maybe(&b, "", "description", "|\n  größe\n\n  two", "'it''s'", "\"\"", "plain: "[:5])
	g.maybe(&b, "", "cron", "0 5 * * *", "[\"@daily\"]", "\n- {cron: x, timezone: UTC}\n- y")
	g.maybe(&b, "", "every", "1s", "90", "1d12h", "\"5m\"")
	g.maybe(&b, "", "after", "w", "[v, w]", "{v: failed}")
	g.maybe(&b, "", "catchup", "none", "latest", "all", "merge")
	g.maybe(&b, "", "max_active", "0", "010")
	g.maybe(&b, "", "params", "{a: x, b: {type: int, default: 3, min: 1, max: 5}}", "{}")
	g.maybe(&b, "", "env", "{A: 0640, B: no, C: \"\"}", "\n  A: |\n    x\n  B: *anchor"[:15])
	g.maybe(&b, "", "secrets", "{A: {env: B}, C: {file: d}}")
	g.maybe(&b, "", "defaults", "{retry: 2, shell: bash, env: {D: e}}")
	g.maybe(&b, "", "priority", "0", "9")
	g.maybe(&b, "", "retention", "{runs: 5}", "{age: 30d}")
	g.maybe(&b, "", "x-note", "[1, {a: b}]", "")
	b.WriteString("tasks:\n")
	for i := range rapid.IntRange(1, 4).Draw(g.T, "tasks") {
		b.WriteString("  t" + string(rune('0'+i)) + ":\n")
		b.WriteString(g.pick("action", "    run: x\n", "    run: |-\n      a ${{ params.x }}\n        b\n", "    command: [a, 010, \"\"]\n",
			"    http: {url: \"http://a\", expect: [200]}\n", "    sql: {db: \"sqlite:a\", query: q}\n", "    workflow: {name: v}\n",
			"    wait_for: {file: a, poll: 5s}\n", "    call: f\n    with: {a: [1, {b: ~}]}\n"))
		g.maybe(&b, "    ", "depends_on", "t0", "[t0, t1]", "{t0: failed, t1: [succeeded, skipped]}", "\n      - t0\n      - t1")
		g.maybe(&b, "    ", "retry", "3", "{max: 0, delay: 0, backoff: constant, exit_codes: [75]}")
		g.maybe(&b, "    ", "timeout", "5m", "0.5", "1.5h")
		g.maybe(&b, "    ", "foreach", "[a, b]", "split(x)", "{items: [1], max_parallel: 2}")
		g.maybe(&b, "    ", "pool", "p", "{name: p, slots: 3, busy: skip}")
		g.maybe(&b, "    ", "allow_failure", "true", "FALSE", "\"true\"")
		g.maybe(&b, "    ", "skip_codes", "[]", "[99, 100]")
	}
	return b.String()
}

func TestAGoodFileGivesNoDiagnostics(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := generated{t}.workflow()
		end := rapid.SampledFrom([]string{"\n", "\r\n"}).Draw(t, "line end")
		w, ds := Parse("w.yaml", []byte(strings.ReplaceAll(text, "\n", end)))
		if w == nil || len(ds) > 0 {
			t.Fatalf("got %v for\n%s", ds, text)
		}
	})
}

// TestNoFileAsksForMuch has texts that are small but would take all memory and
// time if they were taken at their word.
func TestNoFileAsksForMuch(t *testing.T) {
	bomb := func(first, join string, rounds int, end string) string {
		text := "x-0: &x0 " + first + "\n"
		for i := range rounds {
			a, n := "*x"+string(rune('0'+i/10))+string(rune('0'+i%10)), "x"+string(rune('0'+(i+1)/10))+string(rune('0'+(i+1)%10))
			if i == 0 {
				a = "*x0"
			}
			text += "x-" + n + ": &" + n + " " + strings.ReplaceAll(join, "*", a) + "\n"
		}
		return text + end
	}
	for _, c := range []struct{ name, text, rule string }{
		{"lists of lists", bomb("[z, z, z, z]", "[* , * , * , * , * ]", 30, "tasks: {t: {run: x, depends_on: *x30 }}"), "wrong-type"},
		{"maps of lists", bomb("[z, z, z, z]", "[* , * , * , * , * ]", 30, "tasks: {t: {call: f, with: {a: *x30 }}}"), "too-large"},
		{"long texts", bomb(strings.Repeat("z", 100_000), "[* , * ]", 30, "tasks: {t: {call: f, with: {a: *x30 }}}"), "too-large"},
		{"merges", bomb("{run: x}", "{<<: [* , * ]}", 40, "tasks: {t: *x40 }"), "too-large"},
		{"a map in itself", "x-a: &a {b: *a}\ntasks: {t: {call: f, with: *a }}", "bad-value"},
		{"lists in themselves", "x-a: &a [*a, *a]\ntasks: {t: {call: f, with: {a: *a }}}", "bad-value"},
		{"brackets", strings.Repeat("[", 1<<16), "syntax"},
		{"dashes", strings.Repeat("- ", 1<<16), "syntax"},
		{"defaults for many", "defaults: {env: {" + numbered("V%: x, ", 5_000) + "}}\ntasks: {" +
			numbered("t%: {run: x, env: {B: c}}, ", 5_000) + "}", "too-large"},
		{"broken expressions", "description: '" + strings.Repeat("${{ { }} ", 1<<15) + "'\n", "missing-key"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			_, ds := Parse("w.yaml", []byte(c.text))
			runtime.ReadMemStats(&after)
			if took := (after.TotalAlloc - before.TotalAlloc) >> 20; took > 200 {
				t.Errorf("took %d MiB", took)
			}
			if len(ds) == 0 || ds[len(ds)-1].Rule != c.rule && ds[0].Rule != c.rule {
				t.Errorf("want %s, got %v", c.rule, ds)
			}
		})
	}
}

// numbered repeats a text with a number for each %.
func numbered(text string, n int) string {
	var b strings.Builder
	for i := range n {
		digits, _ := json.Marshal(i)
		b.WriteString(strings.ReplaceAll(text, "%", string(digits)))
	}
	return b.String()
}

func TestManyTasksMayShareOneAnchor(t *testing.T) {
	w, ds := Parse("w.yaml", []byte("x-a: &a {run: x, retry: {max: 1, delay: 1s}, env: {A: b}}\ntasks:\n"+numbered("  t%: {<<: *a, depends_on: []}\n", 5_000)))
	if len(ds) > 0 || len(w.Tasks) != 5_000 || w.Tasks[4_999].Run.V != "x" {
		t.Errorf("%d tasks and %v", len(w.Tasks), ds)
	}
}
