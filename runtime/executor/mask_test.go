package executor

import (
	"bytes"
	"encoding/base64"
	"net/url"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestAMaskTakesOutValuesTheirLinesAndTheirEncodings(t *testing.T) {
	secret := "alpha 71/bravo\ncharlie+72-delta"
	m, short := NewMask([]string{secret, "ab1"})
	if !short {
		t.Error("a secret of three characters was not told of")
	}
	line := "charlie+72-delta"
	for _, text := range []string{
		secret, line, "alpha 71/bravo",
		url.QueryEscape(line), url.PathEscape("alpha 71/bravo"), url.QueryEscape(secret),
		base64.StdEncoding.EncodeToString([]byte(line)),
		base64.URLEncoding.EncodeToString([]byte("x" + line + "y")),
		base64.StdEncoding.EncodeToString([]byte("user:" + line)),
		base64.RawStdEncoding.EncodeToString([]byte("u:" + secret)),
	} {
		got := m.Text("<" + text + ">")
		if !strings.Contains(got, "***") || len(got) > 16 {
			t.Errorf("%q became %q", text, got)
		}
	}
	if got := m.Text("a tab1e stays"); got != "a tab1e stays" {
		t.Errorf("a short secret tore the text: %q", got)
	}
}

func TestAMaskTakesOutWhatOtherProgramsMakeOfASecret(t *testing.T) {
	secret := "p<a/ss\"w\\ö&r d'!*+"
	long := strings.Repeat("a-long-token;", 9)
	wrapped := func(text string, width int, end string) string {
		encoded := base64.StdEncoding.EncodeToString([]byte(text))
		for at := width; at < len(encoded); at += width + len(end) {
			encoded = encoded[:at] + end + encoded[at:]
		}
		return encoded
	}
	m, _ := NewMask([]string{secret, long})
	for _, c := range []struct{ name, text string }{
		{"a message of ax", strconv.Quote(secret)},
		{"JSON", `"p<a/ss\"w\\ö&r d'!*+"`},
		{"JSON for a page", `"p\u003ca/ss\"w\\ö\u0026r d'!*+"`},
		{"JSON in ASCII", `"p<a/ss\"w\\\u00f6&r d'!*+"`},
		{"quote of Python", "p%3Ca/ss%22w%5C%C3%B6%26r%20d%27%21%2A%2B"},
		{"quote_plus of Python", "p%3Ca%2Fss%22w%5C%C3%B6%26r+d%27%21%2A%2B"},
		{"encodeURIComponent", "p%3Ca%2Fss%22w%5C%C3%B6%26r%20d'!*%2B"},
		{"encodeURI", "p%3Ca/ss%22w%5C%C3%B6&r%20d'!*+"},
		{"a form", "p%3Ca%2Fss%22w%5C%C3%B6%26r+d%27%21*%2B"},
		{"small letters", "p%3ca%2fss%22w%5c%c3%b6%26r%20d%27%21%2a%2b"},
		{"base64 in lines of 76", wrapped(long, 76, "\n")},
		{"base64 in lines of 64", wrapped("user:"+long, 64, "\r\n")},
	} {
		t.Run(c.name, func(t *testing.T) {
			var out bytes.Buffer
			w := m.Writer(&out)
			for i := range len(c.text) {
				if _, err := w.Write([]byte{c.text[i]}); err != nil {
					t.Fatal(err)
				}
			}
			if err := w.Close(); err != nil || !strings.Contains(out.String(), "***") || out.Len() > 12 {
				t.Errorf("%q became %q (%v)", c.text, out.String(), err)
			}
		})
	}
	if got := m.Text("YS1\nsv"); got != "YS1\nsv" {
		t.Errorf("%q was torn", got)
	}
}

// The character in front of the padding has bits of the secret, too.
func TestOfTheBase64OfASecretNothingIsLeft(t *testing.T) {
	for _, secret := range []string{"hunter+22/x", "hunter+22/xy", "hunter+22/xyz"} {
		m, _ := NewMask([]string{secret})
		for _, text := range []string{
			base64.StdEncoding.EncodeToString([]byte(secret)),
			base64.URLEncoding.EncodeToString([]byte(secret)),
			base64.RawStdEncoding.EncodeToString([]byte(secret)),
		} {
			if got := strings.TrimRight(m.Text(text), "="); got != "***" {
				t.Errorf("%q became %q", text, got)
			}
		}
		if got := m.Text(base64.StdEncoding.EncodeToString([]byte("u:" + secret))); !strings.HasSuffix(got, "***") {
			t.Errorf("behind a name it became %q", got)
		}
	}
}

func TestWithoutSecretsThereIsNoMask(t *testing.T) {
	if m, _ := NewMask([]string{"", "abc"}); m != nil || m.Text("abc") != "abc" {
		t.Error("there is a mask for nothing")
	}
}

// However a text is cut into writes, the result is the same, holds no secret,
// and is the text where there was none.
func TestAMaskSeesSecretsAcrossWrites(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		letters := rapid.StringMatching(`[ab]{4,7}`)
		secrets := rapid.SliceOfN(letters, 1, 3).Draw(t, "secrets")
		text := rapid.StringMatching(`[abc\n]{0,60}`).Draw(t, "text")
		m, _ := NewMask(secrets)
		var out bytes.Buffer
		w := m.Writer(&out)
		for rest := text; rest != ""; {
			n := rapid.IntRange(1, len(rest)).Draw(t, "n")
			if _, err := w.Write([]byte(rest[:n])); err != nil {
				t.Fatal(err)
			}
			rest = rest[n:]
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		got := out.String()
		if got != m.Text(text) {
			t.Fatalf("in parts %q, as a whole %q", got, m.Text(text))
		}
		held := false
		for _, s := range secrets {
			held = held || strings.Contains(text, s)
			if strings.Contains(got, s) {
				t.Fatalf("%q still holds %q", got, s)
			}
		}
		if !held && got != text {
			t.Fatalf("%q became %q without a secret in it", text, got)
		}
	})
}
