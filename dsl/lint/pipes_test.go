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

		{"cut off by head", "get | head -1", "get"},
		{"grep that counts", "get | grep -c x", "get"},
		{"a group that ends the script, in a process of its own", "{ get || exit 1; } | tee log", "get"},
		{"a list of files that may be missing", "ls *.csv | wc -l", "ls *.csv"},

		{"a question", "get | grep -q x", ""},
		{"a question with more flags", "get | sort | grep -Eqi 'x|y'", ""},
		{"a question before a command", "get | grep --quiet x && echo", ""},
		{"a process in a condition", "if [ \"$(get | wc -l)\" -gt 3 ]; then echo; fi", ""},
		{"a process that is compared", "[ \"$(get | cut -c1)\" = x ]\ntest \"$(get | wc -l)\" -gt 0", ""},
		{"a condition of elif and until", "if false; then echo; elif get | wc; then echo; fi\nuntil get | wc; do sleep 1; done", ""},
		{"a status that is kept", "{ get; echo $? > status; } | tee log\nexit \"$(cat status)\"", ""},
		{"a failure that is kept", "{ get || touch failed; } | tee log", ""},
		{"what is there in any case", "ls | wc -l\nenv | sort\ndmesg | tail", ""},
		{"sums of what is said", "printf a | sha256sum | cut -c1-8", ""},
		{"a list that may fail", "{ get | tee log; } || true", ""},
		{"a substitution that may fail", "n=$(get | wc -l) || true", ""},
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

func TestBashIsNoRemedyForWhatIsCutOff(t *testing.T) {
	for run, bash := range map[string]bool{"get | head -1": false, "get | sort | head -1": false, "get | sort": true} {
		ds := diagnose("timeout: 1h\ntasks:\n  t: {run: '"+run+"'}\n", Options{})
		if len(ds) != 1 || strings.Contains(ds[0].Hint, "bash") != bash {
			t.Errorf("%s: got\n%s", run, places(ds))
		}
	}
}

func TestEveryPipeIsReportedOnce(t *testing.T) {
	text := "tasks:\n  t:\n    run: |\n      a | b | c\n      d | e\n"
	if got := check(text, Options{}); fmt.Sprint(got) != "[4:7 unseen-failure 5:7 unseen-failure]" {
		t.Errorf("got %q", got)
	}
}
