package dsl

import (
	"strings"
	"testing"
)

// TestSyntaxIsReportedAtTheSlip goes through what people do wrong in YAML. Each
// slip gives one diagnostic, at its place, with words about it.
func TestSyntaxIsReportedAtTheSlip(t *testing.T) {
	const head = "name: a\ntasks:\n"
	for _, c := range []struct {
		name string
		text string
		at   Pos
		says string
	}{
		{"three blanks between two and four", head + "  a:\n    run: x\n   timeout: 5m\n  b:\n    run: y\n", Pos{5, 4}, "3 blanks, the lines above have 4 or 2"},
		{"one blank between none and two", head + "  a: {run: x}\n b: {run: y}\n", Pos{4, 2}, "1 blank, the lines above have 2 or 0"},
		{"a first key that is indented", "  name: a\ntasks:\n  a: {run: x}\n", Pos{2, 1}, "0 blanks, the lines above have 2"},
		{"a key deeper than its neighbour", head + "  a:\n    run: x\n      timeout: 5m\n", Pos{5, 7}, "too deeply"},
		{"a key at the top that is indented", "name: a\n  cron: x\n", Pos{2, 3}, "too deeply"},
		{"a tab", "tasks:\n  a:\n\trun: x\n", Pos{3, 1}, "tab"},
		{"a tab behind blanks", "tasks:\n  a:\n  \trun: x\n", Pos{3, 3}, "tab"},
		{"a tab before the second key", head + "  a:\n    run: x\n\ttimeout: 5m\n", Pos{5, 1}, "tab"},
		{"a double quote never closed", head + "  a:\n    run: \"echo\n  b:\n    run: x\n", Pos{4, 10}, "never closed"},
		{"a double quote closed by the next", head + "  a:\n    run: \"echo\n  b:\n    run: \"x\"\n", Pos{4, 10}, "closed only in line 6"},
		{"a single quote closed by the next", head + "  a:\n    run: 'echo\n  b:\n    run: 'x y'\n", Pos{4, 10}, "closed only in line 6"},
		{"a quote around a key never closed", head + "  \"a: {run: x}\n  b: {run: y}\n", Pos{3, 3}, "never closed"},
		{"an apostrophe in single quotes", head + "  a:\n    run: 'it's'\n", Pos{4, 14}, "behind the closing quote"},
		{"text behind quotes", head + "  a:\n    run: \"echo\" hi\n", Pos{4, 17}, "behind the closing quote"},
		{"a bracket never closed", head + "  a:\n    depends_on: [x, y\n    run: z\n  b:\n    run: x\n", Pos{4, 17}, `"[" is never closed`},
		{"a bracket never closed at the end", head + "  a:\n    depends_on: [x, y\n", Pos{4, 17}, `"[" is never closed`},
		{"a brace never closed", head + "  a: {run: x\n  b: {run: y}\n", Pos{3, 6}, `"{" is never closed`},
		{"a bracket too many", head + "  a:\n    depends_on: [x]]\n", Pos{4, 20}, `"]" closes nothing`},
		{"a brace for a bracket", head + "  a:\n    depends_on: [x}\n", Pos{4, 19}, `"}" does not close "["`},
		{"no comma", head + "  a: {run: x, depends_on: [\"a\" \"b\"]}\n", Pos{3, 32}, `expected "," or "]"`},
		{"no comma between keys", head + "  a: {run: \"x\" timeout: 5m}\n", Pos{3, 16}, `expected "," or "}"`},
		{"an expression in braces", head + "  a: {run: ${{ params.x }}}\n", Pos{3, 12}, `unquoted "${{"`},
		{"no colon after a task", head + "  a\n    run: z\n", Pos{3, 3}, "no colon"},
		{"no colon after the first key", "tasks\n  a:\n    run: z\n", Pos{1, 1}, "no colon"},
		{"no colon before another key", head + "  a:\n    run z\n    timeout: 4\n", Pos{4, 5}, "no colon"},
		{"no blank after a colon", head + "  a:\n    run:z\n    timeout: 5m\n", Pos{4, 5}, "no blank after the colon"},
		{"no blank after the last colon", head + "  a:\n    timeout: 5m\n    run:z\n", Pos{5, 5}, "no blank after the colon"},
		{"no blank after a dash", head + "  a:\n    depends_on:\n      - x\n      -y\n", Pos{6, 7}, "no blank after the dash"},
		{"a colon inside of a value", head + "  a:\n    run: echo a: b\n", Pos{4, 16}, "without quotes"},
		{"an unknown escape", head + "  a:\n    run: \"a\\.b\"\n", Pos{4, 12}, "unknown escape"},
		{"an escape with bad digits", head + "  a:\n    run: \"a\\xzz\"\n", Pos{4, 14}, "bad escape"},
		{"an at sign first", head + "  a:\n    run: @daily\n", Pos{4, 10}, `"@" cannot begin`},
		{"a backtick first", head + "  a:\n    run: `date`\n", Pos{4, 10}, "\"`\" cannot begin"},
		{"a percent sign first", head + "  a:\n    run: %x\n", Pos{4, 10}, `"%" cannot begin`},
		{"a cron expression without quotes", "cron: * * * * *\n", Pos{1, 7}, "begins an alias"},
		{"an unknown anchor", head + "  a:\n    retry: *nope\n", Pos{4, 12}, `unknown anchor "nope"`},
		{"an anchor without a name", head + "  a:\n    run: & x\n", Pos{4, 10}, "begins an anchor"},
		{"an item among keys", head + "  a:\n    run: x\n    - y\n", Pos{5, 5}, "an item of a list"},
		{"an item less indented", head + "  a:\n    depends_on:\n      - x\n     - y\n", Pos{6, 6}, "an item of a list"},
		{"text behind the header of a block", head + "  a:\n    run: | echo\n      x\n", Pos{4, 12}, "text behind"},
		{"a block that is not indented", head + "  a:\n    run: |\n    echo hi\n  b: {run: x}\n", Pos{5, 5}, "ends the block"},
		{"the end of a here-document", head + "  a:\n    run: |\n      cat <<END\n      x\nEND\n  b: {run: x}\n", Pos{7, 1}, "ends the block"},
		{"a mark of a merge", head + "  a: {run: x}\n<<<<<<< HEAD\n  b: {run: y}\n=======\n", Pos{4, 1}, "unfinished merge"},
		{"a comma for a value", head + "  a: , x\n", Pos{3, 6}, `unexpected ","`},
		{"a brace at the end", head + "  a: {run: x}\n}\n", Pos{4, 1}, `"}" closes nothing`},
		{"a future version of YAML", "%YAML 2.0\n---\nname: a\n", Pos{1, 1}, "version of YAML"},
		{"a tag without an end", head + "  a:\n    run: !<x\n", Pos{4, 12}, "'>'"},
		{"a task in the first column", head + "  a:\n    run: x\nb:\n    run: y\n  c:\n    run: z\n", Pos{5, 1}, "0 blanks, its neighbours have 2"},
		{"the first task in the first column", head + "a:\n    run: x\n  b:\n    run: y\n", Pos{3, 1}, "0 blanks, its neighbours have 2"},
		{"a key of the workflow is no task in the first column", head + "  a:\n    run: x\ndefaults:\n    timeout: 5m\n  env: {A: b}\n", Pos{7, 3}, "2 blanks"},
		{"the first of three tasks too deep", head + "   a:\n    run: x\n  b:\n    run: y\n  c:\n    run: z\n", Pos{3, 4}, "3 blanks, its neighbours have 2"},
		{"the first of two tasks too deep, by an odd number", head + "   a:\n     run: x\n  b:\n    run: y\n", Pos{3, 4}, "3 blanks, its neighbours have 2"},
		{"the first of three tasks not deep enough", head + " a:\n    run: x\n  b:\n    run: y\n  c:\n    run: z\n", Pos{3, 2}, "1 blank, its neighbours have 2"},
		{"tasks begun as a list", head + "  - a:\n    run: x\n  b:\n    run: y\n", Pos{3, 3}, "but the lines below are keys"},
		{"tasks gone on with as a list", head + "  a:\n    run: x\n  - b:\n    run: y\n", Pos{5, 3}, "among the keys of a map"},
		{"a block of text in the first column", head + "  a:\n    timeout: 5m\nrun: |\n      x\n  b:\n    run: y\n", Pos{5, 1}, "0 blanks, its neighbours have 2"},
		{"a quote closed by one in the middle of a line", "name: \"a\ncron: \"1 2 * * *\"\ntasks:\n  a:\n    run: x \"y\"\n", Pos{1, 7}, "closed only in line 2"},
		{"a quote closed by another, and a slip after that", "name: \"a\ntasks:\n  a:\n    run: ./x \"$Y\"\n    timeout: 5m\n", Pos{1, 7}, "closed only in line 4"},
		{"no colon above an empty line", "tasks:\n  load\n\n:\n    run: x\n", Pos{2, 3}, "no colon"},
		{"a percent sign alone", "%", Pos{1, 1}, "unknown directive"},
		{"a percent sign alone in the last line", "name: a\n%", Pos{2, 1}, "unknown directive"},
		{"no colon above a comment", "name a\n# note\ntasks:\n  a: {run: x}\n", Pos{1, 1}, "no colon"},
		{"a no-break space before a key", head + "  a:\n   \u00a0run: x\n", Pos{4, 4}, "no-break space (U+00A0)"},
		{"no-break spaces before a task", head + "  a: {run: x}\n\u00a0\u00a0b: {run: y}\n", Pos{4, 1}, "no-break space"},
		{"a no-break space at the beginning", "\u00a0name: a\ntasks: {a: {run: x}}\n", Pos{1, 1}, "no-break space"},
		{"a no-break space before a key that is too deep", head + "  a:\n    run: x\n    \u00a0timeout: 5m\n", Pos{5, 5}, "no-break space"},
		{"a wide space before a key", head + "\u3000a: {run: x}\n", Pos{3, 1}, "no blank (U+3000)"},
		{"a no-break space behind a colon", head + "  a:\n    run:\u00a0x\n    timeout: 5m\n", Pos{4, 9}, "looks like a blank"},
		{"letters of other scripts before the slip", "description: größe und 漢字: x\n", Pos{1, 26}, "without quotes"},
	} {
		for end, name := range map[string]string{"\n": "", "\r\n": " with CRLF", "\r": " with CR"} {
			t.Run(c.name+name, func(t *testing.T) {
				w, ds := Parse("f.yaml", []byte(strings.ReplaceAll(c.text, "\n", end)))
				if w != nil || len(ds) != 1 || ds[0].Rule != "syntax" || ds[0].Severity != Error {
					t.Fatalf("want one syntax error and no workflow, got %v", ds)
				}
				d := ds[0]
				if d.Pos != c.at {
					t.Errorf("reported at %v, the slip is at %v: %s", d.Pos, c.at, d.Message)
				}
				if !strings.Contains(d.Message, c.says) {
					t.Errorf("message %q does not say %q", d.Message, c.says)
				}
				if d.End.compare(d.Pos) <= 0 {
					t.Errorf("it ends at %v, before it begins", d.End)
				}
				if src := NewSource("f.yaml", []byte(strings.ReplaceAll(c.text, "\n", end))); src.Pos(src.Offset(d.End)) != d.End {
					t.Errorf("it ends at %v, outside of the file", d.End)
				}
			})
		}
	}
}

// TestYAMLThatIsNoSlip has what looks odd, but is allowed.
func TestYAMLThatIsNoSlip(t *testing.T) {
	const tasks = "tasks: {t: {run: \"true\"}}\n"
	for _, c := range []struct{ name, text string }{
		{"a byte-order mark", "\ufeff" + tasks},
		{"a version of YAML", "%YAML 1.2\n---\n" + tasks},
		{"an older version of YAML", "# first\n%YAML 1.1\n---\n" + tasks},
		{"the marks of one document", "---\n" + tasks + "...\n"},
		{"no-break spaces in texts", "description: a\u00a0b\nx-a: |\n  \u00a0c: d\nx-b: \"\n  \u00a0e: f\"\n" + tasks},
		{"quotes over several lines that look like keys", "x-a: \"b\n  c: d\n  - e\"\n" + tasks},
		{"an anchor that is defined again", "x-a: &r 1\nx-b: &r 2\ntasks: {a: {run: x, retry: *r}}\n"},
		{"an anchor that holds itself and is not used", "x-a: &a [*a]\n" + tasks},
		{"no line end at the end", "tasks: {t: {run: x}}"},
		{"tabs where blanks may be", "tasks:\n  t: {run:\t\"a\tb\" }\t# note\n"},
		{"anything in a key of one's own", "x-any: {a: 1, a: 2, ? [b] : c, !tag d: !!set {e}}\n" + tasks},
		{"an empty key of one's own", "x-:\nx-nothing:\n" + tasks},
	} {
		t.Run(c.name, func(t *testing.T) {
			if w, ds := Parse("f.yaml", []byte(c.text)); w == nil || len(ds) > 0 {
				t.Errorf("want no diagnostics, got %v", ds)
			}
		})
	}
}
