package dsl

import (
	"bytes"
	"fmt"
	"testing"

	"gopkg.in/yaml.v3"
)

// large makes a workflow of n tasks with about three lines each.
func large(n int) []byte {
	var b bytes.Buffer
	b.WriteString("name: large\ndefaults: {timeout: 10m, env: {A: b}}\ntasks:\n")
	for i := range n {
		fmt.Fprintf(&b, "  task_%d:\n    run: ./step.sh %d \"$AX_DATE\"\n    retry: {max: 3, delay: 10s}\n", i, i)
		if i > 1 {
			fmt.Fprintf(&b, "    depends_on: [task_%d, task_%d]\n", i/2, i-1)
		}
	}
	return b.Bytes()
}

func BenchmarkParse(b *testing.B) {
	for _, n := range []int{20, 1000, 100_000} {
		text := large(n)
		b.Run(fmt.Sprintf("%d tasks", n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, ds := Parse("w.yaml", text); len(ds) > 0 {
					b.Fatal(ds[0])
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*n), "ns/task")
		})
	}
}

// BenchmarkYAML is what the nodes alone cost, for comparison.
func BenchmarkYAML(b *testing.B) {
	for _, n := range []int{20, 1000, 100_000} {
		text := large(n)
		b.Run(fmt.Sprintf("%d tasks", n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				var doc yaml.Node
				if err := yaml.NewDecoder(bytes.NewReader(text)).Decode(&doc); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*n), "ns/task")
		})
	}
}

// BenchmarkMistakes is a file in which every task is wrong.
func BenchmarkMistakes(b *testing.B) {
	text := bytes.ReplaceAll(large(10_000), []byte("delay"), []byte("dealy"))
	for b.Loop() {
		if _, ds := Parse("w.yaml", text); len(ds) != 10_000 {
			b.Fatalf("%d diagnostics", len(ds))
		}
	}
}

func BenchmarkNearest(b *testing.B) {
	known := make([]string, 100_000)
	for i := range known {
		known[i] = fmt.Sprintf("extract_region_%d", i)
	}
	for b.Loop() {
		if got := Nearest("extrakt_region_99x", known); got == "" {
			b.Fatal("nothing is near")
		}
	}
}

// BenchmarkDiagnostic is what one diagnostic costs in a large file.
func BenchmarkDiagnostic(b *testing.B) {
	src := NewSource("w.yaml", large(100_000))
	src.Span(Pos{4, 3})
	line := int32(0)
	for b.Loop() {
		line = (line + 997) % 400_000
		if d := src.Diagnostic("no-timeout", Info, Pos{line + 1, 5}, "m", "h"); d.End.Line == 0 {
			b.Fatal(d)
		}
	}
}
