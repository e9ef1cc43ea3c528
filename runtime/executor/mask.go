package executor

import (
	"bytes"
	"encoding/base64"
	"io"
	"net/url"
	"slices"
	"strings"
)

// minMasked is the length from which a secret can be masked: shorter ones stand
// in too much ordinary text (DETAILS.md).
const minMasked = 4

// masked stands where a secret stood.
var masked = []byte("***")

// Mask takes secrets out of text: each value, each line of it, and their base64
// and URL-encoded forms. It does not change; nil masks nothing.
type Mask struct {
	patterns [][]byte // the longest first
	first    [256]bool
}

// NewMask gives a mask for some values; nil if there is nothing to mask. short
// tells whether a value is too short to be masked.
func NewMask(values []string) (m *Mask, short bool) {
	seen := map[string]bool{}
	for _, v := range values {
		short = short || v != "" && len(v) < minMasked
		for _, line := range append(strings.FieldsFunc(v, func(r rune) bool { return r == '\n' || r == '\r' }), v) {
			if len(line) < minMasked {
				continue
			}
			for _, form := range forms(line) {
				if len(form) >= minMasked {
					seen[form] = true
				}
			}
		}
	}
	if len(seen) == 0 {
		return nil, short
	}
	m = &Mask{}
	for form := range seen {
		m.patterns = append(m.patterns, []byte(form))
		m.first[form[0]] = true
	}
	slices.SortFunc(m.patterns, func(a, b []byte) int {
		if len(a) != len(b) {
			return len(b) - len(a)
		}
		return bytes.Compare(a, b)
	})
	return m, short
}

// forms gives the ways in which a value may be written. The base64 of a value
// inside a longer text depends on where it begins, so that of each of the three
// places is there, without the characters at its borders that its neighbours
// have a part in.
func forms(v string) []string {
	fs := []string{v, url.QueryEscape(v), url.PathEscape(v)}
	for _, enc := range []*base64.Encoding{base64.RawStdEncoding, base64.RawURLEncoding} {
		for shift := range 3 {
			text := enc.EncodeToString(append(make([]byte, shift), v...))
			from := []int{0, 2, 3}[shift]
			to := (shift + len(v)) * 8 / 6
			if from < to {
				fs = append(fs, text[from:to])
			}
		}
	}
	return fs
}

// match gives the length of the secret that begins text, 0 if there is none, and
// whether more text could make it one.
func (m *Mask) match(text []byte) (n int, more bool) {
	for _, p := range m.patterns {
		if bytes.HasPrefix(text, p) {
			return len(p), false
		}
		if len(text) < len(p) && bytes.HasPrefix(p, text) {
			return 0, true
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
	for _, p := range m.patterns {
		if bytes.HasPrefix(text, p) {
			out.Write(masked)
			return len(p)
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
