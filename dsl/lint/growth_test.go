package lint

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/ax-scheduler/ax/dsl"
)

// What names a file is looked for in all of the text: few names by reading it,
// many by an index, which must give the same.
func TestAFileIsMentionedOnceHoweverManyAreLookedFor(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		text := rapid.StringOfN(rapid.SampledFrom([]rune("aab./ ")), 0, 40, -1).Draw(r, "text")
		name := rapid.StringOfN(rapid.SampledFrom([]rune("aab.")), 1, 4, -1).Draw(r, "name")
		few := &fileFinder{pass: &pass{File: &File{Source: dsl.NewSource("w.yaml", []byte(text))}, shared: &shared{}}}
		many := &fileFinder{pass: &pass{File: few.File, shared: &shared{}}}
		many.shared.counted.Store(fewCounted)
		if a, b := few.mentionedOnce(name), many.mentionedOnce(name); a != b {
			r.Fatalf("%q in %q: %v, by the index %v", name, text, a, b)
		}
	})
}

// More inputs than are looked for by reading are still told apart.
func TestInputsOfManyTasksAreLookedFor(t *testing.T) {
	var b strings.Builder
	b.WriteString("tasks:\n")
	for i := range 3 * fewCounted {
		fmt.Fprintf(&b, "  t%d: {run: \"sort < in_%03d.txt\", timeout: 1m}\n", i, i)
	}
	b.WriteString("  twice: {run: \"sort < in_149.txt\", timeout: 1m}\n")
	ds := Check([]*File{Parse("w.yaml", []byte(b.String()), testDir, testDir)}, benchOptions)
	missing := 0
	for _, d := range ds {
		if d.Rule == "missing-file" {
			missing++
		}
	}
	if missing != 3*fewCounted-1 {
		t.Errorf("%d inputs are missing", missing)
	}
}

// What is suggested for one name must not cost a look at all names for each of
// many; up to a bound it is suggested.
func TestParametersAreSuggestedUpToABound(t *testing.T) {
	text := "params: {region: cn}\ntasks:\n  a: {run: \"echo $AX_PARAM_REGIO\", timeout: 1m}\n"
	f := Parse("w.yaml", []byte(text), testDir, testDir)
	p := &pass{File: f, o: &Options{}, wf: f.Workflow, sketch: f.sketch, shared: &shared{sketch: f.sketch}}
	if _, hint := p.whyNoParam("AX_PARAM_REGIO", "REGIO"); !strings.Contains(hint, "AX_PARAM_REGION") {
		t.Errorf("the hint is %q", hint)
	}
	p.compared = mostCompared
	if message, hint := p.whyNoParam("AX_PARAM_REGIO", "REGIO"); message == "" || !strings.HasPrefix(hint, "declare it") {
		t.Errorf("%q, and the hint is %q", message, hint)
	}
}
