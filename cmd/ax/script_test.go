package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"ax": main})
}

// The scripts in testdata/script run the real command and read like the manual.
// In them $RUN is the id of the newest run after the command `newest`, which takes
// the arguments of `ax runs`.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                 filepath.Join("testdata", "script"),
		RequireExplicitExec: true,
		Setup: func(env *testscript.Env) error {
			for _, v := range os.Environ() {
				if name, _, _ := strings.Cut(v, "="); strings.HasPrefix(name, "AX_") {
					env.Setenv(name, "")
				}
			}
			env.Setenv("TZ", "UTC")
			env.Setenv("NO_COLOR", "1")
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){"newest": newest, "editor": editor, "webserver": webserver, "receiver": receive, "jsonlines": jsonLines, "audit": audit, "older": older, "engine": engine},
	})
}

var runID = regexp.MustCompile(`"id": "([0-9a-z]{20})"`)

// newest sets RUN to the id of the newest run, of those that the arguments of
// `ax runs` select.
func newest(ts *testscript.TestScript, neg bool, args []string) {
	if neg {
		ts.Fatalf("usage: newest [NAME] [--state STATE]")
	}
	ts.Check(ts.Exec("ax", append([]string{"runs", "--json", "--limit", "1"}, args...)...))
	id := runID.FindStringSubmatch(ts.ReadFile("stdout"))
	if id == nil {
		ts.Fatalf("there is no run")
	}
	ts.Setenv("RUN", id[1])
}
