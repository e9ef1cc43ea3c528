package executor

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

func TestOutputsAreReadFromTheirFile(t *testing.T) {
	for name, c := range map[string]struct {
		text     string
		want     map[string]string
		warnings []string // a part of each
	}{
		"nothing":                              {"", nil, nil},
		"empty lines":                          {"\n\n", nil, nil},
		"one line":                             {"a=b\n", map[string]string{"a": "b"}, nil},
		"a last line without an end":           {"a=b", map[string]string{"a": "b"}, nil},
		"an empty value":                       {"a=\n", map[string]string{"a": ""}, nil},
		"the last one wins":                    {"a=1\nb=2\na=3\n", map[string]string{"a": "3", "b": "2"}, nil},
		"blanks and equal signs of the value":  {"a= b = c \n", map[string]string{"a": " b = c "}, nil},
		"letters, digits, dash and underscore": {"_A-1=x\n", map[string]string{"_A-1": "x"}, nil},
		"several lines":                        {"a<<END\none\n\ntwo=2\nEND\nb=c\n", map[string]string{"a": "one\n\ntwo=2", "b": "c"}, nil},
		"several lines without one":            {"a<<END\nEND\n", map[string]string{"a": ""}, nil},
		"several lines with one empty":         {"a<<END\n\nEND", map[string]string{"a": ""}, nil},
		"a value with two less-than signs":     {"a=b<<c\n", map[string]string{"a": "b<<c"}, nil},
		"a closing word with an equal sign":    {"a<<x=y\nz\nx=y\n", map[string]string{"a": "z"}, nil},
		"a line without an equal sign":         {"one\na=b\n", map[string]string{"a": "b"}, []string{`line 1: "one" has no "="`}},
		"no name":                              {"=b\n a=b\n1=x\na.b=c\né=x\na =b\n", map[string]string{}, []string{`line 1: ""`, `line 2: " a"`, `line 3: "1"`, `line 4: "a.b"`, `line 5: "é"`, `line 6: "a "`}},
		"lines are counted across long values": {"a<<E\n1\n2\nE\n!\n", map[string]string{"a": "1\n2"}, []string{"line 5"}},
		"an end that is missing":               {"b=1\na<<END\nx\nc=3\n", map[string]string{"b": "1"}, []string{`line 2: the value of "a" has no closing line "END"`}},
		"a closing word that is empty":         {"a<<\nx\n\n", nil, []string{`line 1: the value of "a" has no closing word behind "<<"`}},
		"a closing word that is empty hides what follows, which may be of the value": {"b=1\na<<\nc=3\n", map[string]string{"b": "1"}, []string{`line 2: `}},
		"a value with a zero byte":                           {"a=x\x00y\n", map[string]string{"a": "x\uFFFDy"}, []string{`line 1: the value of "a" has zero bytes or is not UTF-8`}},
		"a value that is no UTF-8":                           {"k=\xffbad\ngood=fine\n", map[string]string{"k": "\uFFFDbad", "good": "fine"}, []string{`line 1: the value of "k"`}},
		"a name that is no UTF-8":                            {"\xff=x\n", map[string]string{}, []string{`line 1: "\xff"`}},
		"a carriage return belongs to the end of its line":   {"a=b\r\n\r\nc=\r\nd=e\r", map[string]string{"a": "b", "c": "", "d": "e"}, nil},
		"one within a line is the value's":                   {"a=b\rc\n", map[string]string{"a": "b\rc"}, nil},
		"only one belongs to the end":                        {"a=b\r\r\n", map[string]string{"a": "b\r"}, nil},
		"several lines with carriage returns":                {"a<<END\r\none\r\n\r\ntwo\r\nEND\r\nb=c\r\n", map[string]string{"a": "one\n\ntwo", "b": "c"}, nil},
		"several lines whose last has none":                  {"a<<END\r\none\r\nEND", map[string]string{"a": "one"}, nil},
		"several lines keep theirs where the first has none": {"a<<END\none\r\ntwo\r\nEND\n", map[string]string{"a": "one\r\ntwo\r"}, nil},
		"a closing word is empty before a carriage return":   {"a<<\r\nx\r\n\r\n", nil, []string{`line 1: the value of "a" has no closing word`}},
	} {
		t.Run(name, func(t *testing.T) {
			var w warnings
			if got := parseOutputs(c.text, &w); !maps.Equal(got, c.want) {
				t.Errorf("outputs are %q, want %q", got, c.want)
			}
			if len(w.list()) != len(c.warnings) {
				t.Fatalf("warnings are %q, want %q", w.list(), c.warnings)
			}
			for i, part := range c.warnings {
				if !strings.Contains(w.list()[i], part) {
					t.Errorf("warning %q does not say %q", w.list()[i], part)
				}
			}
		})
	}
}

func TestAFloodOfBadLinesIsCounted(t *testing.T) {
	var w warnings
	parseOutputs(strings.Repeat("bad\n", 1000), &w)
	if list := w.list(); len(list) != warningLimit+1 || list[warningLimit] != "and 990 more like these" {
		t.Errorf("%d warnings, the last %q", len(list), list[len(list)-1])
	}
}

func TestLongTextIsCutInWarnings(t *testing.T) {
	var w warnings
	parseOutputs(strings.Repeat("x", outputLimit), &w)
	if n := len(w.list()[0]); n > 200 {
		t.Errorf("the warning has %d bytes", n)
	}
}

func TestOutputsThatAreWrittenAreReadBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := rapid.MapOf(rapid.StringMatching(`[A-Za-z_][A-Za-z0-9_-]{0,9}`), rapid.StringMatching(`[^\x00]{0,20}`)).Draw(t, "outputs")
		var file strings.Builder
		for key, value := range want {
			if strings.ContainsAny(value, "\r\n") || rapid.Bool().Draw(t, "long form") {
				word := "END"
				for slices.Contains(strings.Split(value, "\n"), word) {
					word += "D"
				}
				fmt.Fprintf(&file, "%s<<%s\n%s\n%s\n", key, word, value, word)
			} else {
				fmt.Fprintf(&file, "%s=%s\n", key, value)
			}
		}
		var w warnings
		if got := parseOutputs(file.String(), &w); !maps.Equal(got, want) || len(w.list()) > 0 {
			t.Errorf("wrote %q as %q, read %q with warnings %q", want, file.String(), got, w.list())
		}
	})
}

func TestOutputsOfAnyFileAreSound(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringOf(rapid.SampledFrom([]rune("ab=<\r\n\x00E é"))).Draw(t, "text") + rapid.SampledFrom([]string{"", "\xff", "\xc3"}).Draw(t, "end")
		var w warnings
		for key, value := range parseOutputs(text, &w) {
			if !outputKey.MatchString(key) || !utf8.ValidString(value) || strings.Contains(value, "\x00") {
				t.Errorf("output %q=%q", key, value)
			}
		}
	})
}

func TestATaskWritesItsOutputs(t *testing.T) {
	for name, c := range map[string]struct {
		script  string
		outputs map[string]string
		err     string
	}{
		"none":                          {`! [ -e "$AX_OUTPUT" ]`, nil, ""},
		"some":                          {`echo a=1 >> "$AX_OUTPUT"; echo b=2 >> "$AX_OUTPUT"`, map[string]string{"a": "1", "b": "2"}, ""},
		"as much as is allowed":         {`printf 'a=' > "$AX_OUTPUT"; head -c 1048574 /dev/zero | tr '\0' x >> "$AX_OUTPUT"`, map[string]string{"a": strings.Repeat("x", 1048574)}, ""},
		"more than is allowed":          {`printf 'a=' > "$AX_OUTPUT"; head -c 1048575 /dev/zero | tr '\0' x >> "$AX_OUTPUT"`, nil, "more than 1 MiB"},
		"far more than is allowed":      {`truncate -s 1T "$AX_OUTPUT" || head -c 20000000 /dev/zero > "$AX_OUTPUT"`, nil, "more than 1 MiB"},
		"a link to another file":        {`echo a=b > secret; ln -s "$PWD/secret" "$AX_OUTPUT"`, nil, "cannot be read"},
		"a pipe in the file's place":    {`mkfifo "$AX_OUTPUT"`, nil, "no longer a file"},
		"a folder in the file's place":  {`mkdir -p "$AX_OUTPUT/x"`, nil, "no longer a file"},
		"a file that it takes back":     {`echo a=1 > "$AX_OUTPUT"; rm "$AX_OUTPUT"`, nil, ""},
		"a file that cannot be written": {`echo a=1 > "$AX_OUTPUT"; chmod 400 "$AX_OUTPUT"`, map[string]string{"a": "1"}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := newAttempt(t, sh(c.script))
			o := execute(a)
			wantExit(t, o, 0)
			if !maps.Equal(o.Outputs, c.outputs) || len(o.Warnings) > 0 {
				t.Errorf("outputs %.100q, warnings %q", fmt.Sprint(o.Outputs), o.Warnings)
			}
			if !strings.Contains(o.OutputError, c.err) || (c.err == "") != (o.OutputError == "") || o.Message() != o.OutputError {
				t.Errorf("output error %q, want %q", o.OutputError, c.err)
			}
		})
	}
}

func TestOutputsOfAFailureAndOfAStopAreKept(t *testing.T) {
	a := newAttempt(t, sh(`echo a=1 >> "$AX_OUTPUT"; exit 3`))
	if o := execute(a); o.ExitCode != 3 || o.Outputs["a"] != "1" {
		t.Errorf("outcome %+v", o)
	}
	a.Action = sh(`echo a=2 >> "$AX_OUTPUT"; : > ready; sleep 300`)
	if o, _ := inBackground(t, a).stopWhen(t, filepath.Join(a.Dir, "ready")); !o.Stopped || o.Outputs["a"] != "2" {
		t.Errorf("outcome %+v", o)
	}
}

func TestOutputsOfAnEarlierAttemptAreNotTaken(t *testing.T) {
	a := newAttempt(t, sh(`echo b=1 >> "$AX_OUTPUT"`))
	writeProgram(t, a.outputPath(), "a=1\n", 0o600)
	if o := execute(a); !maps.Equal(o.Outputs, map[string]string{"b": "1"}) {
		t.Errorf("outputs %v", o.Outputs)
	}
}

func TestFilesOfAttemptsInOneScratchFolderDiffer(t *testing.T) {
	seen := map[string]Attempt{}
	for _, task := range []string{"a", "a.1", "a[1]", "A", "../x", "a/b"} {
		for number := range 3 {
			a := Attempt{Task: task, Number: number, Scratch: "/scratch"}
			path := a.outputPath()
			if other, taken := seen[path]; taken || filepath.Dir(path) != "/scratch" || path == a.scratchFile("script") {
				t.Errorf("%+v and %+v write to %s", a, other, path)
			}
			seen[path] = a
		}
	}
}

func TestAnUnreadableOutputFileFails(t *testing.T) {
	if os.Getuid() == 0 {
		t.Skip("root reads every file")
	}
	a := newAttempt(t, sh(`echo a=1 > "$AX_OUTPUT"; chmod 000 "$AX_OUTPUT"`))
	if o := execute(a); !strings.Contains(o.OutputError, "cannot be read") {
		t.Errorf("outcome %+v", o)
	}
}
