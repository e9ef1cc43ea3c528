package dsl

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"
)

// Severity says how bad a diagnostic is.
type Severity uint8

// The severities. Only an Error stops a workflow from being loaded.
const (
	Error Severity = iota
	Warning
	Info
)

// String gives the severity as it is printed.
func (s Severity) String() string { return [...]string{"error", "warning", "info"}[s] }

// Diagnostic is one thing that is wrong with a workflow file, for its author.
type Diagnostic struct {
	File     string
	Pos      Pos // where it begins; zero means the file as a whole
	End      Pos // just behind it, on the same line or a later one
	Severity Severity
	Rule     string // the rule's name, for good: "unknown-key"
	Message  string // one line, lower case
	Hint     string // what to do about it; may be empty
}

// MarshalJSON gives the object that `ax lint --format json` prints. Places
// count from 1, columns in code points, the end is exclusive; all four numbers
// are 0 where the diagnostic is about the file as a whole.
func (d Diagnostic) MarshalJSON() ([]byte, error) {
	return json.Marshal(struct {
		File      string `json:"file"`
		Line      int32  `json:"line"`
		Column    int32  `json:"column"`
		EndLine   int32  `json:"end_line"`
		EndColumn int32  `json:"end_column"`
		Severity  string `json:"severity"`
		Rule      string `json:"rule"`
		Message   string `json:"message"`
		Hint      string `json:"hint"`
	}{d.File, d.Pos.Line, d.Pos.Col, d.End.Line, d.End.Col, d.Severity.String(), d.Rule, d.Message, d.Hint})
}

// Diagnostics is all that is wrong with some files.
type Diagnostics []Diagnostic

// Errors tells whether one of them is an Error.
func (ds Diagnostics) Errors() bool {
	return slices.ContainsFunc(ds, func(d Diagnostic) bool { return d.Severity == Error })
}

// Sort puts them in the order of files (by name) and places; what stands at one
// place keeps its order.
func (ds Diagnostics) Sort() {
	slices.SortStableFunc(ds, func(a, b Diagnostic) int {
		return cmp.Or(strings.Compare(a.File, b.File), a.Pos.compare(b.Pos))
	})
}

// compare orders places as they stand in a file.
func (p Pos) compare(q Pos) int {
	if p.Line != q.Line {
		return int(p.Line) - int(q.Line)
	}
	return int(p.Col) - int(q.Col)
}
