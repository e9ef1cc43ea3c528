package dsl

import (
	"strings"
	"testing"
)

// below is a task whose script stands below "run:", in line 3, without a bar.
func below(script string) string {
	return "tasks:\n  t:\n    run:\n      " + strings.ReplaceAll(script, "\n", "\n      ") + "\n"
}

func TestAForgottenBarIsOneMistakeAtRun(t *testing.T) {
	const broken, aMap = `3:5-8 syntax: write "run: |"`, `3:5-8 wrong-type: write "run: |"`
	for _, c := range []struct{ name, text, want string }{
		{"a line without a colon above one with a colon", below("set -e\necho \"x: y\"\nls"), broken},
		{"a line without a colon below one with a colon", below("echo a: b\nls"), broken},
		{"and a key of the task behind it", below("echo a: b\nls") + "    timeout: 5m\n", broken},
		{"a colon within a loop", below("for i in 1 2; do\n  echo n: $i\ndone"), broken},
		{"a command in quotes", below("\"$HOME/x\" y\nls"), broken},
		{"a test in brackets", below("[ -f x ] && y\nls"), broken},
		{"a comment between two lines", below("echo a\n# then\necho b"), broken},
		{"a comment behind run", strings.Replace(below("echo a: b\nls"), "run:", "run: # load", 1), broken},
		{"a pipe that begins a line", below("a: b\n| c"), broken},
		{"one line with a colon", below("echo a: b"), aMap},
		{"lines that are all keys", below("echo: a\nls: b"), aMap},
		{"the same key twice", below("echo: a\necho: b"), aMap},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, ds := Parse("f.yaml", []byte(c.text))
			compare(t, ds, []string{c.want})
		})
	}
}

func TestWhatStandsBelowAnotherRunIsNoScript(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"a task that is called run", "tasks:\n  run:\n    timeout: 5m\n    make\n", "4:5-9 syntax: no colon after the key"},
		{"a variable that is called run", "tasks:\n  t:\n    env:\n      run:\n        a\n        b: c\n", "5:9-10 syntax: no colon after the key"},
		{"a quote that is never closed", below("\"echo a"), "4:7-8 syntax: this quote is never closed"},
		{"lines behind a text", "tasks:\n  t:\n    run: echo a\n      echo b: c\n", `4:7-13 syntax: write "run: |"`},
		{"a key behind it that has no colon", below("echo a") + "    timeout 5m\n", "5:5-15 syntax: no colon"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, ds := Parse("f.yaml", []byte(c.text))
			compare(t, ds, []string{c.want})
		})
	}
}

func TestAScriptThatIsAListIsAskedForAsText(t *testing.T) {
	_, ds := Parse("f.yaml", []byte(below("- echo a\n- ls")))
	compare(t, ds, []string{`4:7-8 wrong-type: write "run: |"`})
}
