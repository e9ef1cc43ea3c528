package lint

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/ax-scheduler/ax/dsl"
)

// Whatever a file holds, the linter ends, and points at places of the file.
func FuzzCheck(f *testing.F) {
	for _, r := range Rules() {
		for _, e := range append(r.Bad, r.Good...) {
			f.Add(e.Text)
		}
	}
	f.Add("tasks:\n  t:\n    run: >-\n      # ax-ignore: overrun\n\n      a | ${{ b }} ((\n")
	f.Add("# ax-ignore-file: no-timezone,\r\ncron: [\"* * * * *\", {cron: \"TZ=x 1 1 1 1 1\", params: {a: ${{ 1 }}}}]\r\ntasks: {t: {command: [sh, -c, \"x\"], workdir: ~}}")
	root := diskOf("load.sh", "echo $AX_PARAM_X", "lib/x.py", "import os")
	f.Fuzz(func(t *testing.T, text string) {
		file := Parse("nightly.yaml", []byte(text), testDir, testDir)
		for _, d := range Check([]*File{file}, Options{Now: examplesNow, Root: root}) {
			if !placed(file.Source, d) {
				t.Errorf("%d:%d to %d:%d is no place of %q", d.Pos.Line, d.Pos.Col, d.End.Line, d.End.Col, text)
			}
			if d.Message == "" || strings.ContainsAny(d.Message+d.Hint, "\n\r") {
				t.Errorf("message %q, hint %q", d.Message, d.Hint)
			}
			if _, ok := ruleNamed(d.Rule); !ok {
				t.Errorf("there is no rule %q", d.Rule)
			}
		}
	})
}

// placed tells whether a diagnostic points at a place of its file, or at the
// file as a whole.
func placed(src *dsl.Source, d dsl.Diagnostic) bool {
	if d.Pos == (dsl.Pos{}) {
		return d.End == (dsl.Pos{})
	}
	within := func(p dsl.Pos) bool {
		return p.Line >= 1 && p.Col >= 1 && int(p.Col) <= utf8.RuneCountInString(src.Line(int(p.Line)))+2
	}
	after := d.End.Line > d.Pos.Line || d.End.Line == d.Pos.Line && d.End.Col > d.Pos.Col
	return within(d.Pos) && within(d.End) && after
}
