package lint

import (
	"fmt"
	"strings"
	"testing"
)

func TestUnseenFailure(t *testing.T) {
	for _, c := range []struct{ name, script, want string }{
		{"a download", "curl -sf http://x | sort > y", "curl -sf http://x"},
		{"a file that may be missing", "cat a.csv | wc -l", "cat a.csv"},
		{"a program in the middle", "echo x | ./convert | sort", "./convert"},
		{"the first of several", "a | b | c", "a"},
		{"in a substitution", `n=$(grep x f | wc -l)`, "grep x f"},
		{"in quotes in an argument", `echo "$(curl u | head -1)"`, "curl u"},
		{"in a loop", "for i in 1 2; do\n  get $i | tee log\ndone", "get $i"},
		{"in a branch", "if true; then\n  get | tee log\nfi", "get"},
		{"in a function", "f() {\n  get | tee log\n}\nf", "get"},
		{"in a subshell", "(get | tee log)", "get"},
		{"a group on the left", "{ echo a; get; } | tee log", "get"},
		{"a loop on the left", "for i in 1 2; do get $i; done | sort", "get $i"},
		{"a function of the script on the left", "f() { get; }\nf | sort", "f"},
		{"a redirection on the left", "sort < in | uniq", "< in"},
		{"something is done about the last one only", "get | tee log || exit 1", "get"},
		{"in a list", "get | tee log && echo done", "get"},
		{"behind a command in the environment", "env A=1 get | sort", "env A=1 get"},

		{"something said", "echo a | sort", ""},
		{"said by a function", "f() { echo a; }\nf | sort", ""},
		{"a function that calls itself", "f() { f; }\nf | sort", ""},
		{"said by a loop", "for i in 1 2; do echo $i; done | sort", ""},
		{"said by a loop over input", "while read -r l; do echo \"$l\"; done | sort", ""},
		{"a here-document", "cat <<END | sort\nb\na\nEND", ""},
		{"filters", "printf '%s' a | tr a b | sed s/a/b/ | sort -u", ""},
		{"nothing to miss", "head -c 100 /dev/zero | tr '\\0' x", ""},
		{"a condition", "if get | grep -q x; then echo; fi", ""},
		{"a condition of a loop", "while get | grep -q x; do sleep 1; done", ""},
		{"a negation", "! get | grep -q x", ""},
		{"a failure that is allowed", "get | tee log || true", ""},
		{"a failure that is told", "get | tee log || echo 'no list'", ""},
		{"allowed on the left", "{ get || true; } | tee log", ""},
		{"in the background", "get | tee log &", ""},
		{"pipefail in the script", "set -o pipefail\nget | sort", ""},
		{"pipefail among other options", "set -euo pipefail\nget | sort", ""},
		{"no pipe", "get || exit 1", ""},
		{"a pipe in quotes", "echo 'a | b'", ""},
	} {
		text := "tasks:\n  t:\n    run: |\n      " + strings.ReplaceAll(c.script, "\n", "\n      ") + "\n"
		got := ""
		for _, d := range diagnose(text, Options{}) {
			if d.Rule == "unseen-failure" {
				src := Parse("", []byte(text), "", "").Source
				got += string(src.Text[src.Offset(d.Pos):src.Offset(d.End)])
			}
		}
		if got != c.want {
			t.Errorf("%s: pointed at %q, want %q", c.name, got, c.want)
		}
	}
}

func TestUnseenFailureDependsOnTheShell(t *testing.T) {
	for shell, want := range map[string]bool{
		"sh": true, "dash": true, "ash": true, "bash": false, "[bash, -e]": true, "[sh, -eu]": true,
		"[bash, -euo, pipefail]": false, "python3": false,
	} {
		got := check(fmt.Sprintf("tasks:\n  t: {run: 'get | sort', shell: %s}\n", shell), Options{})
		if (len(got) > 0) != want {
			t.Errorf("%s: got %q", shell, got)
		}
	}
}

func TestEveryPipeIsReportedOnce(t *testing.T) {
	text := "tasks:\n  t:\n    run: |\n      a | b | c\n      d | e\n"
	if got := check(text, Options{}); fmt.Sprint(got) != "[4:7 unseen-failure 5:7 unseen-failure]" {
		t.Errorf("got %q", got)
	}
}
