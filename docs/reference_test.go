package docs_test

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"gopkg.in/yaml.v3"

	"github.com/ax-scheduler/ax/dsl"
	"github.com/ax-scheduler/ax/dsl/cron"
	"github.com/ax-scheduler/ax/dsl/expression"
	"github.com/ax-scheduler/ax/runtime"
)

const language = "dsl.md"

// table gives the rows of the table behind a mark, cell by cell, and where they
// stand in the page.
func table(t *testing.T, p *page, mark string) (rows [][]string, from, to int) {
	t.Helper()
	at := slices.Index(p.lines, "<!-- "+mark+" -->")
	if at < 0 {
		t.Errorf("%s has no table of %s", p.path, mark)
		return nil, 0, 0
	}
	for from = at + 1; from < len(p.lines) && !strings.HasPrefix(p.lines[from], "| ---"); from++ {
	}
	from++
	for to = from; to < len(p.lines) && strings.HasPrefix(p.lines[to], "|"); to++ {
		var row []string
		for cell := range strings.SplitSeq(strings.Trim(p.lines[to], "|"), " | ") {
			row = append(row, strings.TrimSpace(cell))
		}
		rows = append(rows, row)
	}
	return rows, from, to
}

// write writes the page as its lines are now.
func (p *page) write(t *testing.T) {
	t.Helper()
	if err := os.WriteFile(p.path, []byte(strings.Join(p.lines, "\n")), 0o644); err != nil {
		t.Fatal(err)
	}
}

var quoted = regexp.MustCompile("`([^`]+)`")

// words gives what stands in backquotes.
func words(text string) []string {
	var all []string
	for _, m := range quoted.FindAllStringSubmatch(text, -1) {
		all = append(all, m[1])
	}
	return all
}

// firstWords gives what stands in backquotes in the first cell of each row.
func firstWords(rows [][]string) []string {
	var all []string
	for _, row := range rows {
		all = append(all, words(row[0])...)
	}
	return all
}

func TestEveryKeyIsInTheTableOfItsMappingAndNoOther(t *testing.T) {
	p := readPage(t, language)
	marks := 0
	for _, line := range p.lines {
		if strings.HasPrefix(line, "<!-- keys of ") {
			marks++
		}
	}
	for mapping, keys := range dsl.Keys() {
		marks--
		rows, from, to := table(t, p, "keys of "+mapping)
		if *update {
			slices.SortStableFunc(p.lines[from:to], func(a, b string) int {
				return slices.Index(keys, words(a)[0]) - slices.Index(keys, words(b)[0])
			})
			p.write(t)
			rows, _, _ = table(t, p, "keys of "+mapping)
		}
		if got := firstWords(rows); !slices.Equal(got, keys) {
			t.Errorf("the keys of %s are\n%q, but the page has\n%q (-update puts them into this order)", mapping, keys, got)
		}
	}
	if marks != 0 {
		t.Errorf("the page has tables of mappings that there are not: %d", marks)
	}
}

// section is what stands under one heading of the third level.
type section struct {
	keys   []string
	text   string
	blocks []*block
}

// sections gives those of a chapter whose headings are keys.
func sections(p *page, chapter string) []section {
	var all []section
	in := false
	for i, line := range p.lines {
		switch heading, isKey := strings.CutPrefix(line, "### `"); {
		case strings.HasPrefix(line, "## "):
			in = line == "## "+chapter
		case in && isKey:
			all = append(all, section{keys: words("`" + heading)})
			for j := range p.blocks {
				if b := &p.blocks[j]; b.line > i && b.heading == "`"+heading {
					all[len(all)-1].blocks = append(all[len(all)-1].blocks, b)
				}
			}
		case in && len(all) > 0:
			all[len(all)-1].text += line + "\n"
		}
	}
	return all
}

var chapters = map[string]string{"Workflow keys": "the workflow", "Task keys": "a task"}

func TestEveryKeyOfWorkflowsAndTasksHasASectionWithAnExample(t *testing.T) {
	p := readPage(t, language)
	for chapter, mapping := range chapters {
		var got []string
		for _, s := range sections(p, chapter) {
			for _, key := range s.keys {
				if strings.HasPrefix(key, "x-") {
					continue
				}
				got = append(got, key)
				if !slices.ContainsFunc(s.blocks, func(b *block) bool { return b.isWorkflow() && strings.Contains(b.text, key+":") }) {
					t.Errorf("%s: there is no example of %q", chapter, key)
				}
			}
		}
		want := slices.Sorted(slices.Values(dsl.Keys()[mapping]))
		if slices.Sort(got); !slices.Equal(got, want) {
			t.Errorf("%s: the sections are about\n%q, but the keys are\n%q", chapter, got, want)
		}
	}
}

func TestTheFunctionsAreThoseOfTheLanguage(t *testing.T) {
	p := readPage(t, language)
	rows, from, to := table(t, p, "functions")
	var got, want []string
	for _, row := range rows {
		got = append(got, "| "+strings.Join(row, " | ")+" |")
	}
	for _, f := range expression.Functions() {
		want = append(want, fmt.Sprintf("| `%s` | %s |", f.Signature, f.Doc))
	}
	if slices.Equal(got, want) {
		return
	}
	if !*update {
		t.Errorf("they are\n%s\n(-update writes them)", strings.Join(want, "\n"))
		return
	}
	p.lines = slices.Concat(p.lines[:from], want, p.lines[to:])
	p.write(t)
}

// evaluated gives the value of an expression as a text, or what is wrong.
func evaluated(code string, scope *expression.Scope, values *expression.Values) string {
	template, faults := expression.CompileTemplate("${{ "+code+" }}", scope)
	if len(faults) > 0 {
		return "error: " + faults[0].Message
	}
	text, err := template.Text(values)
	if err != nil {
		return "error: " + err.Error()
	}
	return text
}

// facts runs the example that the values of expressions are taken from.
func facts(t *testing.T, p *page) (*expression.Scope, *expression.Values) {
	t.Helper()
	at := slices.IndexFunc(p.blocks, func(b block) bool { return b.isWorkflow() && b.fileName() == "facts.yaml" })
	if at < 0 {
		t.Fatal("there is no facts.yaml")
	}
	b := &p.blocks[at]
	e, run, _, err := carriedOut(t, b, b.command(t))
	if err != nil {
		t.Fatal(err)
	}
	rep, err := runtime.ReadReport(t.Context(), e.Store, run.ID)
	if err != nil {
		t.Fatal(err)
	}
	wf, _ := dsl.Parse("facts.yaml", []byte(b.text))
	values := &expression.Values{
		Params: rep.Params, Tasks: map[string]expression.Task{}, Env: map[string]string{},
		Run: expression.Run{ID: run.ID, Workflow: run.Workflow, Trigger: string(run.Trigger), ScheduledFor: run.ScheduledFor},
	}
	if values.Zone, err = cron.LoadZone(wf.Timezone.V); err != nil {
		t.Fatal(err)
	}
	for _, task := range rep.Tasks {
		values.Tasks[task.ID] = expression.Task{State: task.State, Outputs: task.Outputs, ExitCode: task.ExitCode, Error: task.Error}
	}
	return expression.NewScope(wf).ForTask("report", func(id string) bool { return id != "report" }, false), values
}

// Lines of blocks with the word expr are an expression and its value.
func TestExpressionsHaveTheValuesThatThePageGives(t *testing.T) {
	p := readPage(t, language)
	scope, values := facts(t, p)
	n := 0
	for i := range p.blocks {
		b := &p.blocks[i]
		if b.info != "expr" {
			continue
		}
		for j, line := range strings.Split(strings.TrimSuffix(b.text, "\n"), "\n") {
			code, want, ok := strings.Cut(line, "=>")
			if !ok {
				t.Fatalf("%s:%d: %q has no =>", p.path, b.line+j+1, line)
			}
			n++
			if got := evaluated(strings.TrimSpace(code), scope, values); got != strings.TrimSpace(want) {
				t.Errorf("%s:%d: %s is %s", p.path, b.line+j+1, strings.TrimSpace(code), got)
			}
		}
	}
	if n == 0 {
		t.Error("there are none")
	}
}

func TestTheDirectivesOfFormatAreThoseOfTheLanguage(t *testing.T) {
	p := readPage(t, language)
	scope, values := facts(t, p)
	rows, _, _ := table(t, p, "directives")
	listed := firstWords(rows)
	for c := byte('!'); c < 0x7f; c++ {
		word := "%" + string(c)
		if c == '\'' || c == '"' || c == '\\' || c == '`' {
			continue
		}
		known := !strings.HasPrefix(evaluated(`format(run.scheduled_for, "`+word+`")`, scope, values), "error:")
		if known != slices.Contains(listed, word) {
			t.Errorf("%s: known is %v, listed is %v", word, known, !known)
		}
	}
}

func TestTheStatesAndReasonsAreThoseOfTheEngine(t *testing.T) {
	src := filepath.Join("..", "runtime", "machine", "state.go")
	f, err := parser.ParseFile(token.NewFileSet(), src, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	engine := map[string][]string{}
	ast.Inspect(f, func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if !ok {
			return true
		}
		name := spec.Names[0].Name
		switch {
		case strings.HasPrefix(name, "Reason") && name != "ReasonNone":
			engine["reasons"] = append(engine["reasons"], unquoted(t, spec.Values[0]))
		case name == "taskStates" || name == "runStates":
			for _, e := range spec.Values[0].(*ast.CompositeLit).Elts {
				engine[name] = append(engine[name], unquoted(t, e))
			}
		}
		return true
	})
	p := readPage(t, language)
	for mark, name := range map[string]string{"reasons": "reasons", "states of a task": "taskStates", "states of a run": "runStates"} {
		rows, _, _ := table(t, p, mark)
		if got := firstWords(rows); !slices.Equal(got, engine[name]) {
			t.Errorf("the %s are %q, but the page has %q", mark, engine[name], got)
		}
	}
}

func unquoted(t *testing.T, e ast.Expr) string {
	t.Helper()
	text, err := strconv.Unquote(e.(*ast.BasicLit).Value)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// The variables in the table are those that a task prints of itself, and those
// of handlers and of the instances of a foreach.
func TestTheVariablesAreThoseThatATaskSees(t *testing.T) {
	p := readPage(t, language)
	at := slices.IndexFunc(p.blocks, func(b block) bool { return b.isWorkflow() && b.fileName() == "see.yaml" })
	if at < 0 || p.blocks[at].behind == nil {
		t.Fatal("there is no see.yaml")
	}
	var seen, listed []string
	for word := range strings.FieldsSeq(p.blocks[at].behind.text) {
		if strings.HasPrefix(word, "AX_") || word == "TRACEPARENT" {
			seen = append(seen, strings.Replace(word, "AX_PARAM_REGION", "AX_PARAM_…", 1))
		}
	}
	rows, _, _ := table(t, p, "variables")
	for _, name := range firstWords(rows) {
		if !strings.HasPrefix(name, "AX_FAILED_") && name != "AX_RUN_STATE" && name != "AX_INDEX" && name != "AX_ITEM" {
			listed = append(listed, name)
		}
	}
	slices.Sort(seen)
	if slices.Sort(listed); !slices.Equal(seen, listed) {
		t.Errorf("a task sees %q, but the page lists %q", seen, listed)
	}
}

func TestThePageOnCIShowsTheHookAsItIs(t *testing.T) {
	hook, err := os.ReadFile(filepath.Join("..", ".pre-commit-hooks.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	p := readPage(t, "ci.md")
	if !slices.ContainsFunc(p.blocks, func(b block) bool { return b.info == "yaml" && b.text == string(hook) }) {
		t.Error("ci.md does not show .pre-commit-hooks.yaml: copy it again")
	}
}

func TestEveryYAMLOfThesePagesCanBeRead(t *testing.T) {
	for _, name := range reference {
		for _, b := range readPage(t, name).blocks {
			var value any
			if err := yaml.Unmarshal([]byte(b.text), &value); b.info == "yaml" && err != nil {
				t.Errorf("%s: %v", b.place(), err)
			}
		}
	}
}

var link = regexp.MustCompile(`\]\(([^)\s]+)\)`)

// anchor is what GitHub makes of a heading.
func anchor(heading string) string {
	var b strings.Builder
	for _, r := range strings.ToLower(heading) {
		switch {
		case r == ' ':
			b.WriteByte('-')
		case r == '-' || r == '_' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r > 0x7f && r != '…':
			b.WriteRune(r)
		}
	}
	return b.String()
}

func TestLinksOfThesePagesLeadSomewhere(t *testing.T) {
	for _, name := range reference {
		p := readPage(t, name)
		for i, line := range p.lines {
			for _, m := range link.FindAllStringSubmatch(line, -1) {
				target, part, _ := strings.Cut(m[1], "#")
				if strings.Contains(target, "://") {
					continue
				}
				if target == "" {
					target = name
				}
				text, err := os.ReadFile(target)
				if err != nil {
					t.Errorf("%s:%d: %v", name, i+1, err)
					continue
				}
				if part != "" && !slices.ContainsFunc(bytes.Split(text, []byte("\n")), func(l []byte) bool {
					return bytes.HasPrefix(l, []byte("#")) && anchor(strings.TrimSpace(strings.TrimLeft(string(l), "#"))) == part
				}) {
					t.Errorf("%s:%d: %s has no heading #%s", name, i+1, target, part)
				}
			}
		}
	}
}
