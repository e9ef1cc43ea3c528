package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The code moves on, and a list that is run now and then alone does not notice.
func TestEveryBugFitsTheCodeInOnePlace(t *testing.T) {
	for part, s := range suites {
		for _, b := range s.bugs {
			text, err := os.ReadFile(filepath.Join("../..", s.folder, b.file))
			if n := strings.Count(string(text), b.old); err != nil || n != 1 {
				t.Errorf("%s: %s: %s has its place %d times (%v)", part, b.name, b.file, n, err)
			}
		}
	}
}
