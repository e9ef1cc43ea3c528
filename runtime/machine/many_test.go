package machine

import (
	"flag"
	"strconv"
	"testing"

	"pgregory.net/rapid"
)

// many checks a property a number of times as often as -rapid.checks says.
func many(t *testing.T, times int, prop func(*rapid.T)) {
	t.Helper()
	f := flag.Lookup("rapid.checks")
	before := f.Value.String()
	n, err := strconv.Atoi(before)
	if err != nil {
		t.Fatal(err)
	}
	if err := f.Value.Set(strconv.Itoa(n * times)); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Value.Set(before) }()
	rapid.Check(t, prop)
}
