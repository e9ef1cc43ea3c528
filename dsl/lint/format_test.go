package lint

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/ax-scheduler/ax/dsl"
)

var samples = dsl.Diagnostics{
	{File: "flows/a,b: 100%.yaml", Pos: dsl.Pos{Line: 3, Col: 5}, End: dsl.Pos{Line: 3, Col: 9}, Severity: dsl.Error,
		Rule: "bad-cron", Message: "50% of\r\nit: wrong, really", Hint: "write it"},
	{File: "é.yaml", Pos: dsl.Pos{Line: 4, Col: 1}, End: dsl.Pos{Line: 6, Col: 2}, Severity: dsl.Warning, Rule: "dst-gap", Message: "m"},
	{File: "/abs/a b.yaml", Severity: dsl.Info, Rule: "no-timeout", Message: "m"},
}

func TestGitHub(t *testing.T) {
	var b strings.Builder
	if err := WriteGitHub(&b, samples); err != nil {
		t.Fatal(err)
	}
	want := `::error file=flows/a%2Cb%3A 100%25.yaml,line=3,endLine=3,col=5,endColumn=8,title=ax lint%3A bad-cron::50%25 of%0D%0Ait: wrong, really%0Ahelp: write it
::warning file=é.yaml,line=4,endLine=6,title=ax lint%3A dst-gap::m
::notice file=/abs/a b.yaml,title=ax lint%3A no-timeout::m
`
	if b.String() != want {
		t.Errorf("got\n%swant\n%s", &b, want)
	}
}

// The shape that the SARIF 2.1.0 schema asks for, by hand: what is required is
// there, what is limited is within, and nothing is there that it does not know.
func TestSARIFHasTheShapeOfItsSchema(t *testing.T) {
	for _, ds := range []dsl.Diagnostics{samples, {}} {
		var b bytes.Buffer
		if err := WriteSARIF(&b, ds, "1.2.3"); err != nil {
			t.Fatal(err)
		}
		var log any
		if err := json.Unmarshal(b.Bytes(), &log); err != nil {
			t.Fatal(err)
		}
		s := &shape{T: t}
		s.object("", log, map[string]func(string, any){
			"$schema": s.text, "version": s.oneOf("2.1.0"), "runs": s.list(func(at string, v any) {
				s.object(at, v, map[string]func(string, any){
					"tool":       func(at string, v any) { s.object(at, v, map[string]func(string, any){"driver": s.driver}, "driver") },
					"columnKind": s.oneOf("utf16CodeUnits", "unicodeCodePoints"), "results": s.list(s.result),
				}, "tool", "results")
			}),
		}, "version", "runs")
		results := log.(map[string]any)["runs"].([]any)[0].(map[string]any)["results"].([]any)
		if len(results) != len(ds) {
			t.Errorf("%d results of %d diagnostics", len(results), len(ds))
		}
	}
}

// shape holds values against a schema that is written as functions.
type shape struct{ *testing.T }

func (s *shape) object(at string, v any, fields map[string]func(string, any), required ...string) {
	m, ok := v.(map[string]any)
	if !ok {
		s.Errorf("%s is no object", at)
		return
	}
	for _, name := range required {
		if _, ok := m[name]; !ok {
			s.Errorf("%s has no %q", at, name)
		}
	}
	for name, x := range m {
		if fields[name] == nil {
			s.Errorf("%s has %q, which the schema does not know", at, name)
			continue
		}
		fields[name](at+"/"+name, x)
	}
}

func (s *shape) list(item func(string, any)) func(string, any) {
	return func(at string, v any) {
		all, ok := v.([]any)
		if !ok {
			s.Errorf("%s is no array", at)
		}
		for _, x := range all {
			item(at+"[]", x)
		}
	}
}

func (s *shape) text(at string, v any) {
	if text, ok := v.(string); !ok || text == "" {
		s.Errorf("%s is no text: %v", at, v)
	}
}

func (s *shape) oneOf(words ...string) func(string, any) {
	return func(at string, v any) {
		for _, w := range words {
			if v == w {
				return
			}
		}
		s.Errorf("%s is %v, want one of %q", at, v, words)
	}
}

func (s *shape) number(least float64) func(string, any) {
	return func(at string, v any) {
		if n, ok := v.(float64); !ok || n < least || n != float64(int(n)) {
			s.Errorf("%s is %v, want an integer from %v", at, v, least)
		}
	}
}

func (s *shape) message(at string, v any) {
	s.object(at, v, map[string]func(string, any){"text": s.text}, "text")
}

var levelWords = []string{"none", "note", "warning", "error"}

func (s *shape) driver(at string, v any) {
	s.object(at, v, map[string]func(string, any){"name": s.text, "version": s.text, "rules": s.list(func(at string, v any) {
		s.object(at, v, map[string]func(string, any){
			"id": s.text, "shortDescription": s.message, "fullDescription": s.message,
			"defaultConfiguration": func(at string, v any) {
				s.object(at, v, map[string]func(string, any){"level": s.oneOf(levelWords...)})
			},
		}, "id")
	})}, "name")
}

func (s *shape) result(at string, v any) {
	s.object(at, v, map[string]func(string, any){
		"ruleId": s.text, "ruleIndex": s.number(0), "level": s.oneOf(levelWords...), "message": s.message,
		"locations": s.list(func(at string, v any) {
			s.object(at, v, map[string]func(string, any){"physicalLocation": s.place})
		}),
	}, "message")
}

func (s *shape) place(at string, v any) {
	s.object(at, v, map[string]func(string, any){
		"artifactLocation": func(at string, v any) { s.object(at, v, map[string]func(string, any){"uri": s.text}) },
		"region": func(at string, v any) {
			s.object(at, v, map[string]func(string, any){
				"startLine": s.number(1), "startColumn": s.number(1), "endLine": s.number(1), "endColumn": s.number(1),
			})
		},
	}, "artifactLocation")
}

func TestSARIFRefersToItsRulesAndPaths(t *testing.T) {
	var b bytes.Buffer
	if err := WriteSARIF(&b, samples, ""); err != nil {
		t.Fatal(err)
	}
	var log sarifLog
	if err := json.Unmarshal(b.Bytes(), &log); err != nil {
		t.Fatal(err)
	}
	run := log.Runs[0]
	uris := []string{"flows/a,b:%20100%25.yaml", "%C3%A9.yaml", "file:///abs/a%20b.yaml"}
	levels := []string{"error", "warning", "note"}
	for i, r := range run.Results {
		if got := run.Tool.Driver.Rules[*r.RuleIndex].ID; got != r.RuleID || got != samples[i].Rule {
			t.Errorf("result %d: rule %q at the place of %q", i, got, r.RuleID)
		}
		if got := r.Locations[0].PhysicalLocation.ArtifactLocation.URI; got != uris[i] {
			t.Errorf("%s becomes %s, want %s", samples[i].File, got, uris[i])
		}
		if r.Level != levels[i] {
			t.Errorf("result %d: level %q", i, r.Level)
		}
	}
	if r := run.Results[0].Locations[0].PhysicalLocation.Region; *r != (sarifRegion{3, 5, 3, 9}) {
		t.Errorf("region %v", *r)
	}
	if run.Results[2].Locations[0].PhysicalLocation.Region != nil {
		t.Error("a diagnostic of the whole file has a region")
	}
}
