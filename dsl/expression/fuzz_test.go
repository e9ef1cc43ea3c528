package expression

import (
	"slices"
	"strings"
	"testing"
)

// within holds the place of an error against the text that it is about.
func within(t *testing.T, text string, e *Error) {
	t.Helper()
	if e.Message == "" || e.Offset < 0 || e.Offset > len(text) || e.Width < 1 || e.Offset+e.Width > len(text)+1 {
		t.Fatalf("%q: error %q at %d+%d of %d", text, e.Message, e.Offset, e.Width, len(text))
	}
}

func FuzzCompile(f *testing.F) {
	for _, r := range results {
		f.Add(r.code)
	}
	for _, r := range faults {
		if len(r.code) < 500 {
			f.Add(r.code)
		}
	}
	for _, r := range failures {
		f.Add(r.code)
	}
	scope, values := inTask(), someValues(f)
	f.Fuzz(func(t *testing.T, code string) {
		for _, want := range []Want{WantText, WantBool, WantList} {
			p, err := Compile(code, want, scope)
			if err != nil {
				within(t, code, asError(t, err))
				continue
			}
			v, err := p.Eval(values)
			if err != nil {
				within(t, code, asError(t, err))
				continue
			}
			got, allowed := kindOf(v), map[Want]kind{WantText: kAny &^ kNothing, WantBool: kBool, WantList: kList}[want]
			if got&allowed == 0 {
				t.Fatalf("%q is %v for %v", code, got, allowed)
			}
			if s, err := Text(v); err == nil && len(s) > MaxText+MaxText/4 {
				t.Fatalf("%q has a text of %d bytes", code, len(s))
			}
		}
	})
}

func FuzzTemplate(f *testing.F) {
	for _, s := range []string{"", "${{", "a ${{ params.n }} b", "${{ '}}' }}${{ 1 +", "${{ }}}}", "${{ {\"a\": {}} }}", "é${{ nix }}"} {
		f.Add(s)
	}
	scope, values := inTask(), someValues(f)
	f.Fuzz(func(t *testing.T, text string) {
		x, faults := CompileTemplate(text, scope)
		for _, e := range faults {
			within(t, text, e)
		}
		if faults != nil {
			return
		}
		got, err := x.Text(values)
		if err != nil {
			within(t, text, asError(t, err))
		} else if x.Constant() && got != text {
			t.Fatalf("%q became %q", text, got)
		}
	})
}

func FuzzScript(f *testing.F) {
	for _, p := range slices.Concat(places, inBash) {
		f.Add(strings.ReplaceAll(p.script, "¤", "${{ params.n }}"))
	}
	for _, r := range refusals {
		f.Add(strings.ReplaceAll(r.script, "¤", "${{ params.n }}"))
	}
	scope, values := inTask(), someValues(f)
	f.Fuzz(func(t *testing.T, text string) {
		for _, shell := range []Shell{Sh, Bash} {
			s, faults := CompileScript(shell, text, scope)
			for _, e := range faults {
				within(t, text, e)
			}
			if faults != nil || !strings.Contains(text, "${{") {
				continue
			}
			if e := CheckScript(shell, s.Text()); e != nil {
				t.Fatalf("%q became %q, which is no script: %s", text, s.Text(), e.Message)
			}
			if _, err := s.Env(values); err != nil {
				within(t, text, asError(t, err))
			}
		}
	})
}
