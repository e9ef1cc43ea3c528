package lint

import (
	"fmt"
	"strings"
	"testing"
)

func TestExpressions(t *testing.T) {
	runCases(t, Options{}, []ruleCase{
		{"good ones, everywhere", `
params: {n: 1, list: "[1]", d: 2026-01-01}
env: {A: "${{ run.date }}"}
secrets: {S: {env: S}}
notify: [{url: "https://example.com/${{ run.workflow }}"}]
tasks:
  a: {run: 'echo ${{ params.n }} "${{ secrets.S }}"', env: {B: "${{ env.A }}"}}
  b: {command: [echo, "${{ tasks.a.outputs.rows }}"], when: 'tasks.a.exit_code == 0', depends_on: a}
  c: {run: 'echo ${{ item }} ${{ index }}', foreach: json(params.list)}
  d: {run: 'true', retry: {max: 1, if: 'tasks.d.exit_code == 75'}}
  e: {http: {url: "https://example.com/${{ params.d }}", body: "${{ run.id }}", headers: {X: "${{ run.trigger }}"}}}
  f: {sql: {db: "sqlite:${{ params.n }}.db", query: select 1, params: {a: "${{ params.n }}"}}}
  g: {call: load, with: {rows: ["${{ params.n }}"], one: "${{ params.n }}"}}
  h: {wait_for: {file: "/x/${{ run.date }}"}}
  i: {run: "true", workdir: "/x/${{ params.n }}"}
`, nil},
		{"and bad ones", `
env: {A: "${{ nothing }}"}
notify: [{url: "https://example.com/${{ tasks.a.state }}"}]
tasks:
  a: {run: 'echo ${{ params.n }}', env: {B: "x ${{ env. }}"}}
  b: {command: [echo, "${{ tasks.c.state }}"], when: 'tasks.a.exit_code'}
  c: {run: 'echo ${{ item }}', foreach: '1'}
  d: {run: 'true', retry: {max: 1, if: '"yes"'}}
  e: {http: {url: "https://example.com/${{ run.dat }}", body: "${{ 1 + \"a\" }}", headers: {X: "${{ secrets.S }}"}}}
  f: {sql: {db: "sqlite:${{ x }}.db", query: select 1, params: {a: "${{ y }}"}}}
  g: {call: load, with: {rows: ["${{ params.n }}"], one: "é ${{ params.n }}"}}
  h: {wait_for: {file: "/x/${{ tasks.h.state }}"}}
`, []string{
			"2:15 unknown-reference",
			"3:41 unknown-reference",
			"5:22 unknown-reference", "5:57 bad-expression",
			"6:28 not-upstream", "6:55 not-upstream",
			"7:42 bad-expression",
			"8:41 bad-expression",
			"9:44 unknown-reference", "9:68 bad-expression", "9:101 unknown-reference",
			"10:29 unknown-reference", "10:73 unknown-reference",
			"11:32 unknown-reference", "11:65 unknown-reference",
			"12:32 not-upstream",
		}},
		{"ones that YAML cuts off at what it takes for a comment", `
params: {l: "[1]"}
tasks:
  a: {run: "true"}
  b:
    run: "true"
    depends_on: a
    when: count(json(params.l), # != 1) > 1
  c:
    run: "true"
    depends_on: a
    when: count(json(params.l), # note
  d: {run: "true", env: {A: "${{ env.B }}"}}
  e:
    run: echo ${{ count(json(params.l), # != 1) }}
env:
  B: ${{ count(json(params.l), # != 1) }}
`, []string{"8:33 bad-expression", "12:32 bad-expression", "15:41 bad-expression", "17:32 bad-expression"}},
		{"places of a script where no value can stand", `
params: {n: 1}
tasks:
  a:
    run: |
      echo 'a ${{ params.n }}'
      echo "${{ params.n }}"
  b: {run: 'print(${{ params.n }})', shell: python3}
`, []string{"6:15 bad-expression", "8:19 bad-expression"}},
		{"a script that is no shell says so once", `
params: {n: 1}
tasks:
  a: {run: 'echo ${{ params.n }}; fi'}
`, []string{"4:35 shell-syntax"}},
		{"in a graph with errors every task may be asked", `
tasks:
  a: {run: 'echo ${{ tasks.b.state }}', depends_on: c}
  b: {run: "true"}
`, []string{"3:53 unknown-task"}},
	})
}

func TestNotUpstream(t *testing.T) {
	runCases(t, Options{}, []ruleCase{
		{"over several tasks", `
tasks:
  a: {run: "true"}
  b: {run: "true", depends_on: a}
  c: {run: 'echo ${{ tasks.a.state }}', depends_on: b}
`, nil},
		{"a task that may have been skipped early has not waited", `
tasks:
  a: {run: "true"}
  x: {run: "true"}
  b: {run: "true", depends_on: [a, x]}
  c: {run: 'echo ${{ tasks.b.state }} ${{ tasks.a.state }}', depends_on: {b: finished}}
`, []string{"6:43 not-upstream"}},
		{"a failed one has", `
tasks:
  a: {run: "true"}
  b: {run: "true", depends_on: a}
  c: {run: 'echo ${{ tasks.a.state }}', depends_on: {b: [failed, succeeded]}}
`, nil},
		{"one of several is enough, so none is sure", `
tasks:
  a: {run: "true"}
  b: {run: "true", depends_on: a}
  c: {run: "true", depends_on: a}
  d: {run: 'echo ${{ tasks.a.state }} ${{ tasks.b.state }}', depends_on: [b, c], join: any}
`, []string{"6:43 not-upstream"}},
		{"a handler of one task, and of several", `
tasks:
  a: {run: "true"}
  b: {run: "true", depends_on: a, on_failure: [one, both]}
  c: {run: "true", depends_on: a, on_failure: both}
  one: {run: 'echo ${{ tasks.a.state }} ${{ tasks.b.error }}'}
  both: {run: 'echo ${{ tasks.a.state }} ${{ tasks.b.error }}'}
`, []string{"7:46 not-upstream"}},
		{"a handler of the workflow comes after all else", `
on_finish: tidy
tasks:
  tidy: {run: 'echo ${{ tasks.a.state }}', on_failure: page}
  page: {run: 'echo ${{ tasks.tidy.error }} ${{ tasks.a.state }}'}
  a: {run: "true"}
`, nil},
		{"what its own condition skips has waited", `
tasks:
  count: {run: "true"}
  load: {run: "true", when: tasks.count.outputs.rows > "0", depends_on: count}
  report: {run: 'echo ${{ tasks.count.outputs.rows }}', depends_on: {load: [succeeded, skipped]}}
`, nil},
		{"unless another upstream skips it before", `
tasks:
  count: {run: "true"}
  other: {run: "true"}
  load: {run: "true", when: tasks.count.outputs.rows > "0", depends_on: [count, other]}
  report: {run: 'echo ${{ tasks.count.outputs.rows }}', depends_on: {load: [succeeded, skipped]}}
`, []string{"6:27 not-upstream"}},
		{"but not after the other handlers", `
on_finish: [tidy, mail]
tasks:
  a: {run: "true"}
  tidy: {run: "true"}
  mail: {run: 'echo ${{ tasks.tidy.state }}'}
`, []string{"6:25 not-upstream"}},
	})
}

func TestAConditionIsAskedBeforeThereAreItems(t *testing.T) {
	runCases(t, Options{}, []ruleCase{
		{"in the condition of a foreach", `
tasks:
  a: {run: 'echo ${{ item }}', foreach: [x, y], when: item == "x" && index < 1}
`, []string{"3:55 unknown-reference", "3:70 unknown-reference"}},
		{"while its other keys have them", `
tasks:
  a: {run: 'echo ${{ item }}', foreach: [x, y], when: params.on, retry: {max: 1, if: item == "x"}}
params: {on: true}
`, nil},
	})
}

func TestManyFaultsEndTheSearch(t *testing.T) {
	var b strings.Builder
	b.WriteString("tasks:\n")
	const n = 6000
	for i := range n {
		fmt.Fprintf(&b, "  t%d: {command: [\"${{ tasks.unknown_%d.state }}\"]}\n", i, i)
	}
	got := check(b.String(), Options{})
	if len(got) == 0 || len(got) > n/10 {
		t.Errorf("%d diagnostics", len(got))
	}
}

func TestAnExpressionWithoutItsDollarSign(t *testing.T) {
	for _, c := range []struct{ script, want string }{
		{"echo {{ params.n }}", "altered-script {{ params.n }}"},
		{"echo \"{{params.n}}\" {{ params.n }}", "altered-script {{params.n}}"},
		{"echo ${{ params.n }}", ""},
		{"echo {{ params.other }} {{ .params.n }} {{ item }}", ""},
		{"echo {{{ params.n }}}", ""},
		{"echo {{ .Names }}", ""},
	} {
		text := "params: {n: 1}\nenv: {N: '${{ params.n }}'}\n" + inScript(c.script)
		if got := marked(t, text); got != c.want {
			t.Errorf("%s: got %q, want %q", c.script, got, c.want)
		}
	}
}
