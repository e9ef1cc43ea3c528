package schema

import (
	"bytes"
	"encoding/json"
	"flag"
	"maps"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/ax-scheduler/ax/dsl"
)

var update = flag.Bool("update", false, "write workflow.schema.json anew")

func TestTheEmbeddedSchemaIsTheGeneratedOne(t *testing.T) {
	generated := Generate()
	if *update {
		if err := os.WriteFile("workflow.schema.json", generated, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if !bytes.Equal(generated, Text()) {
		t.Error("workflow.schema.json is out of date: go test ./schema -run Embedded -update")
	}
}

// The keys of a mapping stand in four places: what the parser reads, what it
// says of them, what the reader is told, and the schema.
func TestEveryKeyOfTheLanguageIsDescribed(t *testing.T) {
	keys := dsl.Keys()
	if got, want := sorted(about), sorted(keys); !slices.Equal(got, want) {
		t.Errorf("the mappings are %q, want %q", got, want)
	}
	if got, want := sorted(definitions), sorted(keys); !slices.Equal(got, want) {
		t.Errorf("the definitions are for %q, want %q", got, want)
	}
	for _, m := range dsl.Mappings() {
		want := slices.Sorted(slices.Values(keys[m.Name]))
		if got := sorted(about[m.Name]); !slices.Equal(got, want) {
			t.Errorf("%s: there are sentences for %q, want %q", m.Name, got, want)
		}
		if got := sorted(m.Shapes); !slices.Equal(got, want) {
			t.Errorf("%s: there are shapes for %q, want %q", m.Name, got, want)
		}
		if got := sorted(definition(t, m.Name)["properties"].(map[string]any)); !slices.Equal(got, want) {
			t.Errorf("%s: the schema has %q, want %q", m.Name, got, want)
		}
		for key, text := range about[m.Name] {
			if len(text) > 260 || !strings.HasSuffix(strings.TrimRight(text, ")"), ".") && !strings.HasSuffix(text, ".") {
				t.Errorf("%s, %s: no short sentence: %q", m.Name, key, text)
			}
		}
	}
	if About("a task", "nothing") != "" || About("nothing", "run") != "" || About("a task", "run") == "" {
		t.Error("About does not know which keys there are")
	}
}

func sorted[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

// definition gives the schema of a mapping.
func definition(t *testing.T, mapping string) map[string]any {
	t.Helper()
	var root map[string]any
	if err := json.Unmarshal(Text(), &root); err != nil {
		t.Fatal(err)
	}
	if name := definitions[mapping]; name != "" {
		return root["$defs"].(map[string]any)[name].(map[string]any)
	}
	return root
}

// walk calls do for every object of the schema.
func walk(v any, do func(map[string]any)) {
	switch v := v.(type) {
	case map[string]any:
		do(v)
		for _, inner := range v {
			walk(inner, do)
		}
	case []any:
		for _, inner := range v {
			walk(inner, do)
		}
	}
}

func TestEveryMappingIsClosedAndEveryReferenceMeansSomething(t *testing.T) {
	var root map[string]any
	if err := json.Unmarshal(Text(), &root); err != nil {
		t.Fatal(err)
	}
	defs := root["$defs"].(map[string]any)
	used := map[string]bool{}
	closed := 0
	walk(root, func(o map[string]any) {
		if _, ok := o["properties"]; ok && o["additionalProperties"] == false {
			closed++
		}
		if name, ok := o["$ref"].(string); ok {
			name = strings.TrimPrefix(name, "#/$defs/")
			used[name] = true
			if defs[name] == nil {
				t.Errorf("$ref to %q, which is not there", name)
			}
		}
	})
	if closed != len(dsl.Mappings()) {
		t.Errorf("%d mappings are closed, want %d", closed, len(dsl.Mappings()))
	}
	for name := range defs {
		if !used[name] {
			t.Errorf("nothing refers to %q", name)
		}
	}
}

// Editors run the patterns with the engine of JavaScript, others with their
// own: what is not the same in all of them must not be used.
func TestPatternsMeanTheSameEverywhere(t *testing.T) {
	var root any
	if err := json.Unmarshal(Text(), &root); err != nil {
		t.Fatal(err)
	}
	foreign := regexp.MustCompile(`\(\?[^:]|\\[pPAzZQEGbBdDwW]|\[\[:|\[\^?\]|\\x\{`)
	n := 0
	walk(root, func(o map[string]any) {
		p, ok := o["pattern"].(string)
		if !ok {
			return
		}
		n++
		if _, err := regexp.Compile(p); err != nil {
			t.Error(err)
		}
		if found := foreign.FindString(p); found != "" {
			t.Errorf("%q in the pattern %s", found, p)
		}
	})
	if n < 20 {
		t.Errorf("only %d patterns were found", n)
	}
}

func TestDigitsMatchesExactlyTheIntegersOfARange(t *testing.T) {
	for _, r := range [][2]int{{0, 9}, {1, 9}, {0, 255}, {100, 599}, {7, 7}, {8, 12}, {99, 101}, {120, 1021}, {0, 1<<31 - 1}, {1, 1<<31 - 1}, {1234, 5678}} {
		low, high := r[0], r[1]
		p := regexp.MustCompile(digits(low, high))
		for n := range 20_000 {
			for _, n := range []int{n, high - 10_000 + n} {
				if want := n >= low && n <= high; n >= 0 && p.MatchString(strconv.Itoa(n)) != want {
					t.Fatalf("from %d to %d: %d is %v, want %v", low, high, n, !want, want)
				}
			}
		}
		zeros := "00" + strconv.Itoa(high)
		if !p.MatchString(zeros) || p.MatchString("-"+zeros) || p.MatchString("") || p.MatchString("1x") || p.MatchString("-0") != (low == 0) {
			t.Errorf("from %d to %d: %s", low, high, p)
		}
	}
}
