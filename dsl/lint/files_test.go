package lint

import (
	"strings"
	"testing"
)

func TestMissingFile(t *testing.T) {
	root := diskOf("extract.sh", "", "load.py", "", "lib/common.sh", "", "sql/report.sql", "", "prod.env", "", "days.txt", "", "/usr/bin/env", "")
	runCases(t, Options{Root: root}, []ruleCase{
		{"all that the workflow names is there", `
env_file: prod.env
secrets: {A: {file: prod.env}, B: {env: B}}
except: [2026-01-01, days.txt]
tasks:
  a: {run: ./extract.sh "$AX_DATE", workdir: .}
  b: {command: [python3, -u, load.py]}
  c: {sql: {db: "sqlite:x.db", file: sql/report.sql}}
  d: {command: [/usr/bin/env]}
  e: {run: . lib/common.sh}
`, nil},
		{"nothing of it is", `
env_file: [prod.env, dev.env]
secrets: {A: {file: key.txt}}
except: [2026-01-01, day.txt]
tasks:
  a: {run: ./extrct.sh "$AX_DATE"}
  b: {command: [python3, -u, laod.py]}
  c: {sql: {db: "sqlite:x.db", file: sql/raport.sql}}
  d: {command: [/usr/bin/envv]}
  e: {run: . lib/comon.sh}
  f: {run: "true", workdir: none}
  g: {wait_for: {sql: {db: "sqlite:x.db", file: none.sql}}}
  h: {command: [./extrct.sh, x]}
`, []string{"2:22 missing-file", "3:21 missing-file", "4:22 missing-file", "6:12 missing-file", "7:30 missing-file", "8:38 missing-file",
			"9:17 missing-file", "10:14 missing-file", "11:29 missing-file", "12:49 missing-file", "13:17 missing-file"}},
		{"what is not written out is not missing", `
params: {d: x}
env_file: "${{ params.d }}.env"
tasks:
  a: {run: './${{ params.d }}.sh'}
  b: {command: ["./${{ params.d }}.sh"]}
  c: {run: ./none.sh, workdir: "${{ params.d }}"}
  d: {run: '"$HOME/none.sh"; ./none*.sh; ~/none.sh'}
  e: {run: './"$X".sh'}
`, nil},
		{"the folder is that of workdir", `
tasks:
  a: {run: ./common.sh, workdir: lib}
  b: {run: ./extract.sh, workdir: lib}
`, []string{"4:12 missing-file"}},
		{"the folder of a script has a slip, behind another task", `
tasks:
  a: {run: "true"}
  b: {depends_on: a, run: psql -f sqls/report.sql}
  c: {depends_on: a, run: psql -f sqls/other.sql}
  d: {depends_on: a, run: cat < sqls/report.sql}
`, []string{"4:35 missing-file"}},
		{"a program in PATH is not looked for", `
tasks:
  a: {run: none.sh}
  b: {command: [none, x]}
`, nil},
		{"an absolute folder that this machine does not have", `
secrets: {A: {file: /run/secrets/a}}
tasks:
  a: {command: [/opt/none/bin/load]}
`, nil},
		{"a machine that is chosen by a label", `
tasks:
  a: {run: ./none.sh, runs_on: gpu}
`, nil},
		{"what a task before it may make", `
tasks:
  build: {run: make}
  use: {run: ./tool, depends_on: build}
  script: {run: dist/run.sh, depends_on: build}
  folder: {run: "true", workdir: dist, depends_on: build}
`, nil},
		{"a script that somebody wrote is there from the beginning", `
tasks:
  build: {run: make}
  use: {run: ./none.sh, depends_on: build}
`, []string{"4:14 missing-file"}},
		{"what the script makes, or asks for", `
tasks:
  a: {run: "curl -o x.sh u; sh ./x.sh"}
  b: {run: "make; ./none.sh"}
  c: {run: "cd lib; ./none.sh"}
  d: {run: "[ -x ./none.sh ] && ./none.sh"}
  e: {run: "if true; then ./none.sh; fi"}
  f: {run: "./none.sh || true"}
  g: {run: "echo > none.sh; ./none.sh"}
`, nil},
		{"behind what only says something, or other scripts", `
tasks:
  a:
    run: |
      echo start
      A=1 ./extract.sh
      ./none.sh | tee log
      ./never.sh
`, []string{"7:7 unseen-failure", "7:7 missing-file", "8:7 missing-file"}},
		{"scripts in lists, pipes and behind commands that make nothing", `
tasks:
  a:
    run: |
      ps aux | grep -c x
      mkdir -p out && ./none1.sh && ./none2.sh
      exec nice ./none3.sh
  b: {run: "./extract.sh > out.txt || exit 1; sh none4; python3 none5 -v"}
  c: {run: "cat days.txt | ./none6.sh | wc -l", shell: bash}
  d: {run: "if true; then sleep 1; fi; f() { echo; }; f; ./none7.sh"}
`, []string{"6:23 missing-file", "6:37 missing-file", "7:17 missing-file", "9:28 missing-file", "10:58 missing-file"}},
		{"what an interpreter completes or looks for is not missing", `
tasks:
  a: {run: node server}
  b: {run: bash none}
  c: {run: perl -I lib none}
  d: {run: bash -o pipefail none.sh}
  e: {run: python3 -W ignore none.py}
`, nil},
		{"an interpreter that takes the name as it is", `
tasks:
  a: {run: sh none}
  b: {run: python3 -u none}
  c: {run: bash lib/none}
`, []string{"3:15 missing-file", "4:23 missing-file", "5:17 missing-file"}},
		{"programs that are told a file", `
tasks:
  a: {run: "awk -F, -f none.awk days.txt"}
  b: {run: "sed -n -f none.sed days.txt"}
  c: {run: 'psql "$DB" -v x=1 -f sql/none.sql'}
  d: {command: [psql, --file, sql/none2.sql]}
  e: {run: "psql -f sql/report.sql"}
  f: {run: "psql -f - < sql/none3.sql"}
`, []string{"3:24 missing-file", "4:23 missing-file", "5:34 missing-file", "6:31 missing-file", "8:25 missing-file"}},
		{"a file that is read", `
tasks:
  a: {run: "sqlite3 x.db < sql/none.sql"}
  b: {run: "while read -r x; do echo \"$x\"; done < none.txt"}
  c: {run: "sort < days.txt"}
`, []string{"3:28 missing-file", "4:53 missing-file"}},
		{"a file that is read, but may come from elsewhere", `
tasks:
  other: {run: "sort < state.txt"}
  maker: {run: "date > state.txt"}
  folder: {run: "sort < data/in.csv"}
  machine: {run: "sort < /usr/none.csv"}
  after: {run: "sort < none1.csv", depends_on: other}
  made: {run: "./extract.sh; sort < none2.csv"}
  named: {run: 'touch "$X"; sort < none3.csv'}
  chosen: {run: 'sort < "$X".csv; sort < none*.csv'}
  program: {run: "awk -f none", depends_on: other}
`, nil},
		{"what tells a program what to do is there from the beginning", `
tasks:
  other: {run: "sort < days.txt"}
  a: {run: "awk -F, -f lib/none.awk days.txt", depends_on: other}
  b: {run: "psql --file=sql/none1.sql", depends_on: other}
  c: {run: "psql -1f sql/none2.sql", depends_on: other}
`, []string{"4:24 missing-file", "5:18 missing-file", "6:22 missing-file"}},
		{"behind programs that run others, in a subshell, and where its failure is wanted", `
tasks:
  a: {run: "env A=b C=d ./none1.sh"}
  b: {run: "timeout 5m ./none2.sh"}
  c: {run: "nice ./none3.sh"}
  d: {run: "(echo; ./none4.sh)"}
  e: {run: "! ./none5.sh"}
  f: {run: "env -i ./none6.sh; timeout 5m"}
`, []string{"3:25 missing-file", "4:24 missing-file", "5:18 missing-file", "6:20 missing-file", "7:15 missing-file"}},
		{"behind what may make anything, or go elsewhere", `
tasks:
  a: {run: "git pull; ./none.sh"}
  b: {run: "curl -sf u | tar x; ./none.sh"}
  c: {run: "pushd lib; ./none.sh", shell: bash}
  d: {run: ". lib/common.sh; ./none.sh"}
  e: {run: 'eval "$X"; ./none.sh'}
  f: {run: "x=$(make); ./none.sh"}
  g: {run: "for i in 1 2; do make; done; ./none.sh"}
  h: {run: "cp -r lib/. .; ./none.sh"}
  i: {run: 'for f in *; do cd "$f"; done; ./none.sh'}
`, []string{"4:13 unseen-failure"}},
		{"what is carried out in some cases only", `
tasks:
  a: {run: "true || ./none.sh"}
  c: {run: "./none.sh &"}
  d: {run: "(false || ./none.sh)"}
  e: {run: "while false; do ./none.sh; done"}
  f: {run: "f() { ./none.sh; }"}
`, nil},
		{"flags of an interpreter that say there is no file", `
tasks:
  a: {command: [python3, -m, none]}
  b: {command: [sh, -c, none.sh]}
  c: {command: [bash, -x, none.sh]}
  d: {run: python3 -c 'none.py'}
`, []string{"5:27 missing-file"}},
	})
}

func TestMissingFileSuggests(t *testing.T) {
	root := diskOf("extract.sh", "", "lib/common.sh", "", "x.sh", "")
	for _, c := range []struct{ run, want string }{
		{"./extrct.sh", `did you mean "./extract.sh"?`},
		{"lib/comon.sh", `did you mean "lib/common.sh"?`},
		{"libs/common.sh", `did you mean "lib/common.sh"?`},
		{"./libs/common.sh", `did you mean "lib/common.sh"?`},
		{"./a.sh", "relative paths start at /srv/workflows"}, // x.sh is there: they share no more than the end
		{"./extr\u202eact.sh", `did you mean "./extract.sh"?`},
		{"./none.sh", "relative paths start at /srv/workflows"},
		{"lib/none.sh", "relative paths start at /srv/workflows"},
		{"../none.sh", "relative paths start at /srv/workflows"},
	} {
		ds := diagnose("tasks:\n  a: {run: "+c.run+"}\n", Options{Root: root})
		if len(ds) != 1 || ds[0].Hint != c.want {
			t.Errorf("%s: want the hint %q, got\n%s", c.run, c.want, places(ds))
		} else if strings.ContainsRune(ds[0].Message, '\u202e') {
			t.Errorf("the message turns what is behind it: %s", ds[0].Message)
		}
	}
}

func TestADayWrittenOtherwiseIsToldAsADay(t *testing.T) {
	for _, c := range []struct{ entry, want string }{
		{"2026/01/01", "write 2026-01-01 if it is a day"},
		{"2026/1/1", "write 2026-01-01 if it is a day"},
		{"2026.12.31", "write 2026-12-31 if it is a day"},
		{"20261231", "write 2026-12-31 if it is a day"},
		{"2026/13/01", "relative paths start at /srv/workflows"},
		{"days.txt", "relative paths start at /srv/workflows"},
	} {
		ds := diagnose("timezone: UTC\ncron: \"@daily\"\nexcept: [\""+c.entry+"\"]\ntasks:\n  a: {run: \"true\"}\n", Options{Root: diskOf("a", "")})
		if len(ds) != 1 || ds[0].Rule != "missing-file" || ds[0].Hint != c.want {
			t.Errorf("%s: want the hint %q, got\n%s", c.entry, c.want, places(ds))
		}
	}
}

func TestWithoutAFileSystemNothingIsMissing(t *testing.T) {
	text := "env_file: none\ntasks:\n  a: {run: ./none.sh}\n"
	if got := check(text, Options{}); len(got) > 0 {
		t.Errorf("got %q", got)
	}
	f := Parse("stdin.yaml", []byte(text), "", "")
	for _, d := range Check([]*File{f}, Options{Root: diskOf()}) {
		if d.Rule == "missing-file" {
			t.Errorf("relative to nowhere: %s", d.Message)
		}
	}
}

func TestAnEnvFileThatARunWouldRefuse(t *testing.T) {
	root := diskOf("good.env", "# where\nexport A=b\n\nC='d e' # so\n", "bad.env", "A=b\nB: c\n", "open.env", "A=\"b\n")
	tasks := "tasks: {t: {run: \"true\"}}\n"
	runCases(t, Options{Root: root}, []ruleCase{
		{"lines that are read", "env_file: good.env\n" + tasks, nil},
		{"a line that is none", "env_file: [good.env, bad.env]\n" + tasks, []string{"1:22 missing-file"}},
		{"a quote that is not closed", "env_file: open.env\n" + tasks, []string{"1:11 missing-file"}},
		{"a path that is not written out", "params: {e: bad}\nenv_file: \"${{ params.e }}.env\"\n" + tasks, nil},
	})
	ds := diagnose("timeout: 1h\nenv_file: bad.env\n"+tasks, Options{Root: root})
	if len(ds) != 1 || !strings.Contains(ds[0].Message, "bad.env:2: this line is no NAME=value") || strings.Contains(ds[0].Message, "B: c") {
		t.Errorf("the line is to be named, and not shown: got\n%s", places(ds))
	}
}

func TestACallIsReportedOnlyWhereThereAreNoFunctions(t *testing.T) {
	text := "tasks: {t: {call: load}}\n"
	runCases(t, Options{}, []ruleCase{{"an engine that may have some", text, nil}})
	runCases(t, Options{NoFunctions: true}, []ruleCase{
		{"ax itself", text, []string{"1:19 missing-file"}},
		{"said to be meant", "# ax-ignore-file: missing-file ours has it\n" + text, nil},
	})
}
