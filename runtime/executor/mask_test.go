package executor

import (
	"bytes"
	"encoding/base64"
	"net/url"
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
