package lint

import (
	"fmt"
	"strings"
	"testing"

	"github.com/ax-scheduler/ax/dsl"
)

func TestShellSyntax(t *testing.T) {
	runCases(t, Options{}, []ruleCase{
		{"a good script", "tasks:\n  t:\n    run: |\n      for f in *; do\n        echo \"$f\"\n      done\n", nil},
		{"a quote that is never closed", "tasks:\n  t:\n    run: |\n      echo one\n      echo \"two\n", []string{"5:12 shell-syntax"}},
		{"a word that ends nothing", "tasks: {t: {run: \"true; done\"}}\n", []string{"1:25 shell-syntax"}},
		{"a here-document that goes on to the end", "tasks:\n  t:\n    run: |\n      cat <<END\n        text\n        END\n", []string{"4:11 shell-syntax"}},
		{"arrays in sh", "tasks:\n  t: {run: \"a=(1 2)\"}\n", []string{"2:15 shell-syntax"}},
		{"arrays in bash", "tasks:\n  t: {run: \"a=(1 2)\", shell: bash}\n", nil},
		{"bash by its path and with flags", "tasks:\n  t: {run: \"a=(1 2)\", shell: [/bin/bash, -e]}\n", nil},
		{"ash has some of what bash has", "tasks:\n  t: {run: \"echo ${x//a/b}\", shell: ash}\n", nil},
		{"another shell is not judged", "tasks:\n  t: {run: \"print('x')\", shell: python3}\n", nil},
		{"expressions are words", "params: {x: 1}\ntasks:\n  t: {run: 'echo ${{ params.x }} \"${{ params.x }}\"; cat < ${{ params.x }}'}\n", nil},
		{"behind an expression", "params: {x: 1}\ntasks:\n  t: {run: 'echo ${{ params.x }} )'}\n", []string{"3:34 shell-syntax"}},
		{"a subshell within a substitution is no arithmetic", "tasks:\n  t: {run: 'x=$((echo a); (echo b))'}\n", nil},
		{"keys of an associative array may have blanks", "tasks:\n  t:\n    shell: bash\n    run: |\n      declare -A a\n      a[foo bar]=1\n", nil},
		{"nothing but a comment", "tasks:\n  t: {run: '# nothing'}\n", nil},
	})
}

func TestShellSyntaxHints(t *testing.T) {
	for _, c := range []struct{ name, run, message, hint string }{
		{"another language", "#!/usr/bin/env python3\nprint('x')\n", "unexpected `(`", `set "shell: python3"`},
		{"bash", "x=${a//b/c}\n", "which bash has and sh does not", `set "shell: bash"`},
		{"a here-document", "cat <<END\n  END\n", "unclosed here-document", "stands alone in its line"},
		{"an apostrophe", "echo don't\n", "no closing quote", "escape it"},
	} {
		text := "tasks:\n  t:\n    run: |\n      " + strings.ReplaceAll(strings.TrimSuffix(c.run, "\n"), "\n", "\n      ") + "\n"
		ds := diagnose(text, Options{})
		if len(ds) == 0 || !strings.Contains(ds[0].Message, c.message) || !strings.Contains(ds[0].Hint, c.hint) {
			t.Errorf("%s: got\n%s", c.name, places(ds))
		}
	}
}

func TestAnOpenQuoteIsFoundInItsLine(t *testing.T) {
	runCases(t, Options{}, []ruleCase{
		{"lines above that from which on all is turned round", "tasks:\n  t:\n    run: |\n      echo \"a\"\n      echo \"b\n      echo \"c\"\n      echo \"d\" \"e\"\n",
			[]string{"5:12 shell-syntax"}},
		{"several lines could be meant", "tasks:\n  t:\n    run: |\n      echo \"a\n      b\"\n      echo \"b\n      echo \"c\"\n",
			[]string{"7:14 shell-syntax"}},
		{"an escaped one does not count", "tasks:\n  t:\n    run: |\n      echo \"a\\\"\"\n      echo 'b\n      echo 'c'\n",
			[]string{"5:12 shell-syntax"}},
	})
}

// The one closing parenthesis of each script is what is wrong with it; it must
// be found wherever and however the script is written.
func TestThePlaceInAScriptIsThatInTheFile(t *testing.T) {
	script := []string{"echo 'äé' \"x\"", "", "if true; then", "  echo ok", "fi", "echo ☃ )", "echo end"}
	indent := func(by string) string { return by + strings.Join(script, "\n"+by) + "\n" }
	quoted := strings.NewReplacer(`\`, `\\`, `"`, `\"`, "é", `\u00e9`, "\n", `\n`)
	texts := map[string]string{
		"literal":                     "tasks:\n  t:\n    run: |\n" + indent("      "),
		"literal, one blank":          "tasks:\n t:\n  run: |\n" + indent("   "),
		"literal, chomped":            "tasks:\n  t:\n    run: |-\n" + indent("      "),
		"literal, kept":               "tasks:\n  t:\n    run: |+\n" + indent("      ") + "\n\n",
		"literal, indentation said":   "tasks:\n  t:\n    run: |2\n" + indent("      "),
		"literal, with a comment":     "tasks:\n  t:\n    run: | # what is done\n" + indent("      "),
		"literal, anchored":           "tasks:\n  t:\n    run: &s |\n" + indent("      "),
		"literal, behind blank lines": "tasks:\n  t:\n    run: |\n\n\n" + indent("      "),
		"folded":                      "tasks:\n  t:\n    run: >\n      echo one\n      two;\n\n        echo three\n\n      echo ☃ )\n",
		"in double quotes":            "tasks:\n  t:\n    run: \"" + quoted.Replace(strings.Join(script, "\n")) + "\"\n",
		"in double quotes, folded":    "tasks:\n  t:\n    run: \"echo \\u00e9 \\\n      one\n\n      echo ☃ )\"\n",
		"in single quotes":            "tasks:\n  t:\n    run: 'echo ''a'' ☃ )'\n",
		"plain, over lines":           "tasks:\n  t:\n    run: echo one\n      two three\n      ☃ )\n",
		"within brackets":             "tasks: {t: {run: echo ☃ ), timeout: 1h}}\n",
	}
	for name, text := range texts {
		for ends, eol := range map[string]string{"LF": "\n", "CRLF": "\r\n"} {
			text := strings.ReplaceAll(text, "\n", eol)
			at := dsl.NewSource("", []byte(text)).Pos(strings.Index(text, ")"))
			want := fmt.Sprintf("%d:%d shell-syntax", at.Line, at.Col)
			if got := check(text, Options{}); len(got) != 1 || got[0] != want {
				t.Errorf("%s, %s: want %s, got\n%s", name, ends, want, places(diagnose(text, Options{})))
			}
		}
	}
}
