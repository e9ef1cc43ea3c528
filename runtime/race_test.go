//go:build race

package runtime_test

// usualSeeds is how many large runs are tried where nobody says how many. The
// race detector makes them about seven times as slow.
const usualSeeds = 25
