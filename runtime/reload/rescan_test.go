package reload_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/ax-scheduler/ax/dsl"
	"github.com/ax-scheduler/ax/runtime/reload"
)

// What happened to a file shows in a look at those files alone as it does in a
// look at the whole folder.
func TestALookAtTheTouchedFilesSeesWhatALookAtAllSees(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		f := newFolder(t)
		paths := []string{"a.yaml", "b.yml", "sub/c.yaml", "notes.txt"}
		texts := []string{text("one", "x"), text("one", "y"), text("two", "x"), "tasks: {a: {runn: x}}\n", ""}
		for _, path := range paths[:rapid.IntRange(0, 3).Draw(rt, "there")] {
			f.write(path, rapid.SampledFrom(texts).Draw(rt, "text"))
		}
		f.scan(0)
		for range rapid.IntRange(1, 8).Draw(rt, "steps") {
			touched := map[string]bool{}
			for range rapid.IntRange(0, 3).Draw(rt, "changes") {
				path := rapid.SampledFrom(paths).Draw(rt, "path")
				full := filepath.Join(f.dir, path)
				touched[full] = true
				if rapid.Bool().Draw(rt, "goes") {
					_ = os.Remove(full)
				} else {
					f.write(path, rapid.SampledFrom(texts).Draw(rt, "text"))
				}
			}
			old := f.catalog
			f.scan(rapid.SampledFrom([]time.Duration{0, delay / 3, delay, 6 * time.Second}).Draw(rt, "later"))
			some := reload.Rescan(old, touched, f.now, delay)
			if describe(some) != describe(f.catalog) { // each has compiled what is new for itself
				rt.Fatalf("all: %s\nsome: %s", describe(f.catalog), describe(some))
			}
			if some.Wait != f.catalog.Wait {
				rt.Fatalf("waits %s, and %s after a look at all", some.Wait, f.catalog.Wait)
			}
		}
	})
}

func describe(c *reload.Catalog) (all string) {
	for _, f := range c.Files {
		var rules []string
		for _, d := range f.Diagnostics {
			rules = append(rules, fmt.Sprint(d.Rule, d.Pos, d.Severity == dsl.Error))
		}
		all += fmt.Sprintln(f.Path, f.Name, f.Stale, rules)
		if w := c.Workflows[f.Name]; w != nil {
			all += fmt.Sprintln("  ", w.Head.Source.File, w.Version)
		}
	}
	return all
}
