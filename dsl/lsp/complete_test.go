package lsp

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/ax-scheduler/ax/dsl"
	"github.com/ax-scheduler/ax/dsl/expression"
)

func TestWhatIsOfferedFitsThePlace(t *testing.T) {
	const head = "name: flow\nparams: {region: cn, day-of: {type: date, description: Which day.}}\nsecrets: {TOKEN: {env: T}}\nenv: {MODE: x}\n"
	const tasks = "tasks:\n  load: {run: x, description: Load it.}\n  check: {run: x}\n"
	for _, row := range []struct {
		name, text string // the cursor is at the vertical bar
		want       string // labels that are offered, in order; with … others may stand there
		not        string // labels that are not
	}{
		{"keys of the workflow, but none twice", "name: x\n|\ntasks: {}\n", "description owner … cron …", "name tasks run"},
		{"keys of a task", tasks + "  x:\n    |\n", "run command sql http workflow wait_for call …", "tasks"},
		{"one of the keys that exclude each other is enough", tasks + "  x:\n    run: x\n    |\n    timeout: 1m\n", "… depends_on …", "run command call timeout"},
		{"keys of a map within a task", tasks + "  x:\n    retry:\n      max: 3\n      |", "delay backoff max_delay …", "max run"},
		{"keys in brackets", tasks + "  x: {retry: {max: 3, ba|", "delay backoff …", "max"},
		{"keys in brackets over lines", tasks + "  x:\n    retry: {\n      max: 3,\n      |\n", "delay backoff …", "max"},
		{"keys of an item of a list", "notify:\n  - url: http://x\n    |\n" + tasks, "on secret format", "url email"},
		{"keys behind a dash", "cron:\n  - |\n" + tasks, "cron timezone params @hourly …", ""},
		{"words of a key", tasks + "  x:\n    join: |", "all any", ""},
		{"words in a list in a map", tasks + "  x:\n    depends_on: {load: [succeeded, |", "succeeded failed skipped finished", ""},
		{"words of a key in brackets", tasks + "  x: {recovery: re|", "rerun fail", ""},
		{"true and false", "disabled: |\n" + tasks, "true false", ""},
		{"nothing right behind the colon", tasks + "  x:\n    join:|", "", "all"},
		{"tasks to depend on, but not the task itself", tasks + "  x:\n    depends_on: |", "load check", "x"},
		{"tasks in a list in brackets", tasks + "  x:\n    depends_on: [load, |", "… check", "x"},
		{"tasks in quotes", tasks + "  x:\n    depends_on: \"lo|\"", "load check", "x"},
		{"tasks in a list of lines", tasks + "  x:\n    depends_on:\n    - load\n    - |\n", "load check", "x"},
		{"tasks as keys", tasks + "  x:\n    depends_on:\n      load: finished\n      |\n", "check", "x load"},
		{"tasks as keys in brackets", tasks + "  x:\n    depends_on: {|", "load check", "x"},
		{"tasks as handlers of the workflow", head + "on_failure: |\n" + tasks, "load check", ""},
		{"tasks as handlers of a task", tasks + "  x: {run: x, on_failure: [|", "load check", "x"},
		{"names of expressions", head + tasks + "  x:\n    run: echo ${{ |", "params env secrets run tasks default … len …", "item"},
		{"item in a task with foreach", tasks + "  x:\n    foreach: [a]\n    run: echo ${{ |\n", "… item index …", ""},
		{"no task outside of tasks", head + "env: {X: \"${{ |\"}\n" + tasks, "params env secrets run …", "tasks"},
		{"parameters", head + tasks + "  x:\n    run: |2\n      é ${{ params.r¦ }}\n", "region day-of", "params"},
		{"variables", head + tasks + "  x:\n    env: {DAY: y}\n    run: echo ${{ env.|\n", "DAY MODE", ""},
		{"secrets", head + tasks + "  x:\n    run: echo ${{ secrets.|\n", "TOKEN", ""},
		{"fields of the run", head + tasks + "  x:\n    run: echo ${{ run.|\n", "id workflow scheduled_for trigger date", ""},
		{"tasks in expressions", head + tasks + "  x:\n    when: tasks.|\n", "load check", "x"},
		{"fields of a task", head + tasks + "  x:\n    when: tasks.load.|\n", "state outputs exit_code error", ""},
		{"expressions in a key of their own", tasks + "  x:\n    retry:\n      if: up|\n", "… upper …", "true."},
		{"nothing within a string of an expression", tasks + "  x:\n    when: tasks.load.state == 'su|\n", "", "params"},
		{"nothing in a script", tasks + "  x:\n    run: |2\n      ech¦\n", "", "run params"},
		{"nothing under what is no key", tasks + "  x:\n    foo: |\n", "", "run"},
		{"where lines end as on Windows", strings.ReplaceAll(tasks+"  x:\n    depends_on:\n      - |\n", "\n", "\r\n"), "load check", "x"},
	} {
		t.Run(row.name, func(t *testing.T) {
			session(t, nil, func(c *client) {
				mark := "|"
				if strings.Contains(row.text, "¦") {
					mark = "¦"
				}
				before, after, _ := strings.Cut(row.text, mark)
				// The text is broken only once the cursor is there.
				f := c.open("workflows/a.yaml", head+tasks+"  x: {foreach: [a], run: x, env: {DAY: y}}\n")
				if !strings.Contains(row.text, "foreach") {
					f.write(head + tasks + "  x: {run: x, env: {DAY: y}}\n")
				}
				f.diagnostics()
				f.write(before + after)
				offered(t, f.labelsAt(len(before)), strings.Fields(row.want), strings.Fields(row.not))
			})
		})
	}
}

type completions struct {
	Items []struct {
		Label, Detail string
		TextEdit      struct{ NewText string }
		Documentation struct{ Value string }
	}
}

// labelsAt gives the labels of what is offered at an offset.
func (f *file) labelsAt(offset int) (labels []string) {
	p := f.at("|" + f.text)
	p.Position = place16(f.text, offset)
	var list completions
	f.c.call("textDocument/completion", p, &list)
	for _, i := range list.Items {
		labels = append(labels, i.Label)
	}
	return labels
}

// offered checks labels: those that are wanted, in order, and with … others
// between them.
func offered(t *testing.T, got, want, not []string) {
	t.Helper()
	at := 0
	for i, w := range want {
		if w == "…" {
			continue
		}
		n := slices.Index(got[min(at, len(got)):], w)
		if n < 0 || n > 0 && (i == 0 || want[i-1] != "…") {
			t.Fatalf("offered are %v, not %v", got, want)
		}
		at += n + 1
	}
	if at < len(got) && (len(want) == 0 || want[len(want)-1] != "…") {
		t.Errorf("offered are %v, not %v", got, want)
	}
	for _, n := range not {
		if slices.Contains(got, n) {
			t.Errorf("%q is offered: %v", n, got)
		}
	}
}

func TestAnOfferIsWrittenInPlaceOfTheWord(t *testing.T) {
	session(t, nil, func(c *client) {
		f := c.open("workflows/a.yaml", "tasks:\n  é: {rec: x}\n  b: {run: x, retr}\n  c:\n    cron: \n    when: up\n")
		for pattern, want := range map[string]string{
			"é: {re|c: x": "recovery", "run: x, re|tr": "recovery: ", "cron: |": `"@daily"`, "when: u|p": "upper(",
		} {
			var found bool
			for _, item := range f.completion(pattern) {
				if item.TextEdit.NewText != want {
					continue
				}
				found = true
				if word := f.marked(item.TextEdit.Range); word != map[string]string{"recovery": "rec", "recovery: ": "retr", "upper(": "up"}[want] {
					t.Errorf("%s takes the place of %q", want, word)
				}
				if want != `"@daily"` && item.Documentation == nil {
					t.Errorf("%s has no documentation", want)
				}
			}
			if !found {
				t.Errorf("%q is not offered at %s", want, pattern)
			}
		}
	})
}

func TestNamesAreOfferedWhileAnotherLineIsNoYAML(t *testing.T) {
	const head = "params: {region: cn, day: {type: date}}\nsecrets:\n  TOKEN: {env: T}\nenv:\n  # what all see\n  MODE: x\n\n  LEVEL: y\n"
	const tasks = "tasks:\n  load:\n    foreach: [a]\n    run: |2\n      key: value\n  check: {run: x}\n"
	const broken = "description: \"never closed\n"
	for _, row := range []struct{ name, text, want, not string }{
		{"tasks, behind the line", broken + head + tasks + "  x:\n    depends_on: [¦\n", "load check", "x key"},
		{"tasks, before it", tasks + "  x:\n    depends_on: ¦\n" + broken, "load check", "x"},
		{"parameters", head + tasks + "  x:\n\trun: a\n    when: params.¦\n", "region day", ""},
		{"secrets", broken + head + tasks + "  x:\n    run: echo ${{ secrets.¦\n", "TOKEN", ""},
		{"variables", broken + head + tasks + "  x:\n    run: echo ${{ env.¦\n", "MODE LEVEL", ""},
		{"items in a foreach", broken + tasks + "  x:\n    foreach: [a]\n    run: echo ${{ ¦\n", "… item index …", ""},
		{"none elsewhere", broken + tasks + "  x:\n    run: echo ${{ ¦\n", "…", "item"},
		{"a map that is not closed", "params: {region: cn\n" + tasks + "  x:\n    on_failure: ¦\n", "load check", "x region"},
		{"keys", broken + tasks + "  x:\n    run: x\n    ¦\n", "… depends_on …", "run"},
	} {
		t.Run(row.name, func(t *testing.T) {
			session(t, nil, func(c *client) {
				before, after, _ := strings.Cut(row.text, "¦")
				f := c.open("workflows/a.yaml", before+after)
				offered(t, f.labelsAt(len(before)), strings.Fields(row.want), strings.Fields(row.not))
			})
		})
	}
}

// The names that the server knows are those that expressions have.
func TestNamesAreThoseOfExpressions(t *testing.T) {
	wf, _ := dsl.Parse("a.yaml", []byte("params: {p: x}\nsecrets: {S: {env: S}}\ntasks: {a: {run: x}, b: {run: x}}\n"))
	scope := expression.NewScope(wf).ForTask("b", func(string) bool { return true }, true)
	compile := func(code string) *expression.Error {
		_, err := expression.Compile(code, expression.WantText, scope)
		var e *expression.Error
		errors.As(err, &e)
		return e
	}
	member := map[string]string{"params": ".p", "env": ".E", "secrets": ".S", "run": ".id", "tasks": ".a.state"}
	for _, r := range roots {
		if err := compile(r.name + member[r.name]); err != nil {
			t.Errorf("%s: %v", r.name, err)
		}
	}
	for _, f := range taskFields {
		if err := compile("tasks.a." + f.name); err != nil && f.name != "outputs" {
			t.Errorf("%s: %v", f.name, err)
		}
	}
	var names []string
	for _, f := range runFields {
		names = append(names, f.name)
	}
	slices.Sort(names)
	// The hint lists all that there is.
	if e := compile("run.zzzzzzzz"); e == nil || e.Hint != "there is "+strings.Join(names, ", ") {
		t.Errorf("a run has %v, but: %v", names, e)
	}
}
