package dsl

import (
	"encoding/json"
	"strings"
	"sync"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

func TestLinesEndAtEveryKindOfLineEnd(t *testing.T) {
	src := NewSource("f", []byte("\ufeffone\r\ntwö\rthree\n\nfive\u2028\u0085still five"))
	for n, want := range []string{"", "one", "twö", "three", "", "five\u2028\u0085still five", ""} {
		if got := src.Line(n); got != want {
			t.Errorf("line %d is %q, want %q", n, got, want)
		}
	}
	if got := src.Offset(Pos{1, 1}); got != 3 {
		t.Errorf("the first line begins at offset %d, behind the byte-order mark it is 3", got)
	}
	if got := src.Pos(len(src.Text)); got != (Pos{5, 17}) {
		t.Errorf("the text ends at %v", got)
	}
	if got := src.Offset(Pos{2, 99}); string(src.Text[got:got+2]) != "\rt" {
		t.Errorf("a column behind the end of line 2 is at offset %d", got)
	}
}

// slowPos counts from the beginning of the text.
func slowPos(text string, offset int) Pos {
	text = strings.NewReplacer("\r\n", "\x00\n", "\r", "\n").Replace(text)
	before := text[:offset]
	line := before[strings.LastIndexByte(before, '\n')+1:]
	return Pos{int32(strings.Count(before, "\n") + 1), int32(utf8.RuneCountInString(line) + 1)}
}

func TestOffsetsAndPlacesAreEachOthersInverse(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		pieces := rapid.SliceOfN(rapid.SampledFrom([]string{
			"a", "é", "漢", "😀", "\n", "\r\n", "\r", "x\n\n", strings.Repeat("long ", 300), strings.Repeat("ü", 700),
		}), 0, 30).Draw(t, "text")
		text := strings.Join(pieces, "")
		src := NewSource("f", []byte(text))
		for offset := range text + "\n" {
			if offset < len(text) && offset > 0 && text[offset] == '\n' && text[offset-1] == '\r' {
				continue
			}
			if len(text) > 200 && offset%29 != 0 {
				continue
			}
			p := src.Pos(offset)
			if want := slowPos(text, offset); p != want {
				t.Fatalf("offset %d is at %v, want %v", offset, p, want)
			}
			if back := src.Offset(p); back != offset {
				t.Fatalf("offset %d is at %v, which is offset %d", offset, p, back)
			}
		}
	})
}

func TestASourceMayBeUsedByManyAtOnce(t *testing.T) {
	src := NewSource("f", []byte(strings.Repeat("a: [b, c]\n", 1000)))
	var all sync.WaitGroup
	for i := range int32(8) {
		all.Go(func() {
			if got := src.Span(Pos{100 + i, 4}); got != (Pos{100 + i, 10}) {
				t.Errorf("line %d: the span ends at %v", 100+i, got)
			}
		})
	}
	all.Wait()
}

func TestTheHashIsThatOfTheBytes(t *testing.T) {
	const want = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
	if got := NewSource("f", []byte("abc")).Hash(); got != want {
		t.Errorf("hash is %s, want %s", got, want)
	}
}

func TestDiagnosticsAsJSON(t *testing.T) {
	src := NewSource("a/ü.yaml", []byte("größe: <b>\n"))
	for _, c := range []struct {
		name string
		d    Diagnostic
		want string
	}{
		{"at a place", src.Diagnostic("unknown-key", Warning, Pos{1, 1}, `unknown key "größe"`, "did you mean it?"),
			`{"file":"a/ü.yaml","line":1,"column":1,"end_line":1,"end_column":6,"severity":"warning","rule":"unknown-key",` +
				`"message":"unknown key \"größe\"","hint":"did you mean it?"}`},
		{"about the file", src.Diagnostic("missing-file", Info, Pos{}, "gone", ""),
			`{"file":"a/ü.yaml","line":0,"column":0,"end_line":0,"end_column":0,"severity":"info","rule":"missing-file","message":"gone","hint":""}`},
		{"invalid UTF-8", Diagnostic{File: "a\xff", Message: "\xfe"},
			`{"file":"a\ufffd","line":0,"column":0,"end_line":0,"end_column":0,"severity":"error","rule":"","message":"\ufffd","hint":""}`},
		{"inside of a scalar", src.DiagnosticInScalar("bad-cron", Error, Pos{1, 8}, 1, 1, "m", "h"),
			`{"file":"a/ü.yaml","line":1,"column":9,"end_line":1,"end_column":10,"severity":"error","rule":"bad-cron","message":"m","hint":"h"}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := json.Marshal(c.d)
			if err != nil || string(got) != c.want {
				t.Errorf("got  %s %v\nwant %s", got, err, c.want)
			}
		})
	}
}

func TestDiagnosticsAreSortedByFileThenPlace(t *testing.T) {
	ds := Diagnostics{
		{File: "b", Pos: Pos{1, 1}, Rule: "4"}, {File: "a", Pos: Pos{2, 1}, Rule: "2"}, {File: "a", Pos: Pos{2, 1}, Rule: "3"},
		{File: "a", Pos: Pos{1, 9}, Rule: "1"}, {File: "a", Severity: Info, Rule: "0"},
	}
	ds.Sort()
	for i, d := range ds {
		if d.Rule != string(rune('0'+i)) {
			t.Errorf("place %d has %v", i, d)
		}
	}
	if !ds.Errors() {
		t.Error("there are errors among them")
	}
	if (Diagnostics{{Severity: Warning}, {Severity: Info}}).Errors() {
		t.Error("a warning is no error")
	}
}
