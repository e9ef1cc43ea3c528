package lint

import (
	"strings"
	"testing"
)

func asRun(text string) string { return "timeout: 1h\ntasks:\n  t:\n    run: " + text + "\n" }

func folded(lines string) string {
	return asRun(">-\n      " + strings.ReplaceAll(lines, "\n", "\n      "))
}

func TestLinesThatAreJoinedToOtherCommands(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"behind cd", folded("cd inbox\n./load.sh --all"), "altered-script ./load.sh --all"},
		{"behind set", folded("set -eu\nmake all"), "altered-script make all"},
		{"behind export", folded("export A=b\n./load.sh"), "altered-script ./load.sh"},
		{"behind sleep", folded("sleep 5\n./load.sh"), "altered-script ./load.sh"},
		{"behind something said", folded("echo start\ncurl -sf http://h > f\necho done"), "altered-script curl -sf http://h"},
		{"one program after another", folded("python3 -m a\npython3 -m b"), "altered-script python3 -m b"},
		{"without quotes around it", asRun("cd inbox\n      ./load.sh"), "altered-script ./load.sh"},
		{"in double quotes", asRun("\"cd inbox\n      ./load.sh\""), "altered-script ./load.sh"},
		{"in single quotes", asRun("'cd inbox\n      ./load.sh'"), "altered-script ./load.sh"},
		{"in bash", folded("cd inbox\n./load.sh") + "    shell: bash\n", "altered-script ./load.sh"},
		{"a comment that reaches to the end", folded("make all\n# then load\n./load.sh"), "altered-script # then load\n      ./load.sh"},
		{"a comment at the end of a line", folded("make all; # first\n./load.sh"), "altered-script # first\n      ./load.sh"},
		{"a backslash at the end of a line", folded("make \\\nall"), "altered-script \\"},
		{"the first of several", folded("cd a\nmake\n# note\n./load.sh"), "altered-script make"},

		{"an if", folded("if true\nthen make\nfi"), "shell-syntax then make"},
		{"a loop", folded("for i in 1 2; do\n  make\ndone\nmake"), "shell-syntax make"},
		{"a here-document", folded("cat <<END\na\nEND"), "shell-syntax a"},
	} {
		if got := marked(t, c.text); !strings.HasPrefix(got, c.want) {
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
	}
}

func TestLinesThatAreMeantToBeJoined(t *testing.T) {
	for name, text := range map[string]string{
		"one long command":                folded("docker run --rm\n-v /a:/b\nimage python3 x.py"),
		"arguments that are commands":     folded("timeout 5\ncurl -sf http://h"),
		"a package with a program's name": folded("apt-get install -y\ncurl\npython3 wget"),
		"joined by operators":             folded("cd inbox &&\nmake all &&\n./load.sh"),
		"ended by semicolons":             folded("cd inbox;\nset -eu;\nmake all"),
		"a long text":                     folded("echo one two\nthree four"),
		"files that are removed":          folded("rm -f\n./a ./b\n./c"),
		"variables":                       folded("export A=b\nC=d\nE"),
		"options of set":                  folded("set -e\n-u"),
		"lines with one between them":     folded("cd inbox\n\n./load.sh"),
		"a comment at the end":            folded("make\nall # that is all"),
		"a text in quotes":                folded("printf '%s' 'a \\\n# b\ncurl c'"),
		"without quotes around it":        asRun("make all\n      --jobs 2"),
		"a backslash that YAML reads":     asRun("\"make \\\n      all\""),
		"a literal block":                 asRun("|\n      cd inbox\n      make # a\n      cp \\\n        a b"),
		"another language":                folded("cd inbox\nmake") + "    shell: zsh\n",
	} {
		if got := marked(t, text); got != "" {
			t.Errorf("%s: got %q", name, got)
		}
	}
}

func TestTextThatYAMLTakesForAComment(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"in double quotes of the script", asRun(`echo "a #1"`), `shell-syntax #1"`},
		{"in single quotes of the script", asRun(`grep -c '^ #' f`), `shell-syntax #' f`},
		{"with a comment behind it", asRun(`echo "a #1" # note`), `shell-syntax #1" # note`},
		{"in another language", asRun(`print("a #1")`) + "    shell: python3\n", `altered-script #1")`},
		{"a comment", asRun(`echo a # b`), ""},
		{"a comment with an apostrophe", asRun(`echo a # don't`), ""},
		{"a comment in another language", asRun(`print("a") # don't`) + "    shell: python3\n", ""},
		{"a quote that is open all the same", asRun(`echo "a #b`), `shell-syntax "a`},
		{"in quotes of YAML", asRun(`'echo "a #1"'`), ""},
		{"in a block", asRun("|\n      echo \"a #1\""), ""},
		{"no blank before it", asRun(`echo "a#1"`), ""},
	} {
		if got := marked(t, c.text); got != c.want {
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
	}
}

func TestALineThatBeginsWithAnOption(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"in a literal block", asRun("|\n      curl -sf http://h\n        -o f"), "shell-syntax -o"},
		{"deeper in a folded block", asRun(">\n      curl -sf http://h\n        -o f"), "shell-syntax -o"},
		{"behind a backslash", asRun("|\n      curl -sf http://h \\\n        -o f"), ""},
		{"joined", folded("curl -sf http://h\n-o f"), ""},
		{"in a here-document", asRun("|\n      cat <<END\n      - a\n      END"), ""},
	} {
		if got := marked(t, c.text); got != c.want {
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
	}
}

func TestLinesOfPythonThatAreJoined(t *testing.T) {
	python := "    shell: python3\n"
	for _, c := range []struct{ name, text, want string }{
		{"two statements", folded("import sys\nprint(sys.path)\nprint(1)") + python, "altered-script print(sys.path)"},
		{"without a mark", asRun("x = 1\n      print(x)") + python, "altered-script print(x)"},
		{"in double quotes", asRun("\"x = 1\n      print(x)\"") + python, "altered-script print(x)"},
		{"another python", folded("x = 1\nprint(x)") + "    shell: [/usr/bin/python3.12, -u]\n", "altered-script print(x)"},
		{"a comment that reaches on", folded("x = 1; # one\nprint(x)") + python, "altered-script print(x)"},
		{"a call over several lines", folded("print(\n'a',\n'b')") + python, ""},
		{"a text over several lines", folded("print(\"\"\"a\nb\"\"\")") + python, ""},
		{"statements with semicolons", folded("import sys;\nprint(sys.path)") + python, ""},
		{"a condition", folded("x = 1 if a\nelse 2") + python, ""},
		{"a block on its line", folded("for x in y:\nprint(x)") + python, ""},
		{"lines with one between them", folded("x = 1\n\nprint(x)") + python, ""},
		{"a literal block", asRun("|\n      x = 1 # one\n      print(x)") + python, ""},
		{"another language", folded("x = 1\nputs x") + "    shell: ruby\n", ""},
	} {
		if got := marked(t, c.text); got != c.want {
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
	}
}
