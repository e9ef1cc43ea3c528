package executor

import (
	"bytes"
	"cmp"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"
)

// minMasked is the length from which a secret can be masked: shorter ones stand
// in too much ordinary text (DETAILS.md).
const minMasked = 4

// masked stands where a secret stood.
var masked = []byte("***")

// Mask takes secrets out of text: each value, each line of it, and their base64,
// URL-encoded and quoted forms. It does not change; nil masks nothing.
type Mask struct {
	patterns []pattern // the longest first
	first    [256]bool
}

// pattern is one form of a secret.
type pattern struct {
	text   []byte
	folded bool // it may be broken into lines, as base64 is by default
}

// foldedFrom is how much of a folded pattern stands before a break at least. With
// less, the end of many a line would be held back as a possible beginning.
const foldedFrom = 4

// in compares a text's beginning with the pattern. It gives the length of what
// matches, or 0, and whether more text could make it match.
func (p *pattern) in(text []byte) (n int, more bool) {
	for i := 0; i < len(p.text); n++ {
		switch {
		case n == len(text):
			return 0, true
		case text[n] == p.text[i]:
			i++
		case !p.folded || i < foldedFrom || text[n] != '\n' && text[n] != '\r':
			return 0, false
		}
	}
	return n, false
}

// NewMask gives a mask for some values; nil if there is nothing to mask. short
// tells whether a value is too short to be masked.
func NewMask(values []string) (m *Mask, short bool) {
	seen := map[string]bool{} // whether it is base64
	for _, v := range values {
		short = short || v != "" && len(v) < minMasked
		for _, line := range append(strings.FieldsFunc(v, func(r rune) bool { return r == '\n' || r == '\r' }), v) {
			if len(line) < minMasked {
				continue
			}
			for _, form := range base64Of(line) {
				if len(form) >= minMasked {
					seen[form] = true
				}
			}
			for _, form := range forms(line) {
				seen[form] = false
			}
		}
	}
	if len(seen) == 0 {
		return nil, short
	}
	m = &Mask{}
	for form, folded := range seen {
		m.patterns = append(m.patterns, pattern{[]byte(form), folded})
		m.first[form[0]] = true
	}
	slices.SortFunc(m.patterns, func(a, b pattern) int {
		return cmp.Or(len(b.text)-len(a.text), bytes.Compare(a.text, b.text))
	})
	return m, short
}

// kept are the characters that those who write URLs leave as they are, beside
// letters, digits and "-_.~": all but these are encoded, those of a path are not,
// as in Python, in encodeURIComponent and in encodeURI.
var kept = []string{"", "/", "*", "!'()*", "!'()*;,/?:@&=+$#"}

// percents are the encoded characters of a URL.
var percents = regexp.MustCompile("%[0-9A-F]{2}")

// forms gives the ways in which a value may be written: in a URL, and quoted, as in
// JSON and in ax's own messages.
func forms(v string) []string {
	fs := []string{v, url.PathEscape(v)}
	for _, keep := range kept {
		text := strings.ReplaceAll(url.QueryEscape(v), "+", "%20")
		for _, c := range keep {
			text = strings.ReplaceAll(text, fmt.Sprintf("%%%02X", c), string(c))
		}
		fs = append(fs, text, strings.ReplaceAll(text, "%20", "+"))
	}
	for _, text := range fs {
		fs = append(fs, percents.ReplaceAllStringFunc(text, strings.ToLower))
	}
	inJSON, _ := json.Marshal(v) // a string never fails
	plain := jsonOf(v)
	for _, quoted := range []string{strconv.Quote(v), string(inJSON), plain, ascii(plain)} {
		fs = append(fs, quoted[1:len(quoted)-1])
	}
	return fs
}

// jsonOf gives a text in JSON as most programs write it, with "<", ">" and "&" as
// they are.
func jsonOf(v string) string {
	var b strings.Builder
	out := json.NewEncoder(&b)
	out.SetEscapeHTML(false)
	_ = out.Encode(v) // a string never fails
	return strings.TrimSuffix(b.String(), "\n")
}

// ascii writes what is not ASCII in JSON with escapes.
func ascii(text string) string {
	var b strings.Builder
	for _, c := range utf16.Encode([]rune(text)) {
		if c < 0x80 {
			b.WriteByte(byte(c))
		} else {
			fmt.Fprintf(&b, "\\u%04x", c)
		}
	}
	return b.String()
}

// base64Of gives the base64 of a value inside of a longer text, which depends on
// where it begins: that of each of the three places, without the characters at its
// borders that its neighbours have a part in. Where it ends the text, its last
// character and the padding are its own.
func base64Of(v string) (fs []string) {
	for _, enc := range []*base64.Encoding{base64.StdEncoding, base64.URLEncoding} {
		for shift := range 3 {
			text := enc.EncodeToString(append(make([]byte, shift), v...))
			from := []int{0, 2, 3}[shift]
			to := (shift + len(v)) * 8 / 6
			if from < to {
				fs = append(fs, text[from:], strings.TrimRight(text[from:], "="), text[from:to])
			}
		}
	}
	return fs
}

// match gives the length of the secret that begins text, 0 if there is none, and
// whether more text could make it one.
func (m *Mask) match(text []byte) (n int, more bool) {
	for i := range m.patterns {
		if n, more := m.patterns[i].in(text); n > 0 || more {
			return n, more
		}
	}
	return 0, false
}

// take masks text into out. What could be the beginning of a secret is not taken
// unless all is there; it gives how much was.
func (m *Mask) take(out *bytes.Buffer, text []byte, all bool) int {
	for i := 0; i < len(text); {
		if !m.first[text[i]] {
			next := i + 1
			for next < len(text) && !m.first[text[next]] {
				next++
			}
			out.Write(text[i:next])
			i = next
			continue
		}
		n, more := m.match(text[i:])
		switch {
		case more && !all:
			return i
		case n > 0:
			out.Write(masked)
			i += n
		case more:
			i += m.rest(out, text[i:])
		default:
			out.WriteByte(text[i])
			i++
		}
	}
	return len(text)
}

// rest takes one step at the end of a text, where a longer secret may have begun
// but not ended: a shorter one counts.
func (m *Mask) rest(out *bytes.Buffer, text []byte) int {
	for i := range m.patterns {
		if n, _ := m.patterns[i].in(text); n > 0 {
			out.Write(masked)
			return n
		}
	}
	out.WriteByte(text[0])
	return 1
}

// Text masks a string.
func (m *Mask) Text(s string) string {
	if m == nil {
		return s
	}
	var out bytes.Buffer
	m.take(&out, []byte(s), true)
	return out.String()
}

// Writer masks what goes through it, also what is written in parts. Close writes
// what was held back.
func (m *Mask) Writer(w io.Writer) io.WriteCloser { return &maskWriter{m: m, w: w} }

type maskWriter struct {
	m    *Mask
	w    io.Writer
	held []byte
}

func (mw *maskWriter) Write(p []byte) (int, error) {
	mw.held = append(mw.held, p...)
	return len(p), mw.flush(false)
}

func (mw *maskWriter) Close() error { return mw.flush(true) }

func (mw *maskWriter) flush(all bool) error {
	var out bytes.Buffer
	n := mw.m.take(&out, mw.held, all)
	mw.held = append(mw.held[:0], mw.held[n:]...)
	if out.Len() == 0 {
		return nil
	}
	_, err := mw.w.Write(out.Bytes())
	return err
}
