package format

import (
	"fmt"
	"strings"
	"testing"
)

// BenchmarkFormat lays out files of several sizes: a byte must cost the same in
// all of them.
func BenchmarkFormat(b *testing.B) {
	for _, n := range []int{20, 2_000, 20_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			var text strings.Builder
			text.WriteString("tasks:\n")
			for i := range n {
				fmt.Fprintf(&text, "    t%d:   # one of many\n        depends_on: [t%d]\n        run: |\n            echo %d\n            true\n", i, i, i)
			}
			b.SetBytes(int64(text.Len()))
			for b.Loop() {
				if _, ok := layOut("w.yaml", []byte(text.String())); !ok {
					b.Fatal("not laid out")
				}
			}
		})
	}
}
