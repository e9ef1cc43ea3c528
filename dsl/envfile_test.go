package dsl

import (
	"slices"
	"strings"
	"testing"
)

func TestEnvFile(t *testing.T) {
	for _, c := range []struct {
		name, text string
		want       []string
		err        string
	}{
		{"bare values end at a comment", "A=b c # d\n", []string{"A=b c"}, ""},
		{"export, comments and empty lines", "\n# x\nexport A=b\n", []string{"A=b"}, ""},
		{"quotes", `A='b\n'` + "\n" + `B="b\n\$"`, []string{`A=b\n`, "B=b\n$"}, ""},
		{"a byte-order mark", "\ufeffA=b", []string{"A=b"}, ""},
		{"a line that is none", "A=b\nsecret\n", nil, "x.env:2: this line is no NAME=value"},
		{"a name that is none", "1A=b\n", nil, "x.env:1: this line is no NAME=value"},
		{"an open quote", "A='secret\n", nil, "x.env:1: A: no closing '"},
		{"text behind a quote", "A='b' secret\n", nil, "x.env:1: A: there is text after the closing quote"},
		{"bytes that are no text", "A=\xff\n", nil, "x.env is not UTF-8 text"},
	} {
		got, err := EnvFile("x.env", []byte(c.text))
		if err == nil && c.err != "" || err != nil && err.Error() != c.err || !slices.Equal(got, c.want) {
			t.Errorf("%s: got %q, %v", c.name, got, err)
		}
		if err != nil && strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: a line is shown: %v", c.name, err)
		}
	}
}
