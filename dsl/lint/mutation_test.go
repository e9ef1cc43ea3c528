package lint

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"gopkg.in/yaml.v3"

	"github.com/ax-scheduler/ax/dsl"
)

// soundFiles gives the workflows that come with the program and those of the
// reference, as far as lint finds nothing in them: a mistake that is put into
// one of them is the only one.
func soundFiles(t *testing.T) map[string]string {
	t.Helper()
	texts := map[string]string{}
	names, err := filepath.Glob("../../workflows/*.yaml")
	if err != nil || len(names) == 0 {
		t.Fatalf("%d workflows: %v", len(names), err)
	}
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		texts[filepath.Base(name)] = string(text)
	}
	manual, err := os.ReadFile("../../docs/dsl.md")
	if err != nil {
		t.Fatal(err)
	}
	for i, block := range regexp.MustCompile("(?s)```yaml\n(.*?)```").FindAllStringSubmatch(string(manual), -1) {
		texts[fmt.Sprintf("reference-%d.yaml", i)] = block[1]
	}
	for name, text := range texts {
		if len(told(text)) > 0 {
			delete(texts, name)
		}
	}
	if len(texts) < 10 {
		t.Fatalf("only %d sound files", len(texts))
	}
	return texts
}

// told gives the errors and warnings about a text by itself.
func told(text string) dsl.Diagnostics {
	ds := Check([]*File{Parse("nightly.yaml", []byte(text), "", "")}, Options{Now: examplesNow})
	return slices.DeleteFunc(ds, func(d dsl.Diagnostic) bool {
		// A parameter or a comment may have served what a mistake was put in the place of.
		return d.Severity == dsl.Info || slices.Contains([]string{"unknown-workflow", "unused-param", "unused-ignore"}, d.Rule)
	})
}

// spot is a key with its value in a file.
type spot struct {
	key, value *yaml.Node
	path       string // of the keys around it, ids and names as *
}

// spots gives the keys of the language that a file has; names that it chooses
// itself are left out.
func spots(n *yaml.Node, path string) (all []spot) {
	switch n.Kind {
	case yaml.DocumentNode, yaml.SequenceNode:
		for _, c := range n.Content {
			all = append(all, spots(c, path)...)
		}
	case yaml.MappingNode:
		for i := 0; i < len(n.Content); i += 2 {
			k, v := n.Content[i], n.Content[i+1]
			inner := path + "/" + k.Value
			switch {
			case path == "/tasks", path == "/params", path == "/secrets":
				all = append(all, spots(v, path+"/*")...)
			case strings.HasPrefix(k.Value, "x-"), k.Value == "<<", strings.HasSuffix(path, "/env"), strings.HasSuffix(path, "/with"),
				strings.HasSuffix(path, "/headers"), strings.HasSuffix(path, "/depends_on"), strings.HasSuffix(path, "/after"),
				strings.HasSuffix(path, "/params") && path != "/params":
			default:
				all = append(append(all, spot{k, v, inner}), spots(v, inner)...)
			}
		}
	}
	return all
}

// replaced puts a text in the place of a scalar of one line.
func replaced(text string, n *yaml.Node, with string) (string, bool) {
	src := dsl.NewSource("", []byte(text))
	at := dsl.Pos{Line: int32(n.Line), Col: int32(n.Column)}
	from, to := src.Offset(at), src.Extent(at)
	if n.Kind != yaml.ScalarNode || n.Anchor != "" || strings.Contains(text[from:to], "\n") {
		return "", false
	}
	return text[:from] + with + text[to:], true
}

// mutation makes one mistake at a spot; false where it cannot be made there.
type mutation struct {
	name string
	make func(text string, s spot) (string, bool)
}

var durations = regexp.MustCompile(`/(timeout|kill_after|delay|max_delay|poll|jitter|every|expect_within|catchup_window|age)$`)

var mutations = []mutation{
	{"a key with a slip of the pen", func(text string, s spot) (string, bool) {
		return replaced(text, s.key, s.key.Value+"x")
	}},
	{"a key that nobody knows", func(text string, s spot) (string, bool) {
		return replaced(text, s.key, "qwertzuiop")
	}},
	{"a map for a single value", func(text string, s spot) (string, bool) {
		if strings.HasSuffix(s.path, "/foreach") || strings.HasSuffix(s.path, "/depends_on") || strings.HasSuffix(s.path, "/after") ||
			strings.HasSuffix(s.path, "/retry") || strings.HasSuffix(s.path, "/pool") || s.path == "/defaults/retry" {
			return "", false
		}
		return replaced(text, s.value, "[[a]]")
	}},
	{"a duration that is none", func(text string, s spot) (string, bool) {
		if !durations.MatchString(s.path) {
			return "", false
		}
		return replaced(text, s.value, "5 parsecs")
	}},
	{"a bad cron expression", func(text string, s spot) (string, bool) {
		if !strings.HasSuffix(s.path, "/cron") {
			return "", false
		}
		return replaced(text, s.value, `"99 2 * * *"`)
	}},
	{"a task that there is not", func(text string, s spot) (string, bool) {
		if !slices.Contains([]string{"depends_on", "on_failure", "on_success", "on_finish"}, s.key.Value) {
			return "", false
		}
		if s.value.Kind == yaml.SequenceNode {
			return replaced(text, s.value.Content[0], "qwertzuiop")
		}
		return replaced(text, s.value, "qwertzuiop")
	}},
	{"a task whose name is misspelt", func(text string, s spot) (string, bool) {
		if !slices.Contains([]string{"depends_on", "on_failure", "on_success", "on_finish"}, s.key.Value) {
			return "", false
		}
		n := s.value
		if n.Kind == yaml.SequenceNode {
			n = n.Content[0]
		}
		return replaced(text, n, n.Value+"x")
	}},
	{"a number that is none", func(text string, s spot) (string, bool) {
		if !regexp.MustCompile(`/(max|priority|max_active|max_parallel|runs|slots)$`).MatchString(s.path) || strings.HasPrefix(s.path, "/params") {
			return "", false
		}
		return replaced(text, s.value, "many")
	}},
	{"a script with an if that nothing ends", func(text string, s spot) (string, bool) {
		if !strings.HasSuffix(s.path, "/run") || strings.Contains(text, "shell: ") {
			return "", false
		}
		return replaced(text, s.value, `"if true; then echo"`)
	}},
	{"a parameter that there is not", func(text string, s spot) (string, bool) {
		if !regexp.MustCompile(`/(run|url|body|query|env_file|workdir)$`).MatchString(s.path) {
			return "", false
		}
		return replaced(text, s.value, `"${{ params.qwertzuiop }}"`)
	}},
	{"an expression that is none", func(text string, s spot) (string, bool) {
		if !strings.HasSuffix(s.path, "/when") {
			return "", false
		}
		return replaced(text, s.value, `"1 +"`)
	}},
	{"a word that is none of those that are allowed", func(text string, s spot) (string, bool) {
		if !regexp.MustCompile(`/(type|join|overlap|catchup|backoff|recovery|busy|format|method)$`).MatchString(s.path) {
			return "", false
		}
		return replaced(text, s.value, "qwertzuiop")
	}},
}

func TestOneMistakeInASoundFileGivesOneDiagnosticOnItsLine(t *testing.T) {
	made := map[string]int{}
	for name, text := range soundFiles(t) {
		var root yaml.Node
		if err := yaml.Unmarshal([]byte(text), &root); err != nil {
			t.Fatal(err)
		}
		for _, s := range spots(&root, "") {
			for _, m := range mutations {
				mutant, ok := m.make(text, s)
				if !ok {
					continue
				}
				made[m.name]++
				ds := told(mutant)
				if len(ds) != 1 || int(ds[0].Pos.Line) != s.key.Line {
					t.Errorf("%s: %s at %s in line %d:\n%s", name, m.name, s.path, s.key.Line, places(ds))
				}
			}
		}
	}
	for _, m := range mutations {
		t.Logf("%d %s", made[m.name], m.name)
	}
}
