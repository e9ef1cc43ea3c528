package lint

import (
	"encoding/json"
	"io"
	"net/url"
	"path/filepath"
	"strings"

	"github.com/ax-scheduler/ax/dsl"
)

// The part of SARIF 2.1.0 (OASIS, 2020) that diagnostics need. Section numbers
// are those of the standard.
type (
	sarifLog struct { // 3.13
		Schema  string     `json:"$schema"`
		Version string     `json:"version"`
		Runs    []sarifRun `json:"runs"`
	}
	sarifRun struct { // 3.14
		Tool struct {
			Driver sarifDriver `json:"driver"`
		} `json:"tool"`
		ColumnKind string        `json:"columnKind"`
		Results    []sarifResult `json:"results"`
	}
	sarifDriver struct { // 3.19
		Name    string      `json:"name"`
		Version string      `json:"version,omitempty"`
		Rules   []sarifRule `json:"rules"`
	}
	sarifRule struct { // 3.49
		ID               string      `json:"id"`
		ShortDescription sarifText   `json:"shortDescription"`
		FullDescription  sarifText   `json:"fullDescription"`
		Configuration    sarifLevels `json:"defaultConfiguration"`
	}
	sarifLevels struct { // 3.50
		Level string `json:"level"`
	}
	sarifText struct { // 3.11, 3.12
		Text string `json:"text"`
	}
	sarifResult struct { // 3.27
		RuleID    string          `json:"ruleId"`
		RuleIndex *int            `json:"ruleIndex,omitempty"`
		Level     string          `json:"level"`
		Message   sarifText       `json:"message"`
		Locations []sarifLocation `json:"locations"`
	}
	sarifLocation struct { // 3.28, 3.29
		PhysicalLocation struct {
			ArtifactLocation struct {
				URI string `json:"uri"`
			} `json:"artifactLocation"`
			Region *sarifRegion `json:"region,omitempty"`
		} `json:"physicalLocation"`
	}
	sarifRegion struct { // 3.30; the end is exclusive
		StartLine   int32 `json:"startLine"`
		StartColumn int32 `json:"startColumn"`
		EndLine     int32 `json:"endLine"`
		EndColumn   int32 `json:"endColumn"`
	}
)

// WriteSARIF prints diagnostics as a SARIF 2.1.0 log, with the rules that they
// break. The version is that of ax and may be empty.
func WriteSARIF(w io.Writer, ds dsl.Diagnostics, version string) error {
	run := sarifRun{ColumnKind: "unicodeCodePoints", Results: make([]sarifResult, len(ds))}
	run.Tool.Driver = sarifDriver{Name: "ax", Version: version, Rules: []sarifRule{}}
	index := map[string]*int{}
	for _, r := range Rules() {
		if !breaks(ds, r.Name) {
			continue
		}
		n := len(run.Tool.Driver.Rules)
		index[r.Name] = &n
		run.Tool.Driver.Rules = append(run.Tool.Driver.Rules, sarifRule{
			r.Name, sarifText{r.Title}, sarifText{r.Text}, sarifLevels{sarifLevel(r.Severity)},
		})
	}
	for i, d := range ds {
		run.Results[i] = sarifOf(d)
		run.Results[i].RuleIndex = index[d.Rule]
	}
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	return e.Encode(sarifLog{"https://json.schemastore.org/sarif-2.1.0.json", "2.1.0", []sarifRun{run}})
}

func breaks(ds dsl.Diagnostics, rule string) bool {
	for i := range ds {
		if ds[i].Rule == rule {
			return true
		}
	}
	return false
}

func sarifOf(d dsl.Diagnostic) sarifResult {
	r := sarifResult{RuleID: d.Rule, Level: sarifLevel(d.Severity), Message: sarifText{d.Message}}
	if d.Hint != "" {
		r.Message.Text += " (" + d.Hint + ")"
	}
	var l sarifLocation
	l.PhysicalLocation.ArtifactLocation.URI = uri(d.File)
	if d.Pos.Written() {
		l.PhysicalLocation.Region = &sarifRegion{d.Pos.Line, d.Pos.Col, d.End.Line, d.End.Col}
	}
	r.Locations = []sarifLocation{l}
	return r
}

func sarifLevel(s dsl.Severity) string {
	return [...]string{dsl.Error: "error", dsl.Warning: "warning", dsl.Info: "note"}[s]
}

// uri gives a relative reference for a relative path, so that whoever reads the
// log can put it below the root of a repository.
func uri(path string) string {
	u := url.URL{Path: strings.TrimPrefix(filepath.ToSlash(path), "./")}
	if filepath.IsAbs(path) {
		u.Scheme = "file"
	}
	return u.String()
}
