//go:build race

package sqlite_test

import "flag"

// The race detector makes SQLite, which is C made into Go, many times as slow, and there are
// few goroutines for it to watch: fewer cases are drawn, unless -rapid.checks says otherwise.
func init() {
	if err := flag.Set("rapid.checks", "30"); err != nil {
		panic(err)
	}
}
