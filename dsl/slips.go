package dsl

import (
	"bytes"
	"fmt"
	"regexp"
	"strings"
	"unicode/utf8"
)

// explain finds the words for a problem by those of the YAML parser.
func (x *slip) explain() bool {
	for _, known := range []struct {
		problem string
		explain func(*slip) bool
	}{
		{"mapping values are not allowed", (*slip).unexpectedColon},
		{"could not find expected ':'", (*slip).missingColon},
		{"did not find expected key", (*slip).outOfPlace},
		{"did not find expected '-' indicator", (*slip).outOfPlace},
		{"did not find expected <document start>", (*slip).outOfPlace},
		{"did not find expected node content", (*slip).outOfPlace},
		{"cannot start any token", (*slip).badStart},
		{"expected alphabetic or numeric", (*slip).badName},
		{"unknown anchor", (*slip).unknownAnchor},
		{"expected comment or line break", (*slip).behindHeader},
		{"exceeded max depth", (*slip).tooDeep},
		{"incompatible YAML document", (*slip).badDirective},
		{"unknown directive", (*slip).badDirective},
		{"directive name", (*slip).badDirective},
	} {
		if strings.Contains(x.problem, known.problem) {
			return known.explain(x)
		}
	}
	return x.say(x.at, 0, x.problem, "")
}

// unexpectedColon: a colon ended a plain scalar that cannot be a key.
func (x *slip) unexpectedColon() bool {
	t, text := x.before, x.src.Text
	if t.kind == plainToken && lineStart(text, t.start) < lineStart(text, x.at) {
		if t.first {
			return x.noKey(t.start)
		}
		hint := "the line above it is a value; keys of one map begin in one column"
		if key, _ := x.indent(t.start); bytes.HasPrefix(text[key:], []byte("run: ")) {
			hint = blockHint
		}
		begin, _ := x.indent(x.at)
		return x.say(begin, x.at, "this line is indented too deeply for a key", hint)
	}
	return x.say(x.at, 0, `": " inside of a text without quotes`, "put the whole text into quotes")
}

// missingColon: a line that should have been a key has no colon.
func (x *slip) missingColon() bool {
	return x.noKey(x.began)
}

// noKey explains a line that begins like a key but is none.
func (x *slip) noKey(at int) bool {
	line := x.src.Text[at:lineEnd(x.src.Text, at)]
	word := line
	if i := bytes.IndexAny(line, " \t"); i > 0 {
		word = line[:i]
	}
	switch i := bytes.IndexByte(word, ':'); {
	case x.blockBefore(at):
		return x.say(at, at+len(bytes.TrimRight(line, " \t")), "this line ends the block of text above it, but is no key",
			"indent it like the lines of the block, or add the colon")
	case bytes.HasPrefix(word, []byte("-")):
		return x.say(at, at+len(word), "no blank after the dash", `an item of a list begins with "- "`)
	case i > 0 && i < len(word)-1 && isOddBlank(firstRune(word[i+1:])):
		return x.say(at+i+1, 0, "what follows the colon looks like a blank, but is none", oddBlankHint)
	case i > 0 && i < len(word)-1:
		return x.say(at, at+len(word), "no blank after the colon", fmt.Sprintf("write %q", clip(string(word[:i+1])+" "+string(line[i+1:]), 40)))
	}
	return x.say(at, at+len(bytes.TrimRight(line, " \t")), "no colon after the key", fmt.Sprintf("write %q", clip(string(word)+":", 40)))
}

func firstRune(text []byte) rune {
	r, _ := utf8.DecodeRune(text)
	return r
}

// outOfPlace: something stands where a key or an item should.
func (x *slip) outOfPlace() bool {
	text := x.src.Text
	if x.at >= len(text) {
		return x.say(x.at, 0, "the file ends too early", "")
	}
	begin, column := x.indent(x.at)
	switch c := text[x.at]; {
	case begin >= lineEnd(text, x.at) && x.before.kind == plainToken && x.before.first:
		return x.noKey(x.before.start)
	case c == ']' || c == '}':
		return x.say(x.at, 0, x.char(x.at)+" closes nothing", "remove it, or put the text into quotes")
	case begin < x.at && (x.before.kind == singleQuote || x.before.kind == doubleQuote):
		return x.say(x.at, 0, "text behind the closing quote", "put the whole text into quotes; within them, write a quote twice in '…', and as \\\" in \"…\"")
	case begin < x.at:
		return x.say(x.at, 0, "unexpected "+x.char(x.at), "put a text that begins with it into quotes")
	case x.misplaced():
		return true
	case c == '-' && isBlank(text[min(x.at+1, len(text)-1)]):
		return x.say(x.at, 0, "an item of a list among the keys of a map", "indent it like the other items, or move it into a list")
	}
	end := lineEnd(text, x.at)
	return x.say(x.at, end, "wrong indentation: "+x.columns(column), "keys of one map begin in one column, with blanks only")
}

// columns compares the indentation of a line with that of the lines above.
func (x *slip) columns(column int) string {
	deeper, above := -1, -1
	for at := lineStart(x.src.Text, x.at); at > 0 && above < 0; {
		at = lineBefore(x.src.Text, at)
		begin, c := x.indent(at)
		switch {
		case begin >= lineEnd(x.src.Text, at) || x.src.Text[begin] == '#':
		case c > column:
			if deeper < 0 || c < deeper {
				deeper = c
			}
		default:
			above = c
		}
	}
	switch {
	case deeper < 0:
		return blanks(column)
	case above < 0, above == column:
		return fmt.Sprintf("%s, the lines above have %d", blanks(column), deeper)
	}
	return fmt.Sprintf("%s, the lines above have %d or %d", blanks(column), deeper, above)
}

func (x *slip) badStart() bool {
	if x.at >= len(x.src.Text) {
		return x.say(x.at, 0, x.problem, "")
	}
	return x.say(x.at, 0, x.char(x.at)+" cannot begin a text without quotes", "put the text into quotes")
}

func (x *slip) badName() bool {
	what := "an alias"
	if x.began < len(x.src.Text) && x.src.Text[x.began] == '&' {
		what = "an anchor"
	}
	hint := "put the text into quotes if it is not one"
	if line := x.quoted(x.began); line != "" {
		hint = "put the text into quotes: " + line
	}
	return x.say(x.began, 0, x.char(x.began)+" begins "+what+", which needs a name", hint)
}

func (x *slip) unknownAnchor() bool {
	t, _ := x.src.tokenAt(x.at)
	name := strings.TrimPrefix(string(x.src.Text[x.at:max(t.end, x.at)]), "*")
	hint := fmt.Sprintf("mark a value above with &%s, or put the text into quotes if it is no alias", clip(name, 40))
	if line := x.quoted(x.at); line != "" && wordOf(name) == "" {
		hint = "put the text into quotes: " + line
	}
	return x.say(x.at, t.end, fmt.Sprintf("unknown anchor %q", clip(name, 40)), hint)
}

// fiveFields is a cron expression that begins with a star.
var fiveFields = regexp.MustCompile(`^\*(/\d+)?( +[-*/,?#A-Za-z0-9]+){4}$`)

// quoted gives the line that begins a value at a place as it should stand, if the
// value is a cron expression; else nothing.
func (x *slip) quoted(at int) string {
	if at >= len(x.src.Text) || x.src.Text[at] != '*' {
		return ""
	}
	text := x.src.Text
	from := bytes.LastIndexByte(text[:at], '\n') + 1
	value, _, _ := bytes.Cut(text[at:], []byte("\n"))
	value, _, _ = bytes.Cut(value, []byte(" #"))
	if value = bytes.TrimSpace(value); !fiveFields.Match(value) {
		return ""
	}
	return string(bytes.TrimLeft(text[from:at], " ")) + quote(string(value))
}

func (x *slip) behindHeader() bool {
	return x.say(x.at, 0, "text behind "+x.char(x.began), "the text of a block begins on the next line")
}

func (x *slip) tooDeep() bool {
	return x.say(x.at, 0, "nested too deeply", "")
}

func (x *slip) badDirective() bool {
	begin, _ := x.indent(x.at)
	return x.say(begin, lineEnd(x.src.Text, begin), "unknown directive or version of YAML", "remove the line; YAML 1.2 is understood without")
}

// clip shortens a text for a message.
func clip(text string, letters int) string {
	n := 0
	for i := range text {
		if n == letters {
			return text[:i] + "…"
		}
		n++
	}
	return text
}
