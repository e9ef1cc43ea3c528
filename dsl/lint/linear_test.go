package lint

import (
	"fmt"
	"strings"
	"testing"

	"github.com/ax-scheduler/ax/dsl"
)

func TestIgnoresThatSayTheSameAreOneToFindings(t *testing.T) {
	text := "tasks:\n  # ax-ignore: " + strings.Repeat("unseen-failure, ", 999) + "no-timeout\n  t: {run: a}\n"
	ignores, bad := ignoresOf(dsl.NewSource("w.yaml", []byte(text)))
	if len(ignores) != 1000 || len(bad) != 0 {
		t.Fatalf("%d ignores, %v", len(ignores), bad)
	}
	effects := effectsOf(ignores)
	if len(effects) != 2 {
		t.Errorf("%d effects for two rules in one line", len(effects))
	}
	effects[reach{"unseen-failure", 3, false}].used = true
	for i, n := range ignores {
		if n.effect.used != (n.rule == "unseen-failure") {
			t.Fatalf("ignore %d of rule %q is used: %v", i, n.rule, n.effect.used)
		}
	}
}

// Each look at a faulty expression takes memory.
func TestFaultyExpressionsAreLookedAtOnceForAllUnusedParameters(t *testing.T) {
	allocations := func(n int) float64 {
		f := Parse("w.yaml", []byte("tasks: {t: {run: a}}\n"), testDir, testDir)
		var found []finding
		for i := range n {
			at := dsl.Pos{Line: int32(i + 1), Col: 1}
			found = append(found,
				finding{Diagnostic: dsl.Diagnostic{Rule: "unused-param", Pos: at}, code: fmt.Sprintf("p%d", i)},
				finding{Diagnostic: dsl.Diagnostic{Rule: "expression", Pos: at}, code: fmt.Sprintf("params.q%d +", i)})
		}
		return testing.AllocsPerRun(1, func() { settled(f, &Options{}, found) })
	}
	if few, many := allocations(100), allocations(800); many > 16*few {
		t.Errorf("%v allocations for 100 parameters, %v for 800", few, many)
	}
}
