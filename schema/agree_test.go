package schema

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/ax-scheduler/ax/dsl"
)

// Every key of every mapping, with every kind of value in its place.

// least is the least that a key can be given.
var least = map[string]string{
	"tasks": "{t: {run: x}}", "run": "x", "max": "1", "name": "n", "items": "[a]", "db": `"sqlite:x"`, "query": "q",
	"url": `"http://x"`, "file": "f", "cron": "x", "env": "E", "runs": "1", "call": "f",
}

// places says where a mapping stands in a file.
var places = map[string]string{
	"the workflow": "{%s}", "a task": "{tasks: {t: {%s}}}", `"defaults"`: "{tasks: {t: {run: x}}, defaults: {%s}}",
	`"retry"`: "{tasks: {t: {run: x, retry: {%s}}}}", `"pool"`: "{tasks: {t: {run: x, pool: {%s}}}}",
	`"foreach"`: "{tasks: {t: {run: x, foreach: {%s}}}}", `"sql"`: "{tasks: {t: {sql: {%s}}}}", `"http"`: "{tasks: {t: {http: {%s}}}}",
	`"workflow"`: "{tasks: {t: {workflow: {%s}}}}", `"wait_for"`: "{tasks: {t: {wait_for: {%s}}}}",
	`an entry of "cron"`: "{tasks: {t: {run: x}}, cron: [{%s}]}", "a parameter": "{tasks: {t: {run: x}}, params: {p: {%s}}}",
	"a secret": "{tasks: {t: {run: x}}, secrets: {S: {%s}}}", `"retention"`: "{tasks: {t: {run: x}}, retention: {%s}}",
	`"notify"`: "{tasks: {t: {run: x}}, notify: [{%s}]}",
}

// values of every kind, at every border.
var values = []string{
	"", "~", "null", "x", "true", "True", "TRUE", "tRUE", "false", "yes", "no", "on", `"true"`, `"True"`, `""`, `" "`, `"\n"`, `"\0"`, `"a\0"`, `"a\nb"`, "a b", "' a '", "größe", "日本",
	"0", "1", "-1", "-0", "00", "007", "010", "9", "10", "09", "0010", "99", "100", "199", "255", "256", "300", "599", "600", "2147483647", "2147483648", "3000000000", "99999999999999999999",
	"5.0", "1.5", "0.0", ".5", "5.", "-1.5", "+5", "0x10", "0o17", "1e3", "1_000", ".inf", ".nan", `"5"`, `"5.0"`, `" 5"`, "'007'",
	"5s", "10m", "1h30m", "30m1h", "2d", "500ms", "999ms", "1000ms", "0s", "0.5s", "0.0001h", "1d1h1m1s1ms", "1s1s", "-5s", "5 s", "5 minutes", "5M", "1e3s", "36500d", "36501d", "0.0000000001s", ".5s", "5.s", `"5m"`,
	"2026-01-31", "2026-02-30", "2026-02-29", "2028-02-29", "2000-02-29", "1900-02-29", "2026-13-01", "2026-1-1", `"2026-01-31"`, "2026-01-31T00:00:00Z", "12:30",
	"t", "_a-9Z", "9a", "a.b", "A_B", "a-b", "-a", `"` + strings.Repeat("a", 64) + `"`, `"` + strings.Repeat("a", 65) + `"`,
	`"${{ a }}"`, `"${{ a"`, `"${{ a }} ${{ b"`, `"${{ '}}' }}"`, `"a $ { ${ $${ { }} b"`, `"$${{ a }}"`, `"${{ } }"`, `"${{}}"`, `"}} ${{ a"`, `"${${{ a"`,
	"http://x", "https://x", `"HTTP://x"`, "ftp://x", `"${{ a }}://x"`, `"sqlite:"`, `"sqlite:x"`, `"postgres://h/n"`, `"postgresql://h"`, "mysql://x", "a.csv", "a.json", "a.CSV", "csv", "[a-z]+", `"[a"`, `"(?P<x>a)"`,
	"succeeded", "failed", "finished", "skipped", "latest", "merge", "queue", "replace", "all", "any", "rerun", "fail", "exponential", "linear", "wait", "json", "slack", "GET", "get", "string", "int", "duration", "bash", "@daily", "0 5 * * *",
	"[]", "[a]", "[a, a]", "[1, 2]", "[0, 255]", "[256]", "[100, 599]", "['', a]", "[a, '']", "[' ', a]", "[~]", "[null, a]", "[[a]]", "[{}]", "[{a: b}]", "[failed]", "[failed, skipped]", "[nothing]", "[2026-01-31, x]", "[2026-02-30]", "[2026-1-1]", `["${{ a"]`, "[5m]", "[true]",
	"{}", "{a: b}", "{a: 1}", "{a: ~}", "{a: }", "{a: ''}", "{a: [x]}", "{a: {b: c}}", "{a: {b: ~}}", `{a: {b: "${{ x"}}`, `{a: {b: ["\0"]}}`, "{9a: b}", "{a-b: c}", "{'': a}", "{' ': a}", "{'${{ a }}': failed}", "{a b: c}", `{"a\nb": c}`,
	"{a: succeeded}", "{a: finished}", "{t: [failed]}", "{t: []}", "{t: [failed, skipped]}", `{X-Y: "a\nb"}`, `{X Y: a}`, "{a: {run: x}}", "{a: {run: x, call: f}}", "{a: {type: int}}", "{a: {env: B}}", "{A: {file: b}}", "{A: {env: b, file: c}}", "{A: {env: 9}}",
	"{max: 1}", "{max: 1, delay: 5s}", "{max: -1}", "{name: a}", "{name: a, slots: 0}", "{name: a, busy: skip}", "{items: [a]}", "{items: []}", "{runs: 1}", "{age: 1d}", "{url: 'http://x'}", "{db: 'sqlite:x', query: q}", "{cron: x}",
	"[{cron: x}]", "[{cron: x, timezone: UTC, params: {a: 1}}]", "[{timezone: UTC}]", "[x, {cron: y}]", "[{url: 'http://x'}]", "[{email: a, on: failed}]", "[{email: a, on: [failed, late]}]", "[{email: a, url: 'http://x'}]", "[{email: a, on: never}]",
	"{file: f}", "{until: '18:00', poll: 1m}", "{file: f, until: x}",
}

// inPlace puts an entry into a mapping that has what it needs besides.
func inPlace(m dsl.Mapping, key, value string) string {
	entries := []string{key + ": " + value}
	if key == "min" || key == "max" && m.Name == "a parameter" {
		entries = append(entries, "type: duration")
	}
	need := slices.Clone(m.Required)
	for _, one := range [][]string{m.OneOf, m.SomeOf} {
		if len(one) > 0 && !slices.Contains(one, key) && len(m.Needs[key]) == 0 {
			need = append(need, one[0])
		}
	}
	for _, name := range append(need, m.Needs[key]...) {
		if name != key {
			entries = append(entries, name+": "+least[name])
		}
	}
	return fmt.Sprintf(places[m.Name], strings.Join(entries, ", "))
}

// agree holds the verdicts of parser and schema against each other, and tells
// whether the file is good.
func agree(t interface {
	Helper()
	Errorf(string, ...any)
}, file, text string,
) bool {
	t.Helper()
	v := judge(file, []byte(text))
	if bad := v.dispute(); bad != "" {
		t.Errorf("%s:\n%s\n%s", file, text, bad)
	}
	return len(v.diagnostics) == 0
}

// telling are values by which the shapes of keys can be told apart: a key whose
// shape another has too is tried with these only.
var telling = []string{
	"", "~", "x", "a b", "true", "yes", `" "`, "größe", "0", "9", "10", "256", "1.5", "5s", "0s", "500ms", "2026-01-31", "2026-02-30", `"${{ a }}"`, `"${{ a"`,
	"http://x", `"sqlite:x"`, "a.csv", `"[a"`, "succeeded", "latest", "all", "rerun", "json", "string", "exponential", "wait", "GET",
	"[]", "[a]", "[0]", "['']", "[[a]]", "[failed]", "[{a: b}]", "[{cron: x}]", "[{email: a}]", "{}", "{a: b}", "{a: [x]}", "{9a: b}", "{a-b: c}", "{' ': failed}", "{a: failed}",
	"{a: {run: x}}", "{a: {type: int}}", "{A: {env: B}}", "{max: 1}", "{name: a}", "{items: [a]}", "{runs: 1}", "{url: 'http://x'}", "{db: 'sqlite:x', query: q}", "{file: f}", "{retry: 1}",
}

func TestEveryKeyTakesTheValuesThatTheParserTakes(t *testing.T) {
	tried := map[string]bool{}
	for _, m := range dsl.Mappings() {
		for _, key := range m.Keys {
			shape, err := json.Marshal(m.Shapes[key])
			if err != nil {
				t.Fatal(err)
			}
			values := values
			if tried[string(shape)] {
				values = telling
			}
			tried[string(shape)] = true
			accepted := 0
			for _, value := range values {
				if agree(t, "w.yaml", inPlace(m, key, value)) {
					accepted++
				}
			}
			if accepted == 0 || accepted == len(values) {
				t.Errorf("key %q of %s: %d of %d values are accepted, which shows nothing", key, m.Name, accepted, len(values))
			}
		}
		for _, key := range []string{"unknown", "x-note", `"<<"`, "''", "Run", "run "} {
			for _, value := range []string{"x", "{a: b}", "[a]", "1"} {
				agree(t, "w.yaml", inPlace(m, key, value))
			}
		}
	}
}

// What a type cannot tell by a pattern: sums and expressions.
var beyondTypes = []string{`"[a"`, "36501d", "99999999999999999999"}

func TestParametersHoldTheirValuesAgainstTheirType(t *testing.T) {
	for _, kind := range []string{"string", "int", "float", "bool", "date", "duration"} {
		for _, key := range []string{"default", "min", "max", "pattern", "choices"} {
			values := values
			if key != "default" {
				values = telling
			}
			for _, value := range values {
				if key == "choices" {
					value = "[" + value + "]"
				}
				text := fmt.Sprintf("{tasks: {t: {run: x}}, params: {p: {type: %s, %s: %s}}}", kind, key, value)
				good := agree(t, "w.yaml", text)
				if refused := judge("w.yaml", []byte(text)).refused[asWritten]; good != (refused == nil) && !slices.Contains(beyondTypes, value) {
					t.Errorf("%s: parser %v, schema %v", text, good, refused)
				}
			}
		}
	}
}

func TestWhichKeysAMappingHasMatters(t *testing.T) {
	for _, m := range dsl.Mappings() {
		all := append(append(append(slices.Clone(m.Required), m.OneOf...), m.SomeOf...), "with")
		for set := range 1 << len(all) {
			var entries []string
			for i, key := range all {
				value := least[key]
				if set&(1<<i) != 0 && slices.Contains(m.Keys, key) {
					switch s := m.Shapes[key]; {
					case value == "" && s.Mapping != "":
						value = map[string]string{`"sql"`: "{db: 'sqlite:x', query: q}", `"http"`: "{url: 'http://x'}", `"workflow"`: "{name: n}", `"wait_for"`: "{file: f}"}[s.Mapping]
					case value == "" && s.Items != nil:
						value = "[x]"
					case value == "" && s.Values != nil:
						value = "{}"
					case value == "" && s.Scalar == dsl.ScalarDuration:
						value = "5s"
					case value == "":
						value = "x"
					}
					entries = append(entries, key+": "+value)
				}
			}
			text := fmt.Sprintf(places[m.Name], strings.Join(entries, ", "))
			agree(t, "w.yaml", text)
		}
	}
}

// fenced finds the blocks of YAML in a page of the manual.
var fenced = regexp.MustCompile("(?ms)^```ya?ml[^\n]*\n(.*?)^```$")

// repository gives every YAML text of the project by its place.
func repository(t *testing.T) map[string][]byte {
	t.Helper()
	texts := map[string][]byte{}
	root := ".."
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			if err == nil && path != root && path[len(root)+1] == '.' {
				return fs.SkipDir
			}
			return err
		}
		switch filepath.Ext(path) {
		case ".yaml", ".yml", ".md", ".txtar":
		default:
			return nil
		}
		text, err := os.ReadFile(path)
		switch filepath.Ext(path) {
		case ".md":
			for i, block := range fenced.FindAllSubmatch(text, -1) {
				texts[fmt.Sprintf("%s.%d.yaml", path, i+1)] = block[1]
			}
		case ".txtar":
			for _, f := range txtar.Parse(text).Files {
				if ext := filepath.Ext(f.Name); ext == ".yaml" || ext == ".yml" {
					texts[path+"/"+f.Name] = f.Data
				}
			}
		default:
			texts[path] = text
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return texts
}

func TestAllYAMLOfTheRepositoryHasOneVerdict(t *testing.T) {
	good := 0
	for path, text := range repository(t) {
		if agree(t, path, string(text)) {
			good++
		}
	}
	if good < 20 {
		t.Errorf("only %d good files were found", good)
	}
}

// The files of testdata stand in folders that say who refuses them.
func TestCases(t *testing.T) {
	paths, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(paths) == 0 {
		t.Fatalf("no cases: %v", err)
	}
	for _, path := range paths {
		archive, err := txtar.ParseFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range archive.Files {
			t.Run(f.Name, func(t *testing.T) {
				v := judge(filepath.Base(f.Name), f.Data)
				got, refused := "good", v.refused[asEditors] != nil
				switch {
				case refused && len(v.diagnostics) > 0:
					got = "bad"
				case refused:
					got = "alarming"
				case len(v.diagnostics) > 0:
					got = "unseen"
				}
				if want := filepath.Dir(f.Name); got != want {
					t.Errorf("it is %s: %v %v", got, v.diagnostics, v.refused[asEditors])
				}
			})
		}
	}
}
