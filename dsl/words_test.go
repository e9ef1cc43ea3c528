package dsl

import (
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"pgregory.net/rapid"
)

func TestNearest(t *testing.T) {
	known := []string{"run", "extract", "clean_up", "report", "Load", "größe", "b"}
	for _, c := range []struct{ name, word, want string }{
		{"a letter too many", "runn", "run"},
		{"letters exchanged", "exrtact", "extract"},
		{"another case", "Extract", "extract"},
		{"another case than the known one", "load", "Load"},
		{"blanks around", " extract ", "extract"},
		{"a dash for a line", "clean-up", "clean_up"},
		{"written together", "cleanUp", "clean_up"},
		{"a letter of two bytes", "grösse", "größe"},
		{"the beginning", "rep", "report"},
		{"too far", "download", ""},
		{"short words are far from each other", "a", ""},
		{"nothing", "", ""},
		{"no beginning of two", "e", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := Nearest(c.word, known); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
	if got := Nearest("abcx", []string{"abcd", "abce"}); got != "abcd" {
		t.Errorf("of equally near ones the first wins, got %q", got)
	}
	if got := Nearest("abcdefg", []string{"abxxefg", "abcdexg"}); got != "abcdexg" {
		t.Errorf("the nearer one wins, got %q", got)
	}
	if got := Nearest(strings.Repeat("x", 1<<20), known); got != "" {
		t.Errorf("a word of a million letters is near nothing, got %q", got)
	}
}

// slowDistance is the definition, by recursion over the last letters.
func slowDistance(a, b []rune) int {
	switch {
	case len(a) == 0 || len(b) == 0:
		return len(a) + len(b)
	case a[len(a)-1] == b[len(b)-1]:
		return slowDistance(a[:len(a)-1], b[:len(b)-1])
	}
	n := 1 + min(slowDistance(a[:len(a)-1], b), slowDistance(a, b[:len(b)-1]), slowDistance(a[:len(a)-1], b[:len(b)-1]))
	if len(a) > 1 && len(b) > 1 && a[len(a)-1] == b[len(b)-2] && a[len(a)-2] == b[len(b)-1] {
		n = min(n, 1+slowDistance(a[:len(a)-2], b[:len(b)-2]))
	}
	return n
}

func TestDistanceIsThatOfTheDefinition(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		word := rapid.StringOfN(rapid.SampledFrom([]rune("abcdé")), 0, 6, -1)
		a, b := []rune(word.Draw(t, "a")), []rune(word.Draw(t, "b"))
		want := slowDistance(a, b)
		var d distance
		d.between([]rune("abcdefgh"), []rune("xyz"), 9) // what was there before does not matter
		for limit := range 5 {
			got := d.between(a, b, limit)
			if got != want && (got <= limit || want <= limit) {
				t.Fatalf("distance of %q and %q is %d, got %d with limit %d", string(a), string(b), want, got, limit)
			}
		}
	})
}

func TestParseDuration(t *testing.T) {
	for text, want := range map[string]time.Duration{
		"500ms": 500 * time.Millisecond, "10s": 10 * time.Second, "5m": 5 * time.Minute, "1h30m": 90 * time.Minute, "2d": 48 * time.Hour,
		"90": 90 * time.Second, "0": 0, "0.5": 500 * time.Millisecond, "1.5h": 90 * time.Minute, "010s": 10 * time.Second, "1d12h": 36 * time.Hour,
		"1s500ms": 1500 * time.Millisecond, "36500d": MaxDuration, "0.1s": 100 * time.Millisecond, "1m0s": time.Minute,
	} {
		if got, err := ParseDuration(text); err != nil || got != want {
			t.Errorf("%q is %v (%v), want %v", text, got, err, want)
		}
	}
	for text, says := range map[string]string{
		"": "empty", "-3s": "negative", "abc": "no number", "1m30": "no unit", "1:30": "no number", "inf": "no number", ".nan": "no number",
		"99999999999h": "longest", "9999999999999999999999s": "longest", strings.Repeat("9", 1000): "longest", "1.5.2s": "no number",
		"10sec": `unknown unit "sec"`, "s": "no number", "h5": "no number", "5 minutes": `unknown unit "minutes"`, "1s1s": "too late", "1s1h": "too late",
		"5M": `unknown unit "M"`, ".5s": "no number", "5.s": "no number", "+5s": "no number", "1_000s": "no number", "1e3s": `unknown unit "e"`, "5s ": `there is a blank in it`,
		"٣s": "no number", "36501d": "longest", "1µs": "unknown unit", "0x10": "unknown unit",
	} {
		if got, err := ParseDuration(text); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%q is %v (%v), want %q", text, got, err, says)
		}
	}
}

func TestDurationsThatWereMeant(t *testing.T) {
	for text, want := range map[string]string{
		"5 minutes": `did you mean "5m"?`, "10sec": `did you mean "10s"?`, "1 hour 30 min": `did you mean "1h30m"?`, "5M": `did you mean "5m"?`,
		"2 Days": `did you mean "2d"?`, "100 msec": `did you mean "100ms"?`, "soon": durationRule,
	} {
		if got := durationHint(text); got != want {
			t.Errorf("%q: %s, want %s", text, got, want)
		}
	}
}

func TestParseDate(t *testing.T) {
	if d, err := ParseDate("2028-02-29"); err != nil || d != (Date{2028, time.February, 29}) || d.String() != "2028-02-29" {
		t.Errorf("got %v, %v", d, err)
	}
	for _, text := range []string{"", "2026-02-29", "2026-1-1", "2026-01-01 ", "01.01.2026", "2026-01-01T00:00:00Z"} {
		if d, err := ParseDate(text); err == nil {
			t.Errorf("%q is %v", text, d)
		}
	}
}

func TestExpressions(t *testing.T) {
	for _, c := range []struct {
		name, text string
		want       []string
		unclosed   int
	}{
		{"none", "echo $HOME ${A} {{ b }}", nil, -1},
		{"one", "a ${{ params.x }} b", []string{" params.x "}, -1},
		{"two that touch", "${{a}}${{b}}", []string{"a", "b"}, -1},
		{"an end in a literal", `${{ "}}" + '}}' + ` + "`}}`" + ` }}`, []string{` "}}" + '}}' + ` + "`}}` "}, -1},
		{"a quote in a literal", `${{ "a\"}}" }}`, []string{` "a\"}}" `}, -1},
		{"braces", "${{ {a: {b: 1}} }}", []string{" {a: {b: 1}} "}, -1},
		{"no blank behind the braces", "${{ {a: {b: 1}}}}", []string{" {a: {b: 1}}"}, -1},
		{"the beginning of one in a literal", `${{ "${{" }}`, []string{` "${{" `}, -1},
		{"a stray quote", "${{ it's }} and ${{ b }}", []string{" it's ", " b "}, -1},
		{"no end", "a ${{ b", nil, 2},
		{"half an end", "${{ a }} ${{ b }", []string{" a "}, 9},
		{"an end for two", "${{ a ${{ b }}", []string{" a ${{ b "}, -1},
		{"empty", "${{}}", []string{""}, -1},
	} {
		t.Run(c.name, func(t *testing.T) {
			list, unclosed := Expressions(c.text)
			var got []string
			for _, e := range list {
				got = append(got, e.Text)
				whole := c.text[e.Start:e.End]
				if whole != "${{"+e.Text+"}}" || c.text[e.Offset:e.Offset+len(e.Text)] != e.Text {
					t.Errorf("offsets of %q give %q", e.Text, whole)
				}
			}
			if !slices.Equal(got, c.want) || unclosed != c.unclosed {
				t.Errorf("got %q, %d, want %q, %d", got, unclosed, c.want, c.unclosed)
			}
		})
	}
}

func TestParamCheck(t *testing.T) {
	at := Pos{1, 1}
	text := func(s string) Value[string] { return Value[string]{s, at} }
	for _, c := range []struct {
		name string
		p    Param
		good []string
		bad  map[string]string
	}{
		{"text", Param{Type: Value[ParamType]{V: ParamString}}, []string{"", "any\nthing", "${{ x }}"}, map[string]string{"a\x00": "NUL"}},
		{"integers", Param{Type: Value[ParamType]{V: ParamInt}, Min: text("-5"), Max: text("9007199254740993")},
			[]string{"-5", "0", "007", "9007199254740993"}, map[string]string{"-6": "below -5", "9007199254740994": "above", "1.0": "no integer", "": "no integer", "+1": "no integer", "0x1": "no integer"}},
		{"numbers", Param{Type: Value[ParamType]{V: ParamFloat}, Max: text("2.5")},
			[]string{"2.5", "-1e3", ".5", "1."}, map[string]string{"2.51": "above 2.5", "inf": "no number", "NaN": "no number", "1_0": "no number", "0x1p4": "no number"}},
		{"booleans", Param{Type: Value[ParamType]{V: ParamBool}}, []string{"true", "false"}, map[string]string{"True": "neither", "1": "neither"}},
		{"dates", Param{Type: Value[ParamType]{V: ParamDate}, Min: text("2026-01-31")},
			[]string{"2026-01-31", "2026-10-01"}, map[string]string{"2026-01-30": "below", "2026-13-01": "no date"}},
		{"durations", Param{Type: Value[ParamType]{V: ParamDuration}, Min: text("1m"), Max: text("1h")},
			[]string{"60", "1h"}, map[string]string{"59s": "below 1m", "2h": "above 1h", "soon": "no duration"}},
		{"choices", Param{Type: Value[ParamType]{V: ParamString}, Choices: []Value[string]{text("cn"), text("us")}},
			[]string{"cn"}, map[string]string{"CN": "none of cn, us", "": "none of"}},
		{"a pattern holds for all of it", Param{Type: Value[ParamType]{V: ParamString}, Pattern: text("a|b")},
			[]string{"a", "b"}, map[string]string{"ab": "pattern", "a\n": "pattern"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, v := range c.good {
				if err := c.p.Check(v); err != nil {
					t.Errorf("%q: %v", v, err)
				}
			}
			for v, says := range c.bad {
				if err := c.p.Check(v); err == nil || !strings.Contains(err.Error(), says) {
					t.Errorf("%q: got %v, want %q", v, err, says)
				}
			}
		})
	}
	if v := (&Param{Name: text("my-Key_1")}).Variable(); v != "AX_PARAM_MY_KEY_1" {
		t.Errorf("variable is %s", v)
	}
}

func TestKeysNameEveryMapping(t *testing.T) {
	keys := Keys()
	for title, some := range map[string][]string{
		"the workflow": {"tasks", "cron", "notify"}, "a task": {"run", "wait_for", "depends_on"}, `"retry"`: {"max", "if"}, `"defaults"`: {"timeout"},
	} {
		for _, key := range some {
			if !slices.Contains(keys[title], key) {
				t.Errorf("%s has no %q: %v", title, key, keys[title])
			}
		}
	}
	if len(keys) != len(tables()) {
		t.Error("two mappings have one name")
	}
	for word, meant := range foreign {
		for _, key := range meant {
			if !slices.ContainsFunc(tables(), func(s section) bool { return slices.Contains(s.names(), key) }) {
				t.Errorf("%s is said to be called %q here, which no mapping has", word, key)
			}
		}
		if word != strings.ToLower(word) || strings.ContainsAny(word, "-_ ") {
			t.Errorf("%q is never looked up", word)
		}
	}
}

func TestClip(t *testing.T) {
	if got := clip("größer als", 5); got != "größe…" || !utf8.ValidString(got) {
		t.Errorf("got %q", got)
	}
	if got := clip("größe", 5); got != "größe" {
		t.Errorf("got %q", got)
	}
}
