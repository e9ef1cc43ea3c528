package lint

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// sound is a file in which nothing is wrong, with some of everything.
const sound = `name: nightly
description: the orders of yesterday
cron: "30 2 * * *"
timezone: UTC
catchup: latest
jitter: 30s
max_active: 2
overlap: queue
params:
  region: {type: string, choices: [cn, us], default: cn}
  count: {type: int, default: 3, min: 1}
  day: {type: date, default: 2026-01-01}
env:
  MODE: fast
secrets:
  TOKEN: {env: TOKEN}
defaults:
  timeout: 10m
  recovery: rerun
on_finish: tidy
retention: {runs: 10}
notify:
  - {url: "https://hooks.example.com/x", on: [failed]}
tasks:
  extract:
    run: ./extract.sh ${{ params.region }}
    retry: {max: 2, delay: 5s}
    on_failure: page
  count:
    command: [wc, -l, "${{ params.count }}"]
    depends_on: extract
    workdir: /tmp
  clean:
    depends_on: [extract]
    run: |
      echo one
      echo ${{ tasks.extract.outputs.rows }}
  load:
    depends_on: {clean: succeeded, count: finished}
    sql: {db: "sqlite:x.db", query: select 1}
    timeout: 5m
  maybe:
    depends_on: load
    when: params.count > 2 and tasks.load.state == "succeeded"
    run: echo maybe
  skipped:
    depends_on: {maybe: skipped}
    run: echo ${{ params.day }}
  ask:
    http: {method: POST, url: "https://example.com/${{ run.id }}", expect: [200]}
    allow_failure: true
  each:
    foreach: [a, b]
    run: echo ${{ item }} ${{ secrets.TOKEN }}
    env: {PART: "${{ index }}"}
  wait:
    wait_for: {file: /data/ready, poll: 10s}
    depends_on: ask
    priority: 3
  page:
    http: {url: "https://hooks.example.com/page", body: "${{ run.workflow }}"}
  tidy:
    run: rm -f x.db
`

// plant is one mistake: a piece of sound, what takes its place, and the rule
// that it breaks. The diagnostic is to be in the first line of the piece, or
// so many below it.
type plant struct {
	from, to, rule string
	below          int
}

// together tells whether both of two mistakes are told when they are made in
// one file. What cannot be known without the other is left aside.
func together(a, b plant) bool {
	for _, p := range [][2]plant{{a, b}, {b, a}} {
		one, other := p[0], p[1]
		switch {
		case one.rule == "never-runs" && strings.Contains(other.from, "allow_failure"), // whether it is
			strings.HasPrefix(one.from, "params.count >") && strings.HasPrefix(other.from, "type: int"),
			one.rule == "not-upstream" && strings.Contains(other.from, "depends_on: [extract]"),
			// A task that nothing is like may be the one that another's id was given to.
			one.to == "  ask:\x00" && other.rule == "unknown-task" && strings.Contains(other.from, "on_failure: page"):
			return false
		}
	}
	return true
}

var plants = []plant{
	// Keys.
	{"description: the", "descripton: the", "unknown-key", 0},
	{"catchup: latest", "backfill: latest", "unknown-key", 0},
	{"jitter: 30s", "max-jitter: 30s", "unknown-key", 0},
	{"overlap: queue", "colour: red", "unknown-key", 0},
	{"retention: {runs: 10}", "retention: {runs: 10, runs: 11}", "duplicate-key", 0},
	{"  recovery: rerun", "  recovery: rerun\x00  recover: rerun", "unknown-key", 1},
	{"choices: [cn, us]", "enum: [cn, us]", "unknown-key", 0},
	{"retry: {max: 2, delay: 5s}", "retry: {max: 2, delays: 5s}", "unknown-key", 0},
	{"retry: {max: 2, delay: 5s}", "retry: {delay: 5s}", "missing-key", 0},
	{"retry: {max: 2, delay: 5s}", "retry:{max: 2}", "unknown-key", 0},
	{"    workdir: /tmp", "    working-directory: /tmp", "unknown-key", 0},
	{"    allow_failure: true", "    continue-on-error: true", "unknown-key", 0},
	{"    timeout: 5m", "    timeout-minutes: 5", "unknown-key", 0},
	{"query: select 1", "sql: select 1", "unknown-key", 0},
	{"sqlite:x.db", "x.db", "bad-value", 0},
	{"http: {method: POST, url:", "http: {method: POST, uri:", "unknown-key", 0},
	{"    foreach: [a, b]", "    matrix: [a, b]", "unknown-key", 0},
	{"    when: params", "    if: params", "unknown-key", 0},
	{"    depends_on: ask", "    needs: ask", "unknown-key", 0},
	{"    depends_on: ask", "    wxyz: ask", "unknown-key", 0},
	{"    priority: 3", "    priority: 3\x00    qwertzuiop: 1", "unknown-key", 1},
	{"    run: rm -f x.db", "    script: rm -f x.db", "unknown-key", 0},
	{"    run: rm -f x.db", "    qwertzuiop: rm -f x.db", "unknown-key", 0},
	{"    run: rm -f x.db", "    steps: [{run: rm -f x.db}]", "unknown-key", 0},
	{"    run: rm -f x.db", "    uses: actions/checkout@v4\x00    with: {a: b}", "unknown-key", 0},
	{"    run: rm -f x.db", "    shell: rm -f x.db", "bad-value", 0},
	{"    run: rm -f x.db", "    environment: {A: b}\x00    run: rm -f x.db", "unknown-key", 0},
	{"  TOKEN: {env: TOKEN}", "  TOKEN: {var: TOKEN}", "unknown-key", 0},
	{"  TOKEN: {env: TOKEN}", "  TOKEN: TOKEN", "wrong-type", 0},
	{"  tidy:\x00    run: rm -f x.db", "  tidy:{run: rm -f x.db}", "bad-name", 0},
	{"  tidy:\x00    run: rm -f x.db", "  tidy:\x00    timeout: 1m", "missing-key", 0},
	{"  tidy:\x00    run: rm -f x.db", "  tidy:\x00", "missing-key", 0},
	{"  tidy:\x00    run: rm -f x.db", "  tidy: rm -f x.db\x00", "wrong-type", 0},

	// Values.
	{"cron: \"30", "cron: \"99", "bad-cron", 0},
	{"cron: \"30 2 * * *\"", "cron: \"0 2 30 2 *\"", "never-fires", 0},
	{"timezone: UTC", "timezone: Mars/Phobos", "unknown-timezone", 0},
	{"catchup: latest", "catchup: lately", "bad-value", 0},
	{"catchup: latest", "catchup: true", "bad-value", 0},
	{"jitter: 30s", "jitter: “30s”", "bad-value", 0},
	{"max_active: 2", "max_active: two", "wrong-type", 0},
	{"  timeout: 10m", "  timeout: 10 parsecs", "bad-value", 0},
	{"  recovery: rerun", "  recovery: again", "bad-value", 0},
	{"delay: 5s", "delay: 5 parsecs", "bad-value", 0},
	{"type: int", "type: integer", "bad-value", 0},
	{"type: int", "type: [int]", "wrong-type", 0},
	{"type: int, default: 3", "type: int, default: three", "bad-value", 0},
	{"type: date, default: 2026-01-01", "type: date, default: 2026-13-01", "bad-value", 0},
	{"default: cn", "default: de", "bad-value", 0},
	{"on: [failed]", "on: [fails]", "bad-value", 0},
	{"https://hooks.example.com/x", "hooks.example.com/x", "bad-value", 0},
	{"allow_failure: true", "allow_failure: yes", "wrong-type", 0},
	{"allow_failure: true", "allow_failure: “true”", "wrong-type", 0},
	{"priority: 3", "priority: 13", "bad-value", 0},
	{"expect: [200]", "expect: 200", "wrong-type", 0},
	{"command: [wc, -l, \"${{ params.count }}\"]", "command: wc -l ${{ params.count }}", "wrong-type", 0},
	{"poll: 10s", "poll: 0", "bad-value", 0},
	{"workdir: /tmp", "workdir: ", "wrong-type", 0},
	{"    workdir: /tmp", "    workdir: ~", "wrong-type", 0},
	{"  MODE: fast", "  MODE: null", "wrong-type", 0},
	{"    run: rm -f x.db", "    run: null", "wrong-type", 0},
	{"  MODE: fast", "  9MODE: fast", "bad-name", 0},
	{"{maybe: skipped}", "{maybe: skippd}", "bad-value", 0},
	{"{maybe: skipped}", "{maybe: succeeded, maybe: skipped}", "duplicate-key", 0},

	// Names of tasks.
	{"on_failure: page", "on_failure: pager", "unknown-task", 0},
	{"on_failure: page", "on_failure: extract", "self-dependency", 0},
	{"on_failure: page", "on_failure: qwertzuiop", "unknown-task", 0},
	{"on_finish: tidy", "on_finish: tdiy", "unknown-task", 0},
	{"on_finish: tidy", "on_finish: {tidy: true}", "wrong-type", 0},
	{"depends_on: load", "depends_on: laod", "unknown-task", 0},
	{"depends_on: [extract]", "depends_on: [extract, clean]", "self-dependency", 0},
	{"depends_on: [extract]", "depends_on: [extract, extract]", "duplicate-dependency", 0},
	{"depends_on: [extract]", "depends_on: [extract, load]", "cycle", 0},
	{"depends_on: [extract]", "depends_on: [extract, {a: b}]", "wrong-type", 0},
	{"depends_on: ask", "depends_on: {ask: failed}", "never-runs", 0},
	{"depends_on: ask", "depends_on: ask\x00    cron: \"0 3 * * *\"", "bad-value", 1},
	{"  page:\x00", "  ask:\x00", "duplicate-key", 0},

	// Expressions.
	{"params.region }}", "params.regoin }}", "unknown-reference", 0},
	{"params.count }}", "param.count }}", "unknown-reference", 0},
	{"params.day }}", "params.day", "bad-expression", 0},
	{"secrets.TOKEN", "secrets.TOKN", "unknown-reference", 0},
	{"run.id", "run.idd", "unknown-reference", 0},
	{"tasks.extract.outputs.rows", "tasks.extrct.outputs.rows", "unknown-reference", 0},
	{"tasks.extract.outputs.rows", "tasks.count.outputs.rows", "not-upstream", 0},
	{"params.count > 2", "params.count > \"2\"", "bad-expression", 0},
	{"== \"succeeded\"", "== \"suceeded\"", "bad-expression", 0},
	{"echo ${{ item }}", "echo '${{ item }}'", "bad-expression", 0},
	{"\"${{ index }}\"", "\"${{ indx }}\"", "unknown-reference", 0},
	{"\"${{ run.workflow }}\"", "\"${{ item }}\"", "unknown-reference", 0},

	// Scripts.
	{"      echo one", "      if true; then echo one", "shell-syntax", 0},
	{"      echo one", "      echo \"one", "shell-syntax", 0},
	{"run: echo maybe", "run: echo maybe | | cat", "shell-syntax", 0},
	{"run: echo maybe", "run: grep maybe x.db | sort", "unseen-failure", 0},
}

// line gives where a piece of the sound file begins.
func (p plant) line(t *testing.T) int {
	t.Helper()
	from := strings.ReplaceAll(p.from, "\x00", "\n")
	if strings.Count(sound, from) != 1 {
		t.Fatalf("%q stands %d times in the sound file", from, strings.Count(sound, from))
	}
	return 1 + strings.Count(sound[:strings.Index(sound, from)], "\n")
}

// planted puts mistakes into the sound file and tells what is to be reported:
// a line for each. Mistakes that need more lines than the piece in whose place
// they stand move what is below them.
func planted(t *testing.T, some []plant) (text string, want []string) {
	t.Helper()
	some = slices.Clone(some)
	slices.SortFunc(some, func(a, b plant) int { return a.line(t) - b.line(t) })
	text = sound
	more := 0
	for _, p := range some {
		from, to := strings.ReplaceAll(p.from, "\x00", "\n"), strings.ReplaceAll(p.to, "\x00", "\n")
		want = append(want, fmt.Sprintf("%d %s", p.line(t)+more+p.below, p.rule))
		more += strings.Count(to, "\n") - strings.Count(from, "\n")
		text = strings.Replace(text, from, to, 1)
	}
	return text, want
}

// reported gives what is said about a text: line and rule.
func reported(text string) (got []string) {
	for _, d := range diagnose(text, Options{}) {
		if d.Rule != "no-timeout" && d.Rule != "redundant-dependency" {
			got = append(got, fmt.Sprintf("%d %s", d.Pos.Line, d.Rule))
		}
	}
	return got
}

func TestNothingIsWrongWithTheSoundFile(t *testing.T) {
	if got := reported(sound); len(got) > 0 {
		t.Errorf("got %q", got)
	}
}

func TestEachPlantedMistakeGivesOneDiagnosticInItsLine(t *testing.T) {
	for _, p := range plants {
		t.Run(p.to, func(t *testing.T) {
			text, want := planted(t, []plant{p})
			if got := reported(text); !slices.Equal(got, want) {
				t.Errorf("want %q, got\n%s", want, places(diagnose(text, Options{})))
			}
		})
	}
}

func TestTenPlantedMistakesGiveTenDiagnostics(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		var some []plant
		lines := map[int]bool{}
		for _, p := range rapid.Permutation(plants).Draw(r, "mistakes") {
			line := p.line(t)
			from := strings.Count(p.from, "\x00")
			free := len(some) < 10 && !lines[line] && !lines[line+from] &&
				!slices.ContainsFunc(some, func(o plant) bool { return !together(p, o) })
			if free {
				some = append(some, p)
				lines[line], lines[line+from] = true, true
			}
		}
		text, want := planted(t, some)
		if got := reported(text); !slices.Equal(got, want) {
			r.Errorf("want %q, got\n%s\nof\n%s", want, places(diagnose(text, Options{})), text)
		}
	})
}
