package lsp

import (
	"strings"
	"testing"
	"time"

	"go.lsp.dev/protocol"
)

const flow = `name: flow
timezone: Europe/Berlin
cron: "30 4 * * *"
params:
  region: {type: string, choices: [cn, us], default: cn, description: Where to look.}
on_failure: alert
tasks:
  extract:
    description: Pull it.
    run: echo ${{ params.region }}
  clean:
    depends_on: extract
    timeout: 5m
    when: tasks.extract.exit_code == 0
    run: |
      # 🚀 é ${{ tasks.extract.outputs.rows }}
      echo "${{ tasks.extract.outputs.rows }}" ${{ upper(tasks['extract'].state) }}
    on_failure: [alert]
  report:
    depends_on: {extract: finished, "clean": [succeeded, skipped]}
    timeout: 5m
    run: echo done
  alert:
    timeout: 5m
    run: echo alert
`

func TestAMistakeIsMarkedExactlyAndGoesWhenItIsCorrected(t *testing.T) {
	session(t, nil, func(c *client) {
		f := c.open("workflows/a.yaml", "tasks:\n  größe: {run: x}\n  a:\n    timeout: 1m\n    runn: '😀' # x\n")
		f.says("größe bad-name", "runn unknown-key")
		d := f.diagnostics()[1]
		want := protocol.Range{Start: protocol.Position{Line: 4, Character: 4}, End: protocol.Position{Line: 4, Character: 8}}
		if d.Range != want || d.Severity != protocol.DiagnosticSeverityError || d.Source != "ax" {
			t.Errorf("the diagnostic is %+v", d)
		}
		if !strings.HasPrefix(d.Message, `unknown key "runn"`) || !strings.HasSuffix(d.Message, "\ndid you mean \"run\"?") {
			t.Errorf("the message is %q", d.Message)
		}
		f.replace("größe: {run: x}", "b: {run: x, timeout: 1m}")
		f.replace("runn", "run")
		f.says()
	})
}

func TestDiagnosticsAreThoseOfLint(t *testing.T) {
	session(t, nil, func(c *client) {
		f := c.open("workflows/flow.yaml", flow)
		f.says("extract no-timeout")
		f.replace("upper(tasks", "uper(tasks")
		f.says("uper bad-expression")
		f.replace("uper(tasks", "upper(tasks")
		f.replace("finished, ", "finshed, ")
		f.says("finshed bad-value")
		if got := f.diagnostics()[0].Message; !strings.Contains(got, "\ndid you mean \"finished\"?") {
			t.Errorf("the message is %q", got)
		}
	})
}

func TestOnlyTextThatIsLeftAloneIsChecked(t *testing.T) {
	session(t, nil, func(c *client) {
		f := c.open("workflows/a.yaml", "tasks:\n  a: {run: x, timeout: 1m}\n")
		f.says()
		before := c.count
		for range 20 {
			f.replace("x, ", "xx, ")
			time.Sleep(pause / 2)
		}
		f.says()
		if c.count != before+1 {
			t.Errorf("diagnostics were sent %d times for one burst of typing", c.count-before)
		}
	})
}

func TestChangesMayBeOfRangesOrOfAllOfTheText(t *testing.T) {
	session(t, nil, func(c *client) {
		f := c.open("workflows/a.yaml", "tasks:\r\n  a: {run: '😀é', timeout: 1m}\r  b: {rum: x}\n")
		f.says("rum unknown-key")
		f.replace("rum: x", "run: x, timeout: 1m")
		f.says()
		f.write("tasks:\n  a: {rum: x, timeout: 1m}\n")
		f.says("rum unknown-key")
		f.text = "tasks:\n  a: {run: x, timeout: 1m, x: 1}\n" // after the next two
		f.change(
			map[string]any{"range": lines(1, 8, 1, 9), "text": "n"},
			map[string]any{"range": lines(1, 25, 1, 25), "text": ", x: 1"},
		)
		f.says("x unknown-key")
		f.change(map[string]any{"range": lines(9, 9, 0, 0), "text": "tasks: {}"})
		f.text = "tasks: {}"
		f.says("{} bad-value")
	})
}

func lines(a, b, c, d uint32) protocol.Range {
	return protocol.Range{Start: protocol.Position{Line: a, Character: b}, End: protocol.Position{Line: c, Character: d}}
}

func TestRulesThatLookAtFilesKnowTheFolder(t *testing.T) {
	files := map[string]string{
		"workflows/sub/child.yaml": "name: child\nparams: {day: {required: true, type: date}}\ntasks:\n  a: {run: echo $AX_PARAM_DAY, timeout: 1m}\n",
		"workflows/load.sh":        "true\n",
	}
	session(t, files, func(c *client) {
		f := c.open("workflows/a.yaml", "tasks:\n  a: {run: ./load.sh, timeout: 1m}\n  b: {workflow: {name: child, params: {day: 2026-01-31}}, timeout: 1m}\n")
		f.says()
		f.replace("./load.sh", "./lod.sh")
		f.says("./lod.sh missing-file")
		f.replace("./lod.sh", "./load.sh")
		f.replace("child", "chld")
		f.says("chld unknown-workflow")
		f.write("name: child\ntasks:\n  a: {run: x, timeout: 1m}\n")
		f.says()

		// The second by path is the one that is not loaded. What is open counts
		// as it is, not as it was saved.
		g := c.open("workflows/sub/child.yaml", "name: child\ntasks:\n  b: {run: x, timeout: 1m}\n")
		g.says("child duplicate-workflow")
		if got := g.diagnostics()[0].Message; !strings.HasPrefix(got, `workflow "child" is declared in workflows/a.yaml already`) {
			t.Errorf("the message is %q", got)
		}
		f.write("name: other\ntasks:\n  a: {workflow: {name: child}, timeout: 1m}\n")
		f.says()
		g.c.notify(protocol.MethodTextDocumentDidSave, map[string]any{"textDocument": map[string]any{"uri": g.uri}})
		g.says()
		c.notify(protocol.MethodTextDocumentDidClose, map[string]any{"textDocument": map[string]any{"uri": g.uri}})
		f.says("child missing-key")
		g.version = 0
		g.says() // what is closed has no diagnostics
	})
}

func TestOtherYAMLIsLeftAlone(t *testing.T) {
	session(t, nil, func(c *client) {
		compose := c.open("compose.yaml", "services:\n  web: {image: x}\n")
		compose.says()
		if got := compose.completion("services|:"); len(got) != 0 {
			t.Errorf("offered are %v", got)
		}
		c.open("ax.yaml", "timezone: UTC\nmax_parallel: 3\n").says()
		young := c.open("new.yaml", "nmae: x\ntasks: {a: {run: x, timeout: 1m}}\n")
		young.says("nmae unknown-key")
		for _, name := range []string{"notes.txt", "workflows/a.test.yaml", "workflows/.hidden.yaml"} {
			c.open(name, "a: [")
		}
		c.notify(protocol.MethodTextDocumentDidOpen, map[string]any{"textDocument": map[string]any{"uri": "git:/x.yaml", "text": "a: ["}})
		young.says("nmae unknown-key")
		if len(c.found) != 3 {
			t.Errorf("diagnostics were sent for %v", c.found)
		}
		if err := c.try(protocol.MethodTextDocumentHover, map[string]any{"textDocument": map[string]any{"uri": "git:/x.yaml"}}, nil); err == nil {
			t.Error("a hover in a document that is not open is answered")
		}
	})
}

func TestAFileThatNamesTheSchemaIsAWorkflowWhereverItLies(t *testing.T) {
	session(t, nil, func(c *client) {
		for _, name := range []string{"../schema/workflow.schema.json", ".ax-schema.json"} {
			c.open("anywhere.yaml", "# yaml-language-server: $schema="+name+"\nservices: {}\n").says("services unknown-key", "services missing-key")
		}
	})
}
