//go:build !race

package runtime_test

// usualSeeds is how many large runs are tried where nobody says how many.
const usualSeeds = 100
