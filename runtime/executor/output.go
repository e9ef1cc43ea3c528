package executor

import (
	"fmt"
	"io"
	"os"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	"golang.org/x/sys/unix"
)

// outputLimit is the most that the outputs of an attempt may have, in bytes.
const outputLimit = 1 << 20

// warningLimit is how many warnings of one kind an attempt keeps.
const warningLimit = 10

const outputTooLarge = "outputs have more than 1 MiB: write large results to a file in AX_ARTIFACTS and put its name into AX_OUTPUT"

// outputKey is an identifier of the language without its limit of 64 characters.
var outputKey = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_-]*$`)

// readOutputs takes the AX_OUTPUT file, if the task made one, and removes it.
func (a *Attempt) readOutputs(o *Outcome) {
	path := a.outputPath()
	text, err := readRegular(path, outputLimit+1)
	if os.IsNotExist(err) {
		return
	}
	_ = os.RemoveAll(path) // a task may have made a folder of it
	switch {
	case err != nil:
		o.OutputError = fmt.Sprintf("AX_OUTPUT cannot be read: %v", err)
	case len(text) > outputLimit:
		o.OutputError = outputTooLarge
	default:
		var w warnings
		o.Outputs = parseOutputs(text, &w)
		o.Warnings = append(o.Warnings, w.list()...)
	}
}

// readRegular returns at most limit bytes of a file. A task can put anything in its place: a link would let it show what
// only the engine may read, a pipe would never end.
func readRegular(path string, limit int64) (string, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0)
	if err != nil {
		return "", err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return "", err
	}
	if !info.Mode().IsRegular() {
		return "", fmt.Errorf("it is no longer a file but %s", info.Mode())
	}
	var b strings.Builder
	_, err = io.Copy(&b, io.LimitReader(f, limit))
	return b.String(), err
}

// warnings keeps the first few and counts the rest, so that a flood of bad lines stays small.
type warnings struct {
	first []string
	more  int
}

func (w *warnings) add(format string, args ...any) {
	if len(w.first) == warningLimit {
		w.more++
		return
	}
	w.first = append(w.first, fmt.Sprintf(format, args...))
}

func (w *warnings) list() []string {
	if w.more == 0 {
		return w.first
	}
	return append(w.first, fmt.Sprintf("and %d more like these", w.more))
}

// parseOutputs reads lines "key=value", and values of several lines between "key<<WORD" and a line that is WORD. Of a
// key given twice the last one holds. A carriage return before the end of a line belongs to the end; in a value of
// several lines it does so only where the line with WORD has one, so that any value can be written byte for byte. What
// cannot be taken is left out or replaced, with a warning.
func parseOutputs(text string, w *warnings) map[string]string {
	var out map[string]string
	for number := 1; text != ""; number++ {
		var line string
		line, text, _ = strings.Cut(text, "\n")
		line, returned := strings.CutSuffix(line, "\r")
		if line == "" {
			continue
		}
		at := strings.IndexByte(line, '=')
		word := strings.Index(line, "<<")
		key, value := line, ""
		from := number
		switch {
		case word >= 0 && (at < 0 || word < at):
			var ok bool
			var lines int
			key = line[:word]
			if line[word+2:] == "" {
				w.add("AX_OUTPUT line %d: the value of %s has no closing word behind %q: it and what follows are left out",
					from, quoted(key), "<<")
				return out
			}
			value, lines, ok = cutBlock(&text, line[word+2:], returned)
			number += lines
			if !ok {
				w.add("AX_OUTPUT line %d: the value of %s has no closing line %s: it and what follows are left out",
					from, quoted(key), quoted(line[word+2:]))
				return out
			}
		case at >= 0:
			key, value = line[:at], line[at+1:]
		default:
			w.add("AX_OUTPUT line %d: %s has no %q: left out", from, quoted(line), "=")
			continue
		}
		if out == nil {
			out = make(map[string]string)
		}
		putOutput(out, key, value, fmt.Sprintf("AX_OUTPUT line %d", from), w)
	}
	return out
}

// cutBlock takes the lines before the one that is word, and that one, from text; returned tells that they end with
// carriage returns too. It fails if there is none.
func cutBlock(text *string, word string, returned bool) (value string, lines int, ok bool) {
	rest := *text
	for rest != "" {
		line, after, _ := strings.Cut(rest, "\n")
		lines++
		if line == word || returned && line == word+"\r" {
			value = (*text)[:len(*text)-len(rest)]
			if returned {
				value = strings.ReplaceAll(value, "\r\n", "\n")
			}
			value = strings.TrimSuffix(value, "\n")
			*text = after
			return value, lines, true
		}
		rest = after
	}
	return "", 0, false
}

// putOutput checks one output, whoever made it; place is where it was found.
func putOutput(out map[string]string, key, value, place string, w *warnings) {
	if !outputKey.MatchString(key) {
		w.add("%s: %s is no name of letters, digits, %q and %q that begins with a letter or %q: left out",
			place, quoted(key), "_", "-", "_")
		return
	}
	if strings.Contains(value, "\x00") || !utf8.ValidString(value) {
		w.add("%s: the value of %s has zero bytes or is not UTF-8: these bytes are replaced", place, quoted(key))
		value = strings.ReplaceAll(strings.ToValidUTF8(value, "\uFFFD"), "\x00", "\uFFFD")
	}
	out[key] = value
}

func quoted(s string) string { return strconv.Quote(cut(s, 40)) }
