package expression

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/ax-scheduler/ax/dsl"
)

var shells = []struct {
	name  string
	shell Shell
	argv  []string
}{
	{"sh", Sh, []string{"sh", "-eu"}},
	{"bash", Bash, []string{"bash", "-euo", "pipefail"}},
	{"bash as sh", Sh, []string{"bash", "--posix", "-eu"}},
}

// run gives what a script prints, and whether it ended well.
func run(t testing.TB, argv []string, text string, env []string) (string, bool) {
	t.Helper()
	cmd := exec.Command(argv[0], append(slices.Clone(argv[1:]), "-c", text)...)
	cmd.Dir = t.TempDir()
	cmd.Env = append([]string{"PATH=/usr/local/bin:/usr/bin:/bin", "LC_ALL=C.UTF-8", "one=1", "two words=2"}, env...)
	var out bytes.Buffer
	cmd.Stdout = &out
	err := cmd.Run()
	if _, ended := err.(*exec.ExitError); err != nil && !ended {
		t.Fatal(err)
	}
	if found, _ := filepath.Glob(filepath.Join(cmd.Dir, "pwned*")); found != nil {
		t.Fatal("a value was executed")
	}
	return out.String(), err == nil
}

// places are all the ways in which an expression may stand in a script: ¤ is
// the expression. Each prints, by the function p, its words, and want is what
// that is with the value for ¤.
var places = []struct{ name, script, want string }{
	{"a bare word", `p ¤`, "<¤>"},
	{"one of many", `p a ¤ ¤ b`, "<a><¤><¤><b>"},
	{"a part of a word", `p a¤b`, "<a¤b>"},
	{"after a variable", `p $one¤ "$one¤"`, "<1¤><1¤>"},
	{"beside quotes", `p 'a'¤"b"`, "<a¤b>"},
	{"in double quotes", `p "¤"`, "<¤>"},
	{"in double quotes with more", `p "a $one¤$one \$ \\ ¤ b"`, `<a 1¤1 $ \ ¤ b>`},
	{"behind an escaped dollar", `p "\$¤" \$¤ '$'¤`, "<$¤><$¤><$¤>"},
	{"behind a backslash of its own", `p "\\¤" \\¤`, `<\¤><\¤>`},
	{"behind the process's number", `[ "$$¤" = "$$""$V" ] && p yes`, "<yes>"},
	{"as an assignment", "x=¤\np \"$x\"", "<¤>"},
	{"as a part of an assignment", "x=a¤b\np \"$x\"", "<a¤b>"},
	{"as an exported assignment", "export x=¤\np \"$x\"", "<¤>"},
	{"before a command", `x=¤ sh -c 'printf "<%s>" "$x"'`, "<¤>"},
	{"in an argument list", "set -- ¤ b\np \"$@\"", "<¤><b>"},
	{"in a loop", "for i in a ¤; do p \"$i\"; done", "<a><¤>"},
	{"in a command substitution", `p "$(printf %s. ¤)"`, "<¤.>"},
	{"in a quoted substitution", `p "$(printf %s. "¤")"`, "<¤.>"},
	{"in two substitutions", `p "$(p "$(p ¤).").."`, "<<<¤>.>..>"},
	{"as a default", `p "${none:-¤}" "${none-a¤b}" "${one:+¤}"`, "<¤><a¤b><¤>"},
	{"as a default outside of quotes", `p ${none:-¤} ${none-a¤b} ${one:+¤}`, "<¤><a¤b><¤>"},
	{"as a quoted default", `p ${none:-"¤"}`, "<¤>"},
	{"as a default of a default", `p "${none:-${none2:-¤}}"`, "<¤>"},
	{"in a here-document", "cat <<END\n<¤>$one\n¤\nEND", "<¤>1\n¤\n"},
	{"in a here-document with tabs", "cat <<-END\n\t<¤>\n\tEND", "<¤>\n"},
	{"as a default in a here-document", "cat <<END\n${none:-¤}\nEND", "¤\n"},
	{"in a substitution in a here-document", "cat <<END\n$(p ¤)\nEND", "<¤>\n"},
	{"as the subject of a case", `case ¤ in "$V") p yes ;; *) p no ;; esac`, "<yes>"},
	{"as a pattern of a case", `case $V in ¤) p yes ;; *) p no ;; esac`, "<yes>"},
	{"in a quoted pattern of a case", `case "x$V" in x"¤") p yes ;; *) p no ;; esac`, "<yes>"},
	{"in a test", `[ ¤ = "$V" ] && p yes`, "<yes>"},
	{"in a function", "f() { p ¤ \"$1\"; }\nf ¤", "<¤><¤>"},
	{"in a subshell", `(p ¤; { p ¤; })`, "<¤><¤>"},
	{"in a pipeline", `p ¤ | cat`, "<¤>"},
	{"in a condition", `if [ ¤ = "$V" ]; then p ¤; fi`, "<¤>"},
	{"behind a comment", "p a # '\np ¤ # it's ¤\n# ${{ nonsense } }} ¤\np b", "<a><¤><b>"},
	{"behind a line that goes on", "p \\\n¤", "<¤>"},
	{"as the name of a file", `p x >f¤; cat f¤`, "<x>"},
	{"as the name of a command", "printf '#!/bin/sh\nprintf yes' >\"c$V\"; chmod +x \"c$V\"\n./c¤", "yes"},
	{"as an argument of a script", `sh -c 'printf "<%s>" "$1"' sh ¤`, "<¤>"},
}

// inBash are those that only bash has.
var inBash = []struct{ name, script, want string }{
	{"in an array", `a=(¤ b ¤); p "${a[@]}"`, "<¤><b><¤>"},
	{"in a here-string", `cat <<< ¤`, "¤\n"},
	{"in a quoted here-string", `cat <<< "a¤"`, "a¤\n"},
	{"in a test of bash", `[[ ¤ == "$V" && "$V" == ¤ ]] && p yes`, "<yes>"},
	{"as a regular expression", `[[ $V =~ ^¤$ ]] && p yes`, "<yes>"},
	{"in a local variable", `f() { local x=¤; p "$x"; }; f`, "<¤>"},
	{"in an associative array's value", `declare -A m; m[k]=¤; p "${m[k]}"`, "<¤>"},
	{"in a process substitution", `cat <(p ¤)`, "<¤>"},
	{"in a list in braces", `p {a,¤}`, "<a><¤>"},
	{"in a loop of arithmetic", `for ((i=0; i<1; i++)); do p ¤; done`, "<¤>"},
}

const printer = `p() { printf '<%s>' "$@"; }` + "\n"

// nasty values have been the ruin of other schedulers.
var nasty = []string{"", " ", "x", "-n", "--help", "a b", "  two  spaces  ", "*", "?", "[a-z]", "~", "$HOME", "${HOME}", "$(touch pwned)",
	"`touch pwned`", "'", `"`, `a'b"c`, `\`, `\\ \n \`, "x; touch pwned", "x\ny", "x\n", "\n", "\n\n", "\t", "END\ntouch pwned", "!x &|<>(){}",
	"${{ params.v }}", "%s%n", "a=b", "#", "a[$(touch pwned)]", "{a,b}", "é✓", "\xff\xfe", "\x01\x7f", "=", "a\rb", "$", "$1", "$'x'", "}", "))", ";;", "esac"}

// anyValues are such as nobody has thought of. The slash, which no name of a file
// can have, is left out of them.
func anyValues(n int) []string {
	bits := []string{"a", " ", "\n", "\t", "'", `"`, `\`, "$", "`", "(", ")", "{", "}", "[", "]", "*", "?", "~", "!", "#", "&", ";", "|", "<", ">", "=", "-", "%", "END", "é"}
	value := rapid.OneOf(
		rapid.Map(rapid.SliceOfN(rapid.SampledFrom(bits), 1, 20), func(all []string) string { return strings.Join(all, "") }),
		rapid.Map(rapid.SliceOfN(rapid.ByteRange(1, 255), 1, 40), func(all []byte) string { return strings.ReplaceAll(string(all), "/", "") }))
	var values []string
	for i := range n {
		values = append(values, value.Example(i))
	}
	return values
}

func scriptScope() *Scope {
	wf := &dsl.Workflow{}
	for i := range 400 {
		wf.Params = append(wf.Params, param(fmt.Sprintf("v%d", i), dsl.ParamString))
	}
	return NewScope(wf)
}

// TestAValueArrivesByteForByteWhereverAnExpressionMayStand runs every place
// with every value, all values of a place in one process.
func TestAValueArrivesByteForByteWhereverAnExpressionMayStand(t *testing.T) {
	scope := scriptScope()
	every := append(slices.Clone(nasty), anyValues(60)...)
	for _, sh := range shells {
		all := places
		if sh.shell == Bash {
			all = slices.Concat(places, inBash)
		}
		for _, p := range all {
			t.Run(sh.name+"/"+p.name, func(t *testing.T) {
				t.Parallel()
				var script, want strings.Builder
				script.WriteString(printer)
				values := &Values{Params: map[string]string{}}
				var env []string
				for i, v := range every {
					name := fmt.Sprintf("v%d", i)
					values.Params[name] = v
					env = append(env, fmt.Sprintf("V%d=%s", i, v))
					one := strings.ReplaceAll(p.script, "¤", "${{ params."+name+" }}")
					one = strings.ReplaceAll(one, "$V", fmt.Sprintf("$V%d", i))
					fmt.Fprintf(&script, "%s\necho ,\n", one)
					want.WriteString(strings.ReplaceAll(p.want, "¤", v) + ",\n")
				}
				s, faults := CompileScript(sh.shell, script.String(), scope)
				if faults != nil {
					t.Fatalf("%v", faults)
				}
				vars, err := s.Env(values)
				if err != nil {
					t.Fatal(err)
				}
				got, ok := run(t, sh.argv, s.Text(), append(env, vars...))
				if got != want.String() || !ok {
					t.Fatalf("ended well: %v; printed\n%q, want\n%q", ok, got, want.String())
				}
			})
		}
	}
}

// fragment makes bits of shell from what quotes, expands and ends.
var fragment = rapid.Custom(func(t *rapid.T) string {
	bits := []string{`"`, `'`, `\`, "$", "{", "}", "(", ")", "`", "#", " ", "a", "=", "one", "$one", "${one}", "${none:-", "${one#", "$(p ", "$((", "))",
		"\n", "<<E\n", "\nE\n", ";", "|", "p ", "~", "*", "!", "[", "]", "x=", "case a in ", " esac", "¤", "¤", "¤", "¤"}
	return strings.Join(rapid.SliceOfN(rapid.SampledFrom(bits), 0, 12).Draw(t, "bits"), "")
})

// loose finds what makes a comparison useless: a substitution outside of
// quotes, which the shell splits whatever is in it, the number of the process,
// and a new function.
var loose = regexp.MustCompile(`(^|[^"])\$\(|\$\$|\(\s*\)`)

// batch runs scripts one after the other in one process, each in a subshell of
// its own, and gives what each prints.
func batch(t *testing.T, argv, scripts []string, vars [][]string) []string {
	t.Helper()
	dir := t.TempDir()
	driver := `for f in "$@"; do ( set --; . "$f" ) </dev/null 2>/dev/null; printf '\001\002'; done`
	args := append(slices.Clone(argv[1:]), "+e", "-c", driver, "sh")
	for i, text := range scripts {
		var b strings.Builder
		for _, v := range vars[i] {
			name, value, _ := strings.Cut(v, "=")
			fmt.Fprintf(&b, "export %s='%s'\n", name, strings.ReplaceAll(value, "'", `'\''`))
		}
		file := filepath.Join(dir, fmt.Sprintf("%04d.sh", i))
		if err := os.WriteFile(file, []byte("set -eu\n"+b.String()+text), 0o600); err != nil {
			t.Fatal(err)
		}
		args = append(args, file)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, argv[0], args...)
	cmd.Dir, cmd.Env = dir, []string{"PATH=/usr/local/bin:/usr/bin:/bin", "LC_ALL=C.UTF-8", "one=1"}
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	prints := strings.Split(string(out), "\x01\x02")
	if len(prints) != len(scripts)+1 {
		t.Fatalf("%d of %d scripts were run", len(prints)-1, len(scripts))
	}
	return prints
}

// TestInAnyScriptThatIsAcceptedAValueIsOnlyAValue needs no model of a shell:
// what a script prints with some value is what it prints with a harmless one,
// but for the value.
func TestInAnyScriptThatIsAcceptedAValueIsOnlyAValue(t *testing.T) {
	scope := scriptScope()
	const marker = "mARKEr"
	for _, sh := range shells {
		t.Run(sh.name, func(t *testing.T) {
			t.Parallel()
			var scripts, values []string
			var plain, tricky [][]string
			for i := 0; i < 6000 && len(scripts) < 300; i++ {
				bits := fragment.Example(i)
				if loose.MatchString(bits) {
					continue
				}
				s, faults := CompileScript(sh.shell, printer+"p "+strings.ReplaceAll(bits, "¤", "${{ params.v0 }}"), scope)
				if faults != nil || len(s.vars) == 0 {
					continue
				}
				env := func(v string) []string {
					vars, err := s.Env(&Values{Params: map[string]string{"v0": v}})
					if err != nil {
						t.Fatal(err)
					}
					return vars
				}
				value := "x" + nasty[i%len(nasty)] + "x"
				scripts, values = append(scripts, s.Text()), append(values, value)
				plain, tricky = append(plain, env(marker)), append(tricky, env(value))
			}
			if len(scripts) < 200 {
				t.Fatalf("only %d scripts were accepted", len(scripts))
			}
			before, after := batch(t, sh.argv, scripts, plain), batch(t, sh.argv, scripts, tricky)
			printed := 0
			for i, value := range values {
				if want := strings.ReplaceAll(before[i], marker, value); after[i] != want {
					t.Errorf("printed %q, want %q; script:\n%s", after[i], want, scripts[i])
				}
				if strings.Contains(before[i], marker) {
					printed++
				}
			}
			if printed < 100 {
				t.Errorf("only %d of %d scripts printed a value", printed, len(scripts))
			}
			t.Logf("%d scripts, %d printed", len(scripts), printed)
		})
	}
}
