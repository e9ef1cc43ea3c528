package lint

import (
	"fmt"
	"strings"
	"testing"
)

// tasksText gives a workflow of n tasks as people write them.
func tasksText(n int) []byte {
	var b strings.Builder
	b.WriteString("cron: \"30 4 * * *\"\ntimezone: Europe/Berlin\nparams: {region: cn}\ntasks:\n")
	for i := range n {
		fmt.Fprintf(&b, "  task_%d:\n    run: |\n      ./step.sh --part %d \"$AX_DATE\" ${{ params.region }}\n      echo done | sort > list.txt\n    timeout: 10m\n", i, i)
		if i > 9 {
			fmt.Fprintf(&b, "    depends_on: [task_%d, task_%d]\n", i-10, i-7)
		}
		if i%5 == 0 {
			b.WriteString("    retry: {max: 3, delay: 10s}\n")
		}
	}
	return []byte(b.String())
}

var benchOptions = Options{Now: examplesNow, Root: diskOf("step.sh", "echo")}

func BenchmarkFilesOfTwentyTasks(b *testing.B) {
	text := tasksText(20)
	for _, n := range []int{100, 1000, 10_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			for b.Loop() {
				files := ParseAll(n, func(i int) *File { return Parse(fmt.Sprintf("f%d.yaml", i), text, testDir, testDir) })
				if ds := Check(files, benchOptions); ds.Errors() {
					b.Fatal(ds[0])
				}
			}
		})
	}
}

func BenchmarkTasksInAFile(b *testing.B) {
	for _, n := range []int{1000, 10_000, 90_000} {
		text := tasksText(n)
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			for b.Loop() {
				f := Parse("big.yaml", text, testDir, testDir)
				if ds := Check([]*File{f}, benchOptions); ds.Errors() {
					b.Fatal(ds[0])
				}
			}
		})
	}
}
