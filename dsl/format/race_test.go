//go:build race

package format

import "flag"

// The race detector makes reading files many times as slow, and there are
// few goroutines for it to watch: fewer cases are drawn, unless -rapid.checks says otherwise.
func init() {
	if err := flag.Set("rapid.checks", "30"); err != nil {
		panic(err)
	}
}
