package lsp

import (
	"slices"
	"strings"
	"testing"

	"go.lsp.dev/protocol"

	"github.com/ax-scheduler/ax/dag"
	"github.com/ax-scheduler/ax/dsl"
)

func TestTheDefinitionOfATaskIsFoundFromWhereverItIsNamed(t *testing.T) {
	session(t, nil, func(c *client) {
		f := c.open("workflows/flow.yaml", flow)
		for pattern, want := range map[string]string{
			"depends_on: ex|tract":       "extract",
			"when: tasks.|extract":       "extract",
			"é ${{ tasks.extract|":       "extract",
			"tasks['ext|ract']":          "extract",
			"{extract|: finished":        "extract",
			`"cl|ean": [`:                "clean",
			"on_failure: al|ert":         "alert",
			"on_failure: [a|lert]":       "alert",
			"  al|ert:\n":                "alert",
			"description: Pu|ll it.":     "",
			"when: ta|sks.extract":       "",
			"extract.out|puts.rows }}\n": "",
		} {
			var got []protocol.Location
			c.call(protocol.MethodTextDocumentDefinition, f.at(pattern), &got)
			switch {
			case want == "" && len(got) == 0:
			case len(got) != 1 || f.marked(got[0].Range) != want || !strings.HasPrefix(f.text[f.offset(got[0].Range.End):], ":\n"):
				t.Errorf("%s: the definition of %q is %v", pattern, want, got)
			}
		}
	})
}

func TestAllReferencesAreFound(t *testing.T) {
	session(t, nil, func(c *client) {
		f := c.open("workflows/flow.yaml", flow)
		for _, declaration := range []bool{true, false} {
			var got []protocol.Location
			c.call(protocol.MethodTextDocumentReferences, protocol.ReferenceParams{
				TextDocumentPositionParams: f.at("depends_on: ex|tract"), Context: protocol.ReferenceContext{IncludeDeclaration: declaration},
			}, &got)
			want := 6
			if declaration {
				want++
			}
			if len(got) != want {
				t.Errorf("%d places name the task, not %d: %v", len(got), want, got)
			}
			for _, l := range got {
				if f.marked(l.Range) != "extract" {
					t.Errorf("%v is %q", l.Range, f.marked(l.Range))
				}
			}
		}
	})
}

// rename asks for a new name and gives the text with the edits applied.
func (f *file) rename(pattern, name string) (string, error) { return f.renameAt(f.at(pattern), name) }

func (f *file) renameAt(at protocol.TextDocumentPositionParams, name string) (string, error) {
	var edit protocol.WorkspaceEdit
	err := f.c.try(protocol.MethodTextDocumentRename, protocol.RenameParams{TextDocumentPositionParams: at, NewName: name}, &edit)
	if err != nil {
		return "", err
	}
	edits := edit.Changes[f.uri]
	slices.SortFunc(edits, func(a, b protocol.TextEdit) int { return f.offset(b.Range.Start) - f.offset(a.Range.Start) })
	text := f.text
	for _, e := range edits {
		text = text[:f.offset(e.Range.Start)] + e.NewText + text[f.offset(e.Range.End):]
	}
	return text, nil
}

func TestARenamedTaskIsRenamedEverywhere(t *testing.T) {
	session(t, nil, func(c *client) {
		f := c.open("workflows/flow.yaml", flow)
		got, err := f.rename("depends_on: ex|tract", "fetch-all")
		if err != nil {
			t.Fatal(err)
		}
		// Nothing else in this text is called extract.
		if want := strings.ReplaceAll(flow, "extract", "fetch-all"); got != want {
			t.Errorf("the text is now\n%s", got)
		}
		wf, ds := dsl.Parse("flow.yaml", []byte(got))
		if plan, more := dag.Compile(wf); plan == nil || len(ds)+len(more) > 0 {
			t.Errorf("the renamed file has mistakes: %v %v", ds, more)
		}
		if got, err = f.rename("|alert:\n", "alarm"); err != nil || !strings.Contains(got, "on_failure: alarm\n") ||
			!strings.Contains(got, "on_failure: [alarm]") || !strings.Contains(got, "  alarm:\n") || !strings.Contains(got, "run: echo alert") {
			t.Errorf("%v: the text is now\n%s", err, got)
		}
	})
}

func TestRenamingKnowsHyphensQuotesAliasesAndMerges(t *testing.T) {
	const text = `x-base: &base
  timeout: 1m
  depends_on: a
  env: {V: "é ${{ tasks.a-b.state }}"}
tasks:
  a: {run: x, timeout: 1m}
  a-b: {run: x, timeout: 1m}
  c:
    <<: *base
    depends_on: &up ["a-b", 'a']
    when: tasks.a-b.exit_code - tasks.a.exit_code == 0 && "tasks.a" != run.id
    run: >-
      echo ${{ tasks["a-b"].state + tasks.a?.state }}

      and ${{ tasks . a . state }}
  d: {run: x, timeout: 1m, depends_on: *up}
`
	session(t, nil, func(c *client) {
		f := c.open("workflows/a.yaml", text)
		f.says()
		got, err := f.rename("  a|: {run", "first")
		want := strings.NewReplacer("depends_on: a\n", "depends_on: first\n", "  a: {run", "  first: {run", "'a'", "'first'", "- tasks.a.", "- tasks.first.",
			"tasks.a?.", "tasks.first?.", "tasks . a .", "tasks . first .").Replace(text)
		if err != nil || got != want {
			t.Errorf("%v: the text is now\n%s", err, got)
		}
		got, err = f.rename("tasks.|a-b.state", "second")
		if want := strings.ReplaceAll(text, "a-b", "second"); err != nil || got != want {
			t.Errorf("%v: the text is now\n%s", err, got)
		}
	})
}

func TestWhatCannotBeRenamedIsRefused(t *testing.T) {
	session(t, nil, func(c *client) {
		f := c.open("workflows/flow.yaml", flow)
		for _, row := range []struct{ pattern, name, want string }{
			{"depends_on: ex|tract", "clean", `there is a task "clean" already`},
			{"depends_on: ex|tract", "two words", `"two words" cannot be a task id`},
			{"ti|mezone", "x", "there is no task here"},
		} {
			if _, err := f.rename(row.pattern, row.name); err == nil || !strings.Contains(err.Error(), row.want) {
				t.Errorf("%s to %q: %v", row.pattern, row.name, err)
			}
		}
		g := c.open("workflows/b.yaml", "tasks:\n  a: {run: x}\n  c: {run: x, depends_on: a, when: tasks.a-b.state}\n")
		if _, err := g.rename("|c: {run", "a-b"); err == nil || !strings.Contains(err.Error(), "would mean something else") {
			t.Errorf("a name that would catch a reference to another task: %v", err)
		}
		var r *protocol.Range
		c.call(protocol.MethodTextDocumentPrepareRename, f.at("depends_on: ex|tract"), &r)
		if r == nil || f.marked(*r) != "extract" {
			t.Errorf("what is to be renamed is %v", r)
		}
		r = nil
		c.call(protocol.MethodTextDocumentPrepareRename, f.at("ti|mezone"), &r)
		if r != nil {
			t.Errorf("what is no task can be renamed: %v", r)
		}
		f.write(flow + "  - [\n")
		if _, err := f.rename("depends_on: ex|tract", "x"); err == nil || !strings.Contains(err.Error(), "correct its first error") {
			t.Errorf("in a file that cannot be read: %v", err)
		}
	})
}

func TestTheOutlineIsTheTasks(t *testing.T) {
	session(t, nil, func(c *client) {
		f := c.open("workflows/flow.yaml", flow)
		var got []protocol.DocumentSymbol
		c.call(protocol.MethodTextDocumentDocumentSymbol, map[string]any{"textDocument": map[string]any{"uri": f.uri}}, &got)
		var names []string
		for _, s := range got {
			names = append(names, s.Name+" "+s.Detail)
			if f.marked(s.SelectionRange) != s.Name {
				t.Errorf("the name of %s is %q", s.Name, f.marked(s.SelectionRange))
			}
		}
		if strings.Join(names, ", ") != "extract run, clean run, report run, alert run" {
			t.Errorf("the tasks are %v", names)
		}
		if text := f.marked(got[1].Range); !strings.HasPrefix(text, "clean:") || !strings.HasSuffix(text, "on_failure: [alert]") {
			t.Errorf("the task clean is %q", text)
		}
	})
}
