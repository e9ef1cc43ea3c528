package lint

import (
	"bytes"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/ax-scheduler/ax/dsl"
)

var update = flag.Bool("update", false, "write what is printed about the bad examples, and docs/lint.md")

// examplesNow is the time at which the examples of the manual are checked.
var examplesNow = time.Date(2026, time.January, 1, 0, 0, 0, 0, time.UTC)

// checkExample checks the files of an example as if they lay in one folder.
// Files are looked for only where the example has some.
func checkExample(files []Example) ([]*File, dsl.Diagnostics) {
	const dir = "/srv/workflows"
	var list []*File
	var root fs.FS
	all := fstest.MapFS{}
	for _, e := range files {
		all[path.Join(dir, e.File)[1:]] = &fstest.MapFile{Data: []byte(e.Text), Mode: 0o755}
		if strings.HasSuffix(e.File, ".yaml") {
			list = append(list, Parse(e.File, []byte(e.Text), dir, dir))
		} else {
			root = all
		}
	}
	return list, Check(list, Options{Now: examplesNow, Root: root})
}

func places(ds dsl.Diagnostics) string {
	var b strings.Builder
	for _, d := range ds {
		fmt.Fprintf(&b, "%s:%d:%d-%d:%d %s %s: %s (%s)\n", d.File, d.Pos.Line, d.Pos.Col, d.End.Line, d.End.Col, d.Severity, d.Rule, d.Message, d.Hint)
	}
	return b.String()
}

func TestEveryBadExampleBreaksItsRuleAtTheMarkedPlaceAndNoOther(t *testing.T) {
	for _, r := range Rules() {
		files, ds := checkExample(r.Bad)
		if len(ds) != 1 || ds[0].Rule != r.Name || ds[0].Severity != r.Severity {
			t.Errorf("%s: want one %s of this rule, got\n%s", r.Name, r.Severity, places(ds))
			continue
		}
		for i, e := range r.Bad {
			if e.Marked == [2]int{} {
				continue
			}
			src := files[i].Source
			from, to := src.Pos(e.Marked[0]), src.Pos(e.Marked[1])
			if d := ds[0]; d.File != e.File || d.Pos != from || d.End != to {
				t.Errorf("%s: marked is %s:%d:%d to %d:%d, got\n%s", r.Name, e.File, from.Line, from.Col, to.Line, to.Col, places(ds))
			}
		}
	}
}

func TestNoGoodExampleBreaksAnyRule(t *testing.T) {
	for _, r := range Rules() {
		if _, ds := checkExample(r.Good); len(ds) > 0 {
			t.Errorf("%s: the good example gives\n%s", r.Name, places(ds))
		}
	}
}

func TestEveryRuleHasATextAndExamplesAndEveryTextARule(t *testing.T) {
	entries, err := os.ReadDir("rules")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if _, ok := ruleNamed(strings.TrimSuffix(e.Name(), ".md")); !ok && e.Name() != "README.md" {
			t.Errorf("rules/%s is the text of no rule", e.Name())
		}
	}
	for _, r := range Rules() {
		marks := 0
		for _, e := range r.Bad {
			if e.Marked != [2]int{} {
				marks++
			}
		}
		if r.Title == "" || r.Text == "" || len(r.Bad) == 0 || len(r.Good) == 0 || marks != 1 {
			t.Errorf("%s: a title, a text, a bad example with one mark and a good one are needed", r.Name)
		}
	}
}

func TestWhatIsPrintedAboutABadExampleIsShownWithIt(t *testing.T) {
	for _, r := range Rules() {
		files, ds := checkExample(r.Bad)
		var b bytes.Buffer
		err := dsl.Render(&b, ds, func(name string) *dsl.Source {
			for _, f := range files {
				if f.Source.File == name {
					return f.Source
				}
			}
			return nil
		}, false)
		if err != nil {
			t.Fatal(err)
		}
		if b.String() == r.Says {
			continue
		}
		if !*update {
			t.Errorf("%s: with -update this becomes what is shown:\n%s", r.Name, &b)
			continue
		}
		name := filepath.Join("rules", r.Name+".md")
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		before, good, _ := strings.Cut(string(text), "-- good")
		before, _, _ = strings.Cut(before, "-- says --\n")
		if err := os.WriteFile(name, []byte(before+"-- says --\n"+b.String()+"-- good"+good), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func TestTheManualIsWhatThePackageSays(t *testing.T) {
	name := filepath.Join("..", "..", "docs", "lint.md")
	if *update {
		if err := os.WriteFile(name, []byte(Manual()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if string(text) != Manual() {
		t.Error("docs/lint.md is not what dsl/lint says: run go test ./dsl/lint -update, twice")
	}
}

func TestAnExplanationHasEveryThingThatTheManualHas(t *testing.T) {
	for _, r := range Rules() {
		text := r.Explain()
		for _, part := range []string{r.Name, r.Severity.String(), r.Title, r.Text} {
			if !strings.Contains(text, part) {
				t.Errorf("%s: %q is not explained", r.Name, part)
			}
		}
		if !strings.Contains(Manual(), r.Text) {
			t.Errorf("%s is not in the manual", r.Name)
		}
	}
}
