package lint

import "testing"

func TestTextsOfSQLAndTimesAndFixedKeys(t *testing.T) {
	runCases(t, Options{}, []ruleCase{
		{"values are bound where they can be", `
params: {n: 1, d: 2026-01-01}
tasks:
  a: {sql: {db: "sqlite:a.db", query: "select :day, ${{ params.n }} -- ${{ nothing }}", params: {day: "${{ params.d }}"}}}
  b: {wait_for: {sql: {db: "postgres://h/d", query: "select $x$ :x ? $x$, :day::date, j ? 'x' from t", params: {day: 1}}}}
`, nil},
		{"and not elsewhere", `
params: {n: 1}
tasks:
  a: {sql: {db: "sqlite:a.db", query: "select '${{ params.n }}', ?, :dya", params: {day: 1, a-b: 2}}}
  b: {sql: {db: "postgres://h/d", query: "select ${{ params.m }}, $1"}}
`, []string{
			"4:48 bad-expression", "4:66 bad-expression", "4:69 unknown-reference", "4:93 bad-name",
			"5:54 unknown-reference", "5:67 bad-expression",
		}},
		{"times to wait for", `
tasks:
  a: {wait_for: {until: "08:00"}}
  b: {wait_for: {until: "2026-01-31 8 o'clock"}}
  c: {wait_for: {until: "${{ run.date }} 08:00"}}
  d: {wait_for: {until: "2026-01-31T08:00:00+01:00"}}
`, []string{"4:25 bad-value"}},
		{"addresses of mails", `
secrets: {TO: {env: TO}}
notify:
  - {email: data.example.com}
  - {email: "data@example.com; ops@example.com"}
  - {email: "data@example.com, Ops <ops@example.com>"}
  - {email: "${{ secrets.TO }}"}
tasks:
  a: {run: "true"}
`, []string{"4:13 bad-value", "5:13 bad-value"}},
		{"keys that are the same for every run", `
params:
  a: "${{ run.date }}"
  b: {type: string, choices: ["x${{ run.date }}"]}
except: ["${{ run.date }}.txt"]
defaults: {runs_on: "${{ run.id }}"}
tasks:
  a: {run: "true", shell: [bash, "${{ run.id }}"]}
  b: {run: "true", runs_on: "gpu-${{ run.id }}"}
  c: {run: "echo ${{ params.a }} ${{ params.b }}"}
`, []string{
			"3:7 bad-expression", "4:33 bad-expression", "5:11 bad-expression", "6:22 bad-expression",
			"8:27 bad-expression", "9:34 bad-expression",
		}},
	})
}
