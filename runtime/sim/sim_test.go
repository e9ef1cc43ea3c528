package sim_test

import (
	"fmt"
	"os"
	stdruntime "runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ax-scheduler/ax/runtime/sim"
)

// usualSeeds is how many are tried where nobody says how many: about eight
// seconds of them with the race detector.
const usualSeeds = 40

func TestThePromisesAreKeptWhateverHappens(t *testing.T) {
	from, to := sim.Seeds(t, usualSeeds)
	t.Run("seeds", func(t *testing.T) {
		for seed := from; seed <= to; seed++ {
			t.Run(fmt.Sprint(seed), func(t *testing.T) {
				t.Parallel()
				sc, data := draw(seed), dataFolder(t)
				wrong := try(t, sc, data)
				if len(wrong) == 0 {
					return
				}
				t.Errorf("repeat it with AX_SEED=%d (-v tells all that happens); broken promises:\n%s", seed, strings.Join(wrong, "\n"))
				if os.Getenv("AX_SEED") != "" && from == to {
					sc, wrong = shrink(t, sc, wrong, data)
					t.Errorf("what is left when it is made smaller:\n%s%s", sc, strings.Join(wrong, "\n"))
				}
			})
		}
	})
}

// dataFolder gives a folder in memory where there is one: each run has some of
// its own, and nothing is read of them. No two seeds share one, for the lock file
// that engines start runs behind would have them wait for one another.
func dataFolder(t *testing.T) string {
	dir, err := os.MkdirTemp("/dev/shm", "ax-sim")
	if err != nil {
		return t.TempDir()
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	return dir
}

// longestTry is how long a scenario may take: many times more than any does.
const longestTry = time.Minute

// try carries out a scenario, and gives the promises that were broken. One of
// them is that it comes to its end: neither may all wait for one another, nor may
// something keep time from passing.
func try(t *testing.T, sc *scenario, data string) []string {
	w, err := newWorld(sc, data)
	if err != nil {
		t.Fatal(err)
	}
	broken := make(chan []string, 1)
	go func() {
		var wrong []string
		defer func() {
			if blocked := recover(); blocked != nil {
				wrong = append(wrong, fmt.Sprint("it does not come to its end: ", blocked))
			}
			broken <- wrong
		}()
		synctest.Test(t, func(t *testing.T) {
			defer func() { // else it would end the tests of other seeds too
				if p := recover(); p != nil {
					wrong = append(wrong, fmt.Sprint("what has happened cannot be understood: ", p))
				}
			}()
			w.carryOut()
			wrong = newObserver(w).look()
			if len(wrong) > 0 && testing.Verbose() {
				t.Log(w.story())
			}
		})
	}()
	var wrong []string
	for range 2 {
		select {
		case more := <-broken:
			return append(wrong, more...)
		case <-time.After(longestTry):
			wrong = []string{"it does not come to its end: something goes round and round:\n" + busy()}
			w.givenUp.Store(true)
		}
	}
	return wrong
}

// busy gives the stacks of what keeps time from passing: it waits for nothing, or
// for something outside of its bubble.
func busy() string {
	all := make([]byte, 4<<20)
	for range 1000 { // between two of its steps nothing is to be seen
		for stack := range strings.SplitSeq(string(all[:stdruntime.Stack(all, true)]), "\n\n") {
			if first, _, _ := strings.Cut(stack, "\n"); strings.Contains(first, "synctest bubble") && !strings.Contains(first, "(durable)") {
				return stack
			}
		}
	}
	return "nothing is seen to run"
}
