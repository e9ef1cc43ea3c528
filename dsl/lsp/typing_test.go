package lsp

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"go.lsp.dev/protocol"

	"github.com/ax-scheduler/ax/dsl"
)

// keystroke makes one change, and asks at a place what an editor asks then. It
// gives what was offered.
func (f *file) keystroke(at protocol.Position, change map[string]any) (labels []string) {
	f.c.t.Helper()
	f.change(change)
	place := protocol.TextDocumentPositionParams{TextDocument: protocol.TextDocumentIdentifier{URI: f.uri}, Position: at}
	var list completions
	f.c.call(protocol.MethodTextDocumentCompletion, place, &list)
	for _, item := range list.Items {
		labels = append(labels, item.Label)
	}
	f.c.call(protocol.MethodTextDocumentHover, place, nil)
	f.c.call(protocol.MethodTextDocumentDefinition, place, nil)
	return labels
}

// errors waits until the server has been quiet, and gives the errors.
func (f *file) errors() (all []protocol.Diagnostic) {
	f.c.t.Helper()
	for _, d := range f.diagnostics() {
		from, to := offsetAt([]byte(f.text), d.Range.Start), offsetAt([]byte(f.text), d.Range.End)
		if place16(f.text, from) != d.Range.Start || place16(f.text, to) != d.Range.End || from > to {
			f.c.t.Fatalf("%v is no part of the text", d.Range)
		}
		if d.Severity == protocol.DiagnosticSeverityError {
			all = append(all, d)
		}
	}
	return all
}

// everyday has what is written every day, in brackets and in lines. None of
// the names in it is a key of the language.
const everyday = `# Täglich 🚀
name: everyday
tags: [nightly, "a b"]
cron:
  - "30 2 * * *"
  - {cron: "@hourly", timezone: Asia/Tokyo, params: {region: us}}
timezone: Asia/Shanghai
params:
  region: {type: string, choices: [cn, us], default: cn, description: 世界}
  size: {type: int, default: 10, min: 1}
env: {MODE: 0640, COUNTRY: no}
secrets:
  TOKEN: {env: API_TOKEN}
defaults:
  timeout: 10m
  retry: 2
max_active: 2
on_failure: page
notify:
  - url: https://hooks.example.com/x
    on: [failed, recovered]
  - {email: team@example.com, on: failed}
tasks:
  extract:
    description: "Pulls é."
    env: {A: b}
    run: |
      ./extract.sh "$AX_DATE" ${{ params.region }}
      echo "🚀 $TOKEN $MODE ${{ params.size }}"
    retry:
      max: 3
      backoff: exponential
    success_codes: [0, 3]
  load:
    depends_on: {extract: [succeeded, skipped]}
    join: any
    when: params.size > 5 && tasks.extract.state == 'succeeded'
    sql: {db: "sqlite:x.db", query: "select 1"}
    pool: {name: db, slots: 2, busy: skip}
  regions:
    depends_on: [load]
    foreach: {items: [cn, us], max_parallel: 2}
    command: [./report, "${{ item }}"]
    allow_failure: true
  hold:
    depends_on:
      - load
      - regions
    wait_for: {until: "18:00", poll: 1m}
  page:
    http: {method: POST, url: "https://hooks.example.com/page", body: "${{ run.workflow }}", expect: [200, 202]}
`

// nextKey is a key about to be typed.
var nextKey = regexp.MustCompile(`^([a-z_]+):(?: |\n)`)

// Whoever types a file is offered each key of the language before its first
// letter, and what is wrong meanwhile is what is being typed, or to come.
func TestAFileThatIsTypedCharacterByCharacter(t *testing.T) {
	var keys []string
	for _, names := range dsl.Keys() {
		keys = append(keys, names...)
	}
	session(t, nil, func(c *client) {
		f := c.open("workflows/a.yaml", "")
		for i, r := range everyday {
			at := place16(f.text, len(f.text))
			f.text += string(r)
			offered := f.keystroke(place16(f.text, len(f.text)), map[string]any{"range": protocol.Range{Start: at, End: at}, "text": string(r)})
			next := nextKey.FindStringSubmatch(everyday[len(f.text):])
			if next != nil && strings.ContainsRune(" {\n", r) && slices.Contains(keys, next[1]) && !slices.Contains(offered, next[1]) {
				t.Errorf("behind %q there is no offer of %q", f.text[max(0, i-40):], next[1])
			}
			if i%10 == 0 || strings.ContainsRune("[{:", r) {
				f.onlyTheLastLineIsWrong()
			}
		}
		if errs := f.errors(); len(errs) > 0 {
			t.Errorf("at the end the server says %v", errs)
		}
	})
}

// onlyTheLastLineIsWrong checks that errors are about what was typed last, or
// about the key above it, but for those about something still to be written.
func (f *file) onlyTheLastLineIsWrong() {
	f.c.t.Helper()
	last := strings.Count(strings.TrimRight(f.text, " \n"), "\n")
	for _, d := range f.errors() {
		toCome := d.Code == "missing-key" || d.Code == "unknown-task"
		if !toCome && int(d.Range.Start.Line) < last-2 {
			f.c.t.Errorf("behind %q line %d is %v", f.text[max(0, len(f.text)-40):], d.Range.Start.Line+1, d.Message)
		}
	}
}

func TestAFileThatIsErasedFromItsBeginning(t *testing.T) {
	session(t, nil, func(c *client) {
		f := c.open("workflows/a.yaml", everyday)
		for i, r := range everyday {
			f.text = everyday[i+len(string(r)):]
			f.keystroke(protocol.Position{}, map[string]any{"range": protocol.Range{End: place16(string(r), len(string(r)))}, "text": ""})
			if i%10 == 0 {
				f.errors()
			}
		}
	})
}

// What is half written, with the offer that must be among those at its end.
func TestHalfAThoughtIsCompleted(t *testing.T) {
	head := "params: {region: cn}\ntasks:\n  load: {run: x, timeout: 1m}\n  check: {run: x, timeout: 1m}\n  x:\n    run: x\n"
	for text, want := range map[string]string{
		"    depends_on: [":                    "load",
		"    depends_on: [load, ":              "check",
		"    depends_on: [load, ch":            "check",
		"    depends_on: {":                    "load",
		"    depends_on: {load: ":              "finished",
		"    depends_on: {load: [":             "skipped",
		"    depends_on:\n      - ":            "load",
		"    depends_on:\n      load: ":        "finished",
		"    on_failure: ":                     "check",
		"    retry: {":                         "max",
		"    retry: {max: 3, ba":               "backoff",
		"    retry:\n      ":                   "max",
		"    when: ":                           "tasks",
		"    when: tasks.":                     "load",
		"    when: tasks.load.":                "state",
		"    when: tasks.load.state == 'a' &&": "params",
		"    when: params.":                    "region",
		"    env: {A: \"${{":                   "params",
		"    env: {A: \"${{ params.":           "region",
		"    env:\n      A: ${{ tasks.lo":      "load",
		"    env:\n      A: 'ü😀 ${{ run.":      "date",
		"    jo":                               "join",
	} {
		t.Run(text, func(t *testing.T) {
			session(t, nil, func(c *client) {
				f := c.open("workflows/a.yaml", head)
				f.diagnostics()
				at := place16(f.text, len(f.text))
				f.text += text
				offered := f.keystroke(place16(f.text, len(f.text)), map[string]any{"range": protocol.Range{Start: at, End: at}, "text": text})
				if !slices.Contains(offered, want) {
					t.Errorf("offered are %v, not %q", offered, want)
				}
				f.onlyTheLastLineIsWrong()
			})
		})
	}
}
