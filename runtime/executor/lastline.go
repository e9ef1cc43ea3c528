package executor

import (
	"io"
	"os"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// lastLineLimit is in characters.
const lastLineLimit = 200

// lastLineWindow is how much of the end of a log, in bytes, is searched for a line with text.
const lastLineWindow = 64 << 10

// escapes are the sequences with which programs colour a terminal and name its window (ECMA-48, CSI and OSC).
var escapes = regexp.MustCompile("\x1b(?:\\[[0-?]*[ -/]*[@-~]|\\][^\x07\x1b]*(?:\x07|\x1b\\\\)?|[ -/]*[0-~])")

// lastLine returns the last line with any text of what stands in the file from the offset on, as one can show it: without
// control characters and escape sequences, what is no UTF-8 replaced. A carriage return ends a line, as a terminal would
// show it. It is empty if there is none, or no file.
func lastLine(path string, from int64) string {
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() || info.Size() <= from {
		return ""
	}
	f, err := os.Open(path)
	if err != nil {
		return ""
	}
	defer f.Close()
	from = max(from, info.Size()-lastLineWindow)
	tail, err := io.ReadAll(io.NewSectionReader(f, from, info.Size()-from))
	if err != nil {
		return ""
	}
	rest := string(tail)
	for rest != "" {
		var line string
		if i := strings.LastIndexAny(rest, "\n\r"); i >= 0 {
			line, rest = rest[i+1:], rest[:i]
		} else {
			line, rest = rest, ""
		}
		if text := plain(line); text != "" {
			return cut(text, lastLineLimit)
		}
	}
	return ""
}

func plain(line string) string {
	line = escapes.ReplaceAllString(strings.ToValidUTF8(line, "\uFFFD"), "")
	return strings.TrimSpace(strings.Map(func(r rune) rune {
		switch {
		case r == '\t':
			return ' '
		case unicode.IsPrint(r):
			return r
		default:
			return -1
		}
	}, line))
}

// cut returns at most n characters of text, the last of them "…" if something is missing.
func cut(text string, n int) string {
	if utf8.RuneCountInString(text) <= n {
		return text
	}
	return string([]rune(text)[:n-1]) + "…"
}

// LastLine returns the last line that has any text of a log, shortened and freed of control characters as in
// Outcome.LastLine; empty if there is none.
func LastLine(path string) string { return lastLine(path, 0) }
