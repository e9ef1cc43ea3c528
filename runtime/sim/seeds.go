package sim

import (
	"os"
	"strconv"
	"testing"
)

// Seeds gives the first and the last of the seeds that a test is to try. AX_SEED
// tells the first of them, else 1, and AX_SEEDS how many: else the usual number,
// or one where the first is told.
func Seeds(t testing.TB, usual uint64) (from, to uint64) {
	t.Helper()
	number := func(name string, otherwise uint64) uint64 {
		text := os.Getenv(name)
		if text == "" {
			return otherwise
		}
		n, err := strconv.ParseUint(text, 10, 32)
		if err != nil || n == 0 {
			t.Fatalf("%s=%q: it is a number from 1", name, text)
		}
		return n
	}
	if os.Getenv("AX_SEED") != "" {
		usual = 1
	}
	from = number("AX_SEED", 1)
	return from, from + number("AX_SEEDS", usual) - 1
}
