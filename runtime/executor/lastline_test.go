package executor

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"pgregory.net/rapid"
)

func TestTheLastLineIsTheLastOneWithText(t *testing.T) {
	for name, c := range map[string]struct {
		text string
		from int64
		want string
	}{
		"no output":                          {"", 0, ""},
		"one line":                           {"one\n", 0, "one"},
		"the last of several":                {"one\ntwo\n", 0, "two"},
		"a line without an end":              {"one\ntwo", 0, "two"},
		"blank lines are passed over":        {"one\n \t\n\x00\n\r\n\n", 0, "one"},
		"blanks around it are cut":           {"  one \t\n", 0, "one"},
		"a tab is a blank":                   {"a\tb\n", 0, "a b"},
		"only what this attempt wrote":       {"before\nnow\n", 7, "now"},
		"nothing if this attempt wrote none": {"before\n", 7, ""},
		"a carriage return begins it anew":   {"10%\r50%\r100%\n", 0, "100%"},
		"colours are removed":                {"\x1b[1;31merror:\x1b[0m bad\x1b[K\n", 0, "error: bad"},
		"titles of windows are removed":      {"\x1b]0;title\x07a\x1b]2;t\x1b\\b\x1b(Bc\n", 0, "abc"},
		"other control characters too":       {"a\x00\x07\x7f\u0085b\u202ec\n", 0, "abc"},
		"what is no UTF-8 is replaced":       {"E-start \xff\xfe E-end\n", 0, "E-start \uFFFD E-end"},
		"two hundred characters are whole":   {strings.Repeat("é", 200) + "\n", 0, strings.Repeat("é", 200)},
		"more are cut":                       {strings.Repeat("é", 201) + "\n", 0, strings.Repeat("é", 199) + "…"},
		"of a huge line, its end":            {strings.Repeat("x", 1<<20) + "\n", 0, strings.Repeat("x", 199) + "…"},
		"not far above blank lines":          {"one\n" + strings.Repeat("\n", lastLineWindow), 0, ""},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "log")
			if err := os.WriteFile(path, []byte(c.text), 0o600); err != nil {
				t.Fatal(err)
			}
			if got := lastLine(path, c.from); got != c.want {
				t.Errorf("the last line is %q, want %q", got, c.want)
			}
		})
	}
}

func TestThereIsNoLastLineWithoutARegularFile(t *testing.T) {
	for _, path := range []string{filepath.Join(t.TempDir(), "none"), t.TempDir(), os.DevNull} {
		if got := lastLine(path, 0); got != "" {
			t.Errorf("the last line of %s is %q", path, got)
		}
	}
}

func TestTheLastLineCanAlwaysBeShown(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log")
	rapid.Check(t, func(t *rapid.T) {
		if err := os.WriteFile(path, rapid.SliceOf(rapid.Byte()).Draw(t, "log"), 0o600); err != nil {
			t.Fatal(err)
		}
		line := lastLine(path, 0)
		if !utf8.ValidString(line) || utf8.RuneCountInString(line) > lastLineLimit || strings.ContainsFunc(line, unicode.IsControl) {
			t.Errorf("the last line is %q", line)
		}
	})
}
