package executor

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

func TestExitCodesAndSignalsAreToldApart(t *testing.T) {
	for name, c := range map[string]struct {
		script, signal, message string
		code                    int
	}{
		"success":                                {"exit 0", "", "", 0},
		"failure":                                {"echo why; exit 3", "", "exit code 3: why", 3},
		"failure without output":                 {"exit 3", "", "exit code 3", 3},
		"a command that a shell does not find":   {"no-such-command-here 2>/dev/null", "", "exit code 127", 127},
		"a command that a shell may not execute": {"/ 2>/dev/null", "", "exit code 126", 126},
		"death by a signal":                      {"echo last; kill -KILL $$", "SIGKILL", "killed by SIGKILL: last", 137},
		"death by TERM that is not of us":        {"kill -TERM $$", "SIGTERM", "killed by SIGTERM", 143},
		"a code that looks like a signal":        {"exit 137", "", "exit code 137", 137},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := execute(newAttempt(t, sh(c.script)))
			if o.ExitCode != c.code || o.Signal != c.signal || o.Stopped || o.Message() != c.message {
				t.Errorf("outcome %+v, message %q", o, o.Message())
			}
			if o.Started.IsZero() || o.Finished.Before(o.Started) {
				t.Errorf("it was started at %v and finished at %v", o.Started, o.Finished)
			}
		})
	}
}

func TestARealTimeSignalIsCalledByItsNumber(t *testing.T) {
	o := execute(newAttempt(t, sh("kill -40 $$")))
	if o.Signal != "signal 40" || o.ExitCode != 168 {
		t.Errorf("outcome %+v", o)
	}
}

func TestScriptsRunInTheirShell(t *testing.T) {
	for name, c := range map[string]struct {
		shell  []string
		script string
		code   int
		log    string
	}{
		"sh is the default":                         {nil, "echo $0", 0, "task\n"},
		"sh ends at the first error":                {[]string{"sh"}, "false\necho never", 1, ""},
		"sh knows no unset variable":                {nil, "echo a; : $none 2>/dev/null; echo never", 2, "a\n"},
		"sh takes a script that begins with dash":   {nil, "-x 2>/dev/null || echo ran", 0, "ran\n"},
		"bash sees a failure inside a pipe":         {[]string{"bash"}, "false | true\necho never", 1, ""},
		"bash has arrays":                           {[]string{"bash"}, "a=(x y); echo ${a[1]} $0", 0, "y task\n"},
		"an argv takes a script file":               {[]string{"cat"}, "any text\n", 0, "any text\n"},
		"an argv has arguments":                     {[]string{"sh", "-c", `cat "$1"; exit 4`, "-"}, "text", 4, "text"},
		"an argv may execute the file":              {[]string{"nice"}, "#!/bin/sh\necho $1.", 0, ".\n"},
		"an empty script succeeds":                  {nil, "", 0, ""},
		"quotes, dollars and new lines are sh's":    {nil, "printf '%s' \"a'b\" '\"$x' '\n'", 0, "a'b\"$x\n"},
		"lines are counted from the script's first": {[]string{"bash"}, "true\necho $LINENO", 0, "2\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := newAttempt(t, Script{Shell: c.shell, Text: c.script})
			o := execute(a)
			if o.ExitCode != c.code {
				t.Errorf("outcome %+v, log %q", o, readLog(t, a))
			}
			if c.code != 2 { // the shell's own words
				wantLog(t, a, c.log)
			}
		})
	}
}

func TestPythonScriptsRun(t *testing.T) {
	a := newAttempt(t, Script{Shell: []string{"python3"}, Text: "import sys\nprint('from python')\nsys.exit(5)\n"})
	if _, err := lookProgram("python3", a.Dir, os.Getenv("PATH")); err != nil {
		t.Skip("there is no python3")
	}
	o := execute(a)
	wantExit(t, o, 5)
	wantLog(t, a, "from python\n")
}

func TestAScriptTooLargeForAnArgumentRuns(t *testing.T) {
	for _, size := range []int{inlineLimit - 100, inlineLimit + 100, 3 << 20} {
		t.Run(fmt.Sprint(size), func(t *testing.T) {
			a := newAttempt(t, sh(strings.Repeat("# padding\n", size/10)+"echo end\n"))
			wantExit(t, execute(a), 0)
			wantLog(t, a, "end\n")
		})
	}
}

func TestAScriptFileLeftByACrashIsReplaced(t *testing.T) {
	a := newAttempt(t, Script{Shell: []string{"cat"}, Text: "new"})
	if err := os.MkdirAll(a.Scratch, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(a.Log, a.scratchFile("script")); err != nil {
		t.Fatal(err)
	}
	wantExit(t, execute(a), 0)
	wantLog(t, a, "new")
}

func TestArgumentsArriveByteForByte(t *testing.T) {
	var all []byte
	for b := 1; b < 256; b++ {
		all = append(all, byte(b))
	}
	args := []string{"", " ", "010", "1e3", "a b", `"`, `'`, `\`, "$HOME", "*", "-n", "--", "é", "\xff", "new\nline", string(all)}
	a := newAttempt(t, Command{Argv: append([]string{"printf", `%s|`}, args...)})
	wantExit(t, execute(a), 0)
	wantLog(t, a, strings.Join(args, "|")+"|")
}

func TestStandardInputIsEmpty(t *testing.T) {
	a := newAttempt(t, sh("wc -c; readlink /dev/stdin || true"))
	wantExit(t, execute(a), 0)
	if log := string(readLog(t, a)); !strings.HasPrefix(strings.TrimSpace(log), "0") {
		t.Errorf("standard input has %q bytes", log)
	}
}

func TestOutputKeepsItsOrderAndItsBytes(t *testing.T) {
	a := newAttempt(t, sh(`echo 1; echo 2 >&2; echo 3; printf 'b\377\376\000c\r\033[31m\n' >&2; printf 'no end'`))
	if err := os.WriteFile(a.Log, []byte("was here\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	o := execute(a)
	wantExit(t, o, 0)
	wantLog(t, a, "was here\n1\n2\n3\nb\xff\xfe\x00c\r\x1b[31m\nno end")
	if o.LastLine != "no end" {
		t.Errorf("the last line is %q", o.LastLine)
	}
}

func TestTheLogIsTheUsersOwn(t *testing.T) {
	a := newAttempt(t, sh("echo x"))
	wantExit(t, execute(a), 0)
	info, err := os.Stat(a.Log)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, error %v", info.Mode(), err)
	}
}

func TestALineOfFiveMegabytesIsKept(t *testing.T) {
	for name, filter := range filters {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := newAttempt(t, sh(`head -c 5000000 /dev/zero | tr '\0' x; echo; echo AFTER; head -c 200000 /dev/zero | tr '\0' y >&2`))
			a.Filter = filter
			o := execute(a)
			wantExit(t, o, 0)
			want := strings.Repeat("x", 5000000) + "\nAFTER\n" + strings.Repeat("y", 200000)
			if got := string(readLog(t, a)); got != want {
				t.Errorf("the log has %d bytes, want %d", len(got), len(want))
			}
			if n := len([]rune(o.LastLine)); n != lastLineLimit {
				t.Errorf("the last line has %d characters", n)
			}
		})
	}
}

func TestNoDescriptorButThreeIsInherited(t *testing.T) {
	a := newAttempt(t, sh(`for f in /dev/fd/* /proc/self/fd/*; do case $f in */[3-9]*) [ -e "$f" ] && [ "$f" -ef "$LEAKED" ] && echo "$f"; esac; done; true`))
	leaked := filepath.Join(a.Scratch, "..", "leaked")
	if err := os.WriteFile(leaked, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	fd := openInheritable(t, leaked)
	a.Env = append(a.Env, "LEAKED="+leaked)
	wantExit(t, execute(a), 0)
	wantLog(t, a, "")
	if fd < 3 {
		t.Errorf("the test's own descriptor is %d", fd)
	}
}

func TestDescriptorsAreSealedOneByOneOnOldSystems(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	writeProgram(t, path, "", 0o600)
	fd := openInheritable(t, path)
	closeEachOnExec()
	flags, err := unix.FcntlInt(uintptr(fd), unix.F_GETFD, 0)
	if err != nil || flags&unix.FD_CLOEXEC == 0 {
		t.Errorf("flags %x, error %v", flags, err)
	}
	for fd := range 3 {
		if flags, _ := unix.FcntlInt(uintptr(fd), unix.F_GETFD, 0); flags&unix.FD_CLOEXEC != 0 {
			t.Errorf("descriptor %d is sealed", fd)
		}
	}
}

func TestTheEnvironmentIsTheAttemptsAlone(t *testing.T) {
	t.Setenv("FROM_ENGINE", "leaked")
	a := newAttempt(t, Command{Argv: []string{"env"}})
	a.Env = []string{"TWICE=first", "PATH=" + os.Getenv("PATH"), "PWD=/elsewhere", "ODD=a=b\nc \xff", "TWICE=last", "EMPTY=", "=odd", "WITHOUT"}
	wantExit(t, execute(a), 0)
	log := string(readLog(t, a))
	for _, want := range []string{"TWICE=last\n", "ODD=a=b\nc \xff\n", "EMPTY=\n", "PWD=" + a.Dir + "\n", "AX_OUTPUT=" + a.outputPath() + "\n"} {
		if !strings.Contains("\n"+log, "\n"+want) {
			t.Errorf("%q is not in the environment:\n%s", want, log)
		}
	}
	for _, unwanted := range []string{"first", "FROM_ENGINE", "elsewhere"} {
		if strings.Contains(log, unwanted) {
			t.Errorf("%q is in the environment:\n%s", unwanted, log)
		}
	}
}

func TestTheUsualPathIsSetWhereThereIsNone(t *testing.T) {
	a := newAttempt(t, sh(`echo "$PATH"`))
	a.Env = nil
	wantExit(t, execute(a), 0)
	wantLog(t, a, usualPath+"\n")
}

func TestMarksOfAnOuterEngineAreKept(t *testing.T) {
	t.Setenv(markVariable, "outer/task/1")
	a := newAttempt(t, sh(`echo "$`+markVariable+`"`))
	a.RunID = "r 1"
	wantExit(t, execute(a), 0)
	wantLog(t, a, "outer/task/1 r%201/task/1\n")
}

func TestProgramsAreLookedUpAsTheTaskWould(t *testing.T) {
	for name, c := range map[string]struct{ file, path, program string }{
		"in the attempt's own PATH":                {"bin/tool", "%s/bin:/bin:/usr/bin", "tool"},
		"in a relative folder of PATH":             {"bin/tool", "bin:/bin", "tool"},
		"in the working folder where PATH says so": {"tool", ".:/bin", "tool"},
		"an empty entry of PATH says so too":       {"tool", ":/bin", "tool"},
		"by a relative path":                       {"bin/tool", "/bin", "bin/tool"},
		"by a path with a dot":                     {"tool", "/bin", "./tool"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := newAttempt(t, Command{Argv: []string{c.program, "arg"}})
			writeProgram(t, filepath.Join(a.Dir, c.file), "#!/bin/sh\necho \"$1 $(pwd)\"\n", 0o700)
			a.Env = []string{"PATH=" + strings.ReplaceAll(c.path, "%s", a.Dir)}
			wantExit(t, execute(a), 0)
			wantLog(t, a, "arg "+a.Dir+"\n")
		})
	}
}

func TestWhatCannotBeExecutedIsPassedOverInPATH(t *testing.T) {
	a := newAttempt(t, Command{Argv: []string{"tool"}})
	writeProgram(t, filepath.Join(a.Dir, "one", "tool"), "no program", 0o600)
	writeProgram(t, filepath.Join(a.Dir, "two", "tool", "file"), "in a folder of that name", 0o700)
	writeProgram(t, filepath.Join(a.Dir, "three", "tool"), "#!/bin/sh\necho three\n", 0o700)
	a.Env = []string{"PATH=one:two:three"}
	wantExit(t, execute(a), 0)
	wantLog(t, a, "three\n")
}

func TestFiftyAttemptsSideBySideDoNotMix(t *testing.T) {
	var all sync.WaitGroup
	for i := range 50 {
		a := newAttempt(t, sh(fmt.Sprintf(`echo %d; echo "n=%d" >> "$AX_OUTPUT"; (sleep 60 &); exit %d`, i, i, i)))
		a.Task = fmt.Sprintf("task%d", i)
		all.Go(func() {
			o := execute(a)
			wantExit(t, o, i)
			wantLog(t, a, fmt.Sprintf("%d\n", i))
			if o.Outputs["n"] != fmt.Sprint(i) {
				t.Errorf("outputs of %d are %v", i, o.Outputs)
			}
		})
	}
	all.Wait()
}

func TestAStopBeforeTheStartStartsNothing(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	a := newAttempt(t, sh("echo ran"))
	o := new(Executor).Execute(ctx, a)
	if !o.Stopped || o.ExitCode != -1 || !o.Started.IsZero() || o.Finished.IsZero() || exists(a.Log) {
		t.Errorf("outcome %+v", o)
	}
	if o.Message() != "not started" {
		t.Errorf("message %q", o.Message())
	}
}

// filters are no filter, and one that masks whole lines.
var filters = map[string]func(w writer) writeCloser{"no filter": nil, "filter": newLineMask}

func TestAFilterSeesAllOutputAndAllErrors(t *testing.T) {
	a := newAttempt(t, sh(`echo first; echo a secret >&2; echo 'secret without bound' >> "$AX_OUTPUT"; printf 'the secret at the end'`))
	a.Filter = newLineMask
	o := execute(a)
	wantExit(t, o, 0)
	wantLog(t, a, "first\na ******\nthe ****** at the end")
	if o.LastLine != "the ****** at the end" {
		t.Errorf("the last line is %q", o.LastLine)
	}
	if len(o.Warnings) != 1 || strings.Contains(o.Warnings[0], "secret") {
		t.Errorf("warnings %q", o.Warnings)
	}

	a.Action = Command{Argv: []string{"/no/secret/program"}}
	wantStartError(t, execute(a), `"/no/******/program"`)
}

func TestAFullLogStopsNoFilteredTask(t *testing.T) {
	if !exists("/dev/full") {
		t.Skip("there is no /dev/full")
	}
	a := newAttempt(t, sh(`head -c 1000000 /dev/zero; echo done >> "$AX_OUTPUT"; exit 4`))
	a.Log, a.Filter = "/dev/full", newLineMask
	o := execute(a)
	if o.ExitCode != 4 || !slices.ContainsFunc(o.Warnings, func(w string) bool { return strings.Contains(w, "no space left") }) {
		t.Errorf("outcome %+v", o)
	}
}

func TestALogThatCannotBeOpenedIsAStartError(t *testing.T) {
	a := newAttempt(t, sh("true"))
	a.Log = filepath.Join(a.Dir, "none", "log")
	wantStartError(t, execute(a), "log could not be opened", "none/log")
}

func TestOutputHeldOpenByOthersIsNotWaitedFor(t *testing.T) {
	for name, filter := range filters {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := newAttempt(t, sh("sleep 60 & sleep 60 & echo done"))
			a.Filter = filter
			begin := time.Now()
			o := execute(a)
			wantExit(t, o, 0)
			wantLog(t, a, "done\n")
			if took := time.Since(begin); took > 20*time.Second {
				t.Errorf("it took %v", took)
			}
		})
	}
}

func TestAPipeThatStaysOpenIsLeftWithWhatItHolds(t *testing.T) {
	a := newAttempt(t, nil)
	a.Filter = newLineMask
	s, err := openSink(&a)
	if err != nil {
		t.Fatal(err)
	}
	holder := openInheritableCopy(t, s.child) // as a process would that cannot be ended
	defer holder.Close()
	want := bytes.Repeat([]byte("line\n"), 10000)
	if _, err := holder.Write(want); err != nil {
		t.Fatal(err)
	}
	if err := s.pipe.SetReadDeadline(time.Unix(1, 0)); err != nil { // as if the end came before the first read
		t.Fatal(err)
	}
	s.childStarted()
	if err := s.finish(); err != nil {
		t.Fatal(err)
	}
	wantLog(t, a, string(want))
}
