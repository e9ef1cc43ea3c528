package lint

import (
	"slices"
	"testing"
)

func TestASlipHidesNoMistakeThatDoesNotDependOnIt(t *testing.T) {
	runCases(t, Options{Root: diskOf()}, []ruleCase{
		{"a reference, a file, a parameter, a schedule and a script below an unknown key", `
timezone: UTC
qwertzuiop: 1
env_file: .env
params: {n: {type: int, required: true}}
cron: "0 3 * * *"
tasks:
  a: {run: "echo ${{ params.nobody }}", timout: 5m}
  b: {run: "echo ${{ tasks.a.state }} ${{ params.n }}"}
  c: {run: "if true"}
`, []string{"3:1 unknown-key", "4:11 missing-file", "6:7 missing-key", "8:22 unknown-reference", "8:41 unknown-key", "9:22 not-upstream", "10:13 shell-syntax"}},
		{"rules about edges in a graph with a cycle and an unknown name", `
tasks:
  a: {run: x, depends_on: b}
  b: {run: x, depends_on: a}
  c: {run: x, depends_on: nobody}
  d: {run: x}
  e: {run: x, depends_on: {d: skipped}}
  f: {run: 'echo ${{ tasks.d.state }}'}
`, []string{"3:27 cycle", "5:27 unknown-task", "7:28 never-runs", "8:22 not-upstream"}},
		{"a parameter that nothing uses beside one of a type that there is not", `
params: {unused: 1, n: {type: integer}}
tasks:
  a: {run: "echo ${{ params.n }}", retries: 3}
`, []string{"2:10 unused-param", "2:31 bad-value", "4:36 unknown-key"}},
		{"a file that a task with a bad timeout names", `
tasks:
  a: {command: [./nothing.sh], timeout: 5 parsecs}
`, []string{"3:17 missing-file", "3:41 bad-value"}},
		{"the parameters of another workflow's file with a mistake in it are known", `
tasks:
  a: {workflow: {name: nightly, params: {b: 1}}, timeout: x}
`, []string{"3:24 workflow-cycle", "3:42 unknown-reference", "3:59 bad-value"}},
	})
}

func TestWhatDependsOnASlipIsNotReported(t *testing.T) {
	runCases(t, Options{Root: diskOf()}, []ruleCase{
		{"not-upstream below edges that could not be read", `
tasks:
  a: {run: x}
  b: {run: "echo ${{ tasks.a.state }}", depends_on: [{}]}
  c: {run: "echo ${{ tasks.a.state }}", depends_on: b}
  d: {run: "echo ${{ tasks.a.state }}", depnds: a}
  e: {run: "echo ${{ tasks.a.state }}", depends_on: aa}
`, []string{"4:54 wrong-type", "6:41 unknown-key", "7:53 unknown-task"}},
		{"nor in what may be the handler of a misspelt name", `
tasks:
  load: {run: x, on_failure: pge}
  page: {run: "echo ${{ tasks.load.error }}"}
`, []string{"3:30 unknown-task"}},
		{"nor in what may be the handler of a name that is like none", `
tasks:
  load: {run: x, on_failure: qwertzuiop}
  page: {run: "echo ${{ tasks.load.error }}"}
`, []string{"3:30 unknown-task"}},
		{"nor in what a broken on_failure names", `
tasks:
  load: {run: x, onfailure: page}
  page: {run: "echo ${{ tasks.load.error }}"}
`, []string{"3:18 unknown-key"}},
		{"an end that an unreadable condition may bring", `
tasks:
  a: {run: x, when: [a]}
  b: {run: x, depends_on: {a: skipped}}
  c: {run: x, skip_code: 3}
  d: {run: x, depends_on: {c: skipped}}
`, []string{"3:21 wrong-type", "5:15 unknown-key"}},
		{"an item of a loop that could not be read", `
tasks:
  a: {run: "echo ${{ item }}", foreach: {itms: [a]}}
`, []string{"3:42 unknown-key"}},
		{"two schedules of which one could not be read", `
timezone: UTC
tasks:
  a: {run: x, cron: "0 1 * * *"}
  b: {run: x, cron: [{}]}
  c: {run: x, depends_on: [a, b]}
`, []string{"5:22 missing-key"}},
		{"a task that its id was taken from by another", `
tasks:
  load: {run: x}
  load: {run: x, depends_on: load}
  report: {run: "echo ${{ tasks.clean.state }}", depends_on: clean}
`, []string{"4:3 duplicate-key"}},
		{"a parameter whose use has a slip", `
params: {region: cn, count: 3}
tasks:
  a: {run: "true", when: "params.regoin == 'cn' or param.count == 3"}
`, []string{"4:27 unknown-reference", "4:52 unknown-reference"}},
		{"the worst case of a retry that could not be read", `
every: 5m
defaults: {retry: {max: 9, delay: 1h}}
tasks:
  a: {run: x, timeout: 1m, retry: {max: 2, delay: zzzz}}
`, []string{"5:51 bad-value"}},
		{"a rule that an error keeps from being tried is not gone", `
cron: "99 2 * * *" # ax-ignore: dst-gap for a reason
timezone: Europe/Berlin
tasks: {a: {run: x}}
`, []string{"2:8 bad-cron"}},
	})
}

func TestAWorkflowInAFileThatCannotBeReadIsNotUnknown(t *testing.T) {
	starts := func(name string) string { return "tasks: {t: {workflow: {name: " + name + "}}}" }
	for _, c := range []struct {
		name, other string
		want        []string
	}{
		{"its name can be read", "name: load # nightly\ntasks:\n\tx", []string{"syntax"}},
		{"its name is its file's", "tasks:\n\tx", []string{"syntax", "unknown-workflow"}},
		{"its name is no name", "name: 1load\ntasks: {t: {run: x}}", []string{"bad-name"}},
		{"it is called otherwise", "name: clean\ntasks: {t: {run: x}}", []string{"unknown-workflow"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			files := []*File{Parse("a.yaml", []byte(c.other), "", ""), Parse("b.yaml", []byte(starts("load")), "", "")}
			var got []string
			for _, d := range Check(files, Options{}) {
				if d.Rule != "no-timeout" {
					got = append(got, d.Rule)
				}
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}
