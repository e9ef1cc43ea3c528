package server

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestALogIsReadByPartsAndFollowedToItsEnd(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("DIR", dir)
	c := newClient(t, flows(t, "name: flow\ntasks:\n  a:\n    run: |\n      echo begun\n      until test -e \"$DIR/go\"; do sleep 0.02; done\n      echo done\n"))
	id := c.started("flow", "{}")
	path := "/api/v1/runs/" + id + "/tasks/a/log"
	for { // until it has begun
		if code, _, text := c.do("GET", path, ""); code == 200 && text == "begun\n" {
			break
		}
	}
	followed := make(chan string)
	go func() {
		_, _, text := c.do("GET", path+"?follow=true&offset=3", "")
		followed <- text
	}()
	if err := os.WriteFile(filepath.Join(dir, "go"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if text := <-followed; text != "un\ndone\n" {
		t.Errorf("who followed got %q", text)
	}
	for _, r := range []struct {
		code        int
		query, want string
		ask         string
	}{
		{206, "", "gun", "bytes=2-4"}, {206, "", "ne\n", "bytes=-3"}, {416, "", "", "bytes=99-"},
		{200, "?offset=-5", "done\n", ""}, {200, "?offset=99", "", ""}, {200, "?attempt=1", "begun\ndone\n", ""},
		{404, "?attempt=2", "", ""}, {422, "?attempt=-1", "", ""},
	} {
		var headers []string
		if r.ask != "" {
			headers = append(headers, "Range: "+r.ask)
		}
		code, kind, text := c.do("GET", path+r.query, "", headers...)
		if code != r.code || code < 400 && (text != r.want || kind != "text/plain; charset=utf-8") {
			t.Errorf("%s %s answered %d %q %q, want %d %q", r.query, r.ask, code, kind, text, r.code, r.want)
		}
	}
	if code, _, _ := c.do("GET", "/api/v1/runs/"+id+"/tasks/a[0]/log", ""); code != 404 {
		t.Error("an instance that is not there has a log")
	}
}

// logOfLines writes a log and opens it with its index.
func logOfLines(t interface {
	Helper()
	Fatal(...any)
}, x *lineIndexes, path, text string) *logLines {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	l, err := x.openLines(path)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func TestLinesAreFoundByTheirNumbers(t *testing.T) {
	dir := t.TempDir()
	rapid.Check(t, func(rt *rapid.T) {
		var x lineIndexes // a new one: it may take a log to have only grown
		path := filepath.Join(dir, "log")
		// Lines around the size of a step of the index, so that they lie across it.
		lengths := rapid.SliceOfN(rapid.SampledFrom([]int{0, 1, 80, 4000, 70_000, indexStep - 1, indexStep}), 0, 7).Draw(rt, "lengths")
		var lines []string
		for i, n := range lengths {
			lines = append(lines, fmt.Sprintf("%d:%s", i+1, strings.Repeat("x", n)))
		}
		text := strings.Join(lines, "\n")
		if len(lines) > 0 && rapid.Bool().Draw(rt, "ended") {
			text += "\n"
		}
		half := rapid.IntRange(0, len(text)).Draw(rt, "written first")
		logOfLines(rt, &x, path, text[:half]).f.Close()
		l := logOfLines(rt, &x, path, text)
		defer l.f.Close()
		if l.total != len(lines) {
			rt.Fatalf("%d lines are counted, there are %d", l.total, len(lines))
		}
		from := rapid.IntRange(1, len(lines)+1).Draw(rt, "from")
		for i, got := range l.window(from, 5) {
			want := lines[from-1+i]
			if got.Number != from+i || got.Cut != (len(want) > lineMost) || string(got.Text) != want[:min(len(want), lineMost)] {
				rt.Fatalf("line %d is number %d, cut %v, %d bytes: %.20q", from+i, got.Number, got.Cut, len(got.Text), got.Text)
			}
		}
		for i, got := range l.last(3) {
			if want := max(1, len(lines)-2) + i; got.Number != want {
				rt.Fatalf("the last lines begin with %d, want %d", got.Number, want)
			}
		}
		if len(lines) > 0 {
			found, next := l.search(t.Context(), fmt.Sprintf("%d:", from), from)
			if from <= len(lines) && (len(found) != 1 || found[0].Number != from || next != 0) {
				rt.Fatalf("the search for line %d found %d", from, len(found))
			}
		}
	})
}

func TestAWindowOfALargeLogIsSmall(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log")
	line := strings.Repeat("y", 999) + "\n"
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	for range 100 { // 100 MB; the index is what lets it be larger
		if _, err := f.WriteString(strings.Repeat(line, 1000)); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := f.WriteString("needle"); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	var x lineIndexes
	l, err := x.openLines(path)
	if err != nil {
		t.Fatal(err)
	}
	defer l.f.Close()
	all := l.last(logRows)
	size := 0
	for _, got := range all {
		size += len(got.Text)
	}
	if n := len(all); l.total != 100_001 || all[n-1].Number != 100_001 || string(all[n-1].Text) != "needle" || size > windowMost {
		t.Errorf("%d lines, the window has %d with %d bytes", l.total, n, size)
	}
	if found, _ := l.search(t.Context(), "NEEDLE", 1); len(found) != 1 || found[0].Number != 100_001 {
		t.Errorf("found %v", found)
	}
}

func TestColoursAreShownAndNothingElseOfATerminal(t *testing.T) {
	for _, c := range []struct{ text, want, plain string }{
		{"plain", "plain", "plain"},
		{"\x1b[31mred\x1b[0m not", `<span class="f1">red</span> not`, "red not"},
		{"\x1b[1;32mgood", `<span class="f2 bold">good</span>`, "good"},
		{"\x1b[38;5;196mx\x1b[39my", `<span class="f9">x</span>y`, "xy"},
		{"\x1b[48;2;0;0;200mx\x1b[m", `<span class="b4">x</span>`, "x"},
		{"\x1b[7mx\x1b[27my", `<span class="inv">x</span>y`, "xy"},
		{"\x1b[31m\x1b[0m", "", ""},
		{"<script>alert(1)</script> & \"'", "&lt;script&gt;alert(1)&lt;/script&gt; &amp; &#34;&#39;", "<script>alert(1)</script> & \"'"},
		{"\x1b]8;;javascript:alert(1)\x07link\x1b]8;;\x07", "link", "link"},
		{"\x1b]0;title\x1b\\x", "x", "x"},
		{"10%\r50%\r100%\r", "100%", "100%"},
		{"\x1b[2J\x1b[1;1Hx\x1b[?25l", "x", "x"},
		{"a\x07b\x08c\td", "abc\td", "abc\td"},
		{"a\u202eb", "a&lt;U+202E&gt;b", "a<U+202E>b"},
		{"bad \xff", "bad \ufffd", "bad \ufffd"},
		{"cut \x1b[3", "cut ", "cut "},
		{"cut \x1b", "cut ", "cut "},
		{"\x1b[99999999999999999999mx", "x", "x"},
	} {
		if got := string(new(terminal).line([]byte(c.text))); got != c.want {
			t.Errorf("%q is shown as %q, want %q", c.text, got, c.want)
		}
		if got := plain([]byte(c.text)); got != c.plain {
			t.Errorf("the text of %q is %q, want %q", c.text, got, c.plain)
		}
	}
}

func TestAnyBytesOfALogAreOnlyTextAndSpans(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		piece := rapid.OneOf(rapid.SampledFrom([]string{"\x1b[", "31", ";", "m", "38;5;", "<b>", "&", "\x1b]", "\x07", "\""}), rapid.StringN(0, 3, 8))
		text := strings.Join(rapid.SliceOfN(piece, 0, 20).Draw(rt, "pieces"), "")
		rest := string(new(terminal).line([]byte(text)))
		for {
			before, after, ok := strings.Cut(rest, `<span class="`)
			if strings.ContainsAny(before, `<>"`) {
				rt.Fatalf("%q is shown with %q", text, before)
			}
			if !ok {
				return
			}
			class, inner, _ := strings.Cut(after, `">`)
			if strings.Trim(class, "abcdefghijklmnopqrstuvwxyz0123456789 ") != "" {
				rt.Fatalf("%q has the class %q", text, class)
			}
			var closed bool
			if before, rest, closed = strings.Cut(inner, "</span>"); !closed || strings.ContainsAny(before, `<>"`) {
				rt.Fatalf("%q is shown with %q", text, inner)
			}
		}
	})
}

func TestWhatChangedBetweenTwoTextsIsShown(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		lines := rapid.SliceOfN(rapid.SampledFrom([]string{"a", "b", "c", ""}), 0, 12)
		old, now := lines.Draw(rt, "old"), lines.Draw(rt, "now")
		var was, is []string
		for _, l := range difference(old, now) {
			if l.Sign != "+" {
				was = append(was, l.Text)
			}
			if l.Sign != "−" {
				is = append(is, l.Text)
				if l.Number != len(is) {
					rt.Fatalf("line %d has the number %d", len(is), l.Number)
				}
			}
		}
		if strings.Join(was, "\n") != strings.Join(old, "\n") || len(was) != len(old) || strings.Join(is, "\n") != strings.Join(now, "\n") || len(is) != len(now) {
			rt.Fatalf("the lines that went and stayed are %q, those that came and stayed %q", was, is)
		}
	})
}
