package executor

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

func TestAStartErrorSaysWhatIsWrongAndWhatToDo(t *testing.T) {
	const big = 200 << 10
	for name, c := range map[string]struct {
		prepare func(t *testing.T, a *Attempt)
		action  Action
		says    []string
	}{
		"no action":        {nil, nil, []string{"no action"}},
		"an empty command": {nil, Command{}, []string{`names no program`, `"command"`}},
		"an empty program": {nil, Command{Argv: []string{"", "x"}}, []string{`names no program`}},
		"a program that is not in PATH": {
			func(_ *testing.T, a *Attempt) { a.Env = []string{"PATH=/bin:/nowhere"} }, Command{Argv: []string{"no-such"}},
			[]string{`program "no-such" is not in PATH ("/bin:/nowhere")`, "install it"},
		},
		"a program of the engine's folder only": {
			func(t *testing.T, a *Attempt) {
				writeProgram(t, filepath.Join(a.Scratch, "tool"), "#!/bin/sh\n", 0o700)
				t.Chdir(a.Scratch)
				t.Cleanup(func() { os.Remove(filepath.Join(a.Scratch, "tool")) })
			},
			Command{Argv: []string{"./tool"}}, []string{`program "./tool" does not exist in "`, "/tasks", "correct its path"},
		},
		"a path through a file": {
			func(t *testing.T, a *Attempt) { writeProgram(t, filepath.Join(a.Dir, "f"), "", 0o600) },
			Command{Argv: []string{"f/x"}}, []string{`program "f/x" could not be started: not a directory`},
		},
		"a missing working folder": {
			func(_ *testing.T, a *Attempt) { a.Dir += "/none" }, sh("true"),
			[]string{`/tasks/none" does not exist`, "create it", `"workdir"`},
		},
		"a file as working folder": {
			func(t *testing.T, a *Attempt) {
				a.Dir += "/file"
				writeProgram(t, a.Dir, "", 0o600)
			}, sh("true"),
			[]string{`/tasks/file" is not a folder`},
		},
		"a working folder below a file": {
			func(t *testing.T, a *Attempt) {
				writeProgram(t, a.Dir+"/file", "", 0o600)
				a.Dir += "/file/below"
			}, sh("true"),
			[]string{`/tasks/file/below" cannot be used`, "not a directory"},
		},
		"a relative working folder": {
			func(_ *testing.T, a *Attempt) { a.Dir = "no/such" }, sh("true"),
			[]string{`"no/such" is not an absolute path`},
		},
		"a file without the right to execute it": {
			func(t *testing.T, a *Attempt) { writeProgram(t, filepath.Join(a.Dir, "x.sh"), "#!/bin/sh\n", 0o600) },
			Command{Argv: []string{"./x.sh"}}, []string{`program "./x.sh" may not be executed`, "chmod +x"},
		},
		"a folder as program": {nil, Command{Argv: []string{"/"}}, []string{`program "/" may not be executed`}},
		"only files in PATH that may not be executed": {
			func(t *testing.T, a *Attempt) {
				writeProgram(t, filepath.Join(a.Dir, "bin", "tool"), "", 0o600)
				a.Env = []string{"PATH=bin"}
			},
			Command{Argv: []string{"tool"}}, []string{`program "tool" may not be executed`},
		},
		"no first line that names an interpreter": {
			func(t *testing.T, a *Attempt) { writeProgram(t, filepath.Join(a.Dir, "x"), "echo x\n", 0o700) },
			Command{Argv: []string{"./x"}}, []string{`program "./x" is neither`, `"#!" line`},
		},
		"an interpreter that is missing": {
			func(t *testing.T, a *Attempt) {
				writeProgram(t, filepath.Join(a.Dir, "x"), "#!/bin/sh\r\necho\r\n", 0o700)
			},
			Command{Argv: []string{"./x"}}, []string{`program "./x" asks`, `"/bin/sh\r"`, "line end"},
		},
		"a shell that is missing": {
			nil, Script{Shell: []string{"no-such-shell", "-x"}, Text: "true"}, []string{`program "no-such-shell" is not in PATH`},
		},
		"an argument that is too large": {
			nil, Command{Argv: []string{"echo", strings.Repeat("x", big)}}, []string{"argument 1 has 200 KiB", "128", "file"},
		},
		"a variable that is too large": {
			func(_ *testing.T, a *Attempt) { a.Env = append(a.Env, "BIG="+strings.Repeat("x", big)) }, sh("true"),
			[]string{`variable "BIG" has 200 KiB`, "128", "file"},
		},
		"too many arguments": {
			nil, Command{Argv: append([]string{"echo"}, strings.Fields(strings.Repeat(strings.Repeat("x", 1000)+" ", 9000))...)},
			[]string{"arguments and environment have 8798 KiB together", "more than the system takes"},
		},
		"a zero byte in an argument": {
			nil, Command{Argv: []string{"echo", "a\x00b"}}, []string{"argument 1 holds a zero byte", "remove it"},
		},
		"a zero byte in a script": {nil, sh("echo \x00"), []string{"argument 4 holds a zero byte"}},
		"a zero byte in a variable": {
			func(_ *testing.T, a *Attempt) { a.Env = append(a.Env, "BAD=a\x00b") }, sh("true"),
			[]string{`variable "BAD" holds a zero byte`},
		},
		"a scratch folder that is a file": {
			func(t *testing.T, a *Attempt) {
				a.Scratch = filepath.Join(a.Dir, "file")
				writeProgram(t, a.Scratch, "", 0o600)
			},
			sh("true"), []string{"scratch folder could not be made"},
		},
		"a scratch folder that is a file, for a script file": {
			func(t *testing.T, a *Attempt) {
				a.Scratch = filepath.Join(a.Dir, "file")
				writeProgram(t, a.Scratch, "", 0o600)
			},
			Script{Shell: []string{"cat"}}, []string{"script file could not be written"},
		},
		"an output file that cannot be removed": {
			func(t *testing.T, a *Attempt) {
				inside := filepath.Join(a.outputPath(), "inside")
				writeProgram(t, inside, "", 0o600)
				t.Cleanup(func() { os.RemoveAll(a.outputPath()) })
			},
			sh("true"), []string{"AX_OUTPUT file of an earlier attempt could not be removed"},
		},
		"a function that is not registered": {nil, Call{Name: "f"}, []string{`no function "f" is registered`, "there are none"}},
	} {
		t.Run(name, func(t *testing.T) {
			a := newAttempt(t, c.action)
			if c.prepare != nil {
				c.prepare(t, &a)
			}
			wantStartError(t, execute(a), c.says...)
		})
	}
}

func TestErrorsOfTheSystemAreExplained(t *testing.T) {
	a := newAttempt(t, nil)
	writeProgram(t, filepath.Join(a.Dir, "elf"), "\x7fELF", 0o700)
	for name, c := range map[string]struct {
		err  error
		argv []string
		says string
	}{
		"no room for a process":               {syscall.EAGAIN, []string{"x"}, "no room for another process"},
		"no memory":                           {syscall.ENOMEM, []string{"x"}, "run fewer at a time"},
		"a program of another system":         {fs.ErrNotExist, []string{"./elf"}, "built for another system"},
		"an error that says nothing more":     {syscall.EIO, []string{"x"}, `program "x" could not be started: input/output error`},
		"a refusal that is not a zero byte's": {syscall.EINVAL, []string{"x"}, "invalid argument"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := a.explain(c.err, c.argv, nil); !strings.Contains(got, c.says) {
				t.Errorf("%q does not say %q", got, c.says)
			}
		})
	}
}

func TestAFolderThatMayNotBeEnteredIsNamed(t *testing.T) {
	if os.Getuid() == 0 {
		t.Skip("root may enter every folder")
	}
	a := newAttempt(t, sh("true"))
	if err := os.Chmod(a.Dir, 0o600); err != nil {
		t.Fatal(err)
	}
	wantStartError(t, execute(a), "may not be entered")
}
