package dsl

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// planted is a way to spoil a line of a good file. It tells whether the line is
// one that can be spoiled so.
type planted struct {
	name  string
	spoil func(line string, at place) (string, bool)
}

// place says what a line of the file is.
type place struct {
	task, first, last bool // the id of a task; of the first one; of the last one
	key, behindKey    bool // a key with a value behind it; the line above is one too
}

func column(line string) int { return len(line) - len(strings.TrimLeft(line, " ")) }

var slipsOfThePen = []planted{
	{"a quote that is never closed", func(line string, p place) (string, bool) {
		open, ok := strings.CutSuffix(line, `"`)
		if !ok {
			open, ok = strings.CutSuffix(line, "'")
		}
		return open, ok && p.key && strings.ContainsAny(line[strings.Index(line, ": ")+2:][:1], `"'`)
	}},
	{"a task in the first column", func(line string, p place) (string, bool) { return line[2:], p.task && !p.last }},
	{"the first task deeper than the others", func(line string, p place) (string, bool) { return " " + line, p.task && p.first }},
	{"a task less deep than the others", func(line string, p place) (string, bool) { return line[1:], p.task && !p.first }},
	{"the first task as an item of a list", func(line string, p place) (string, bool) { return "  - " + line[2:], p.task && p.first }},
	{"a task as an item of a list", func(line string, p place) (string, bool) { return "  - " + line[2:], p.task }},
	{"a no-break space before a key", func(line string, p place) (string, bool) {
		return "\u00a0" + strings.TrimPrefix(line, " "), p.task || p.key
	}},
	{"a no-break space right before a key", func(line string, p place) (string, bool) {
		n := column(line)
		return line[:max(n-1, 0)] + "\u00a0" + line[n:], p.task || p.key
	}},
	{"a tab for the blanks", func(line string, p place) (string, bool) { return "\t" + strings.TrimLeft(line, " "), p.task || p.key }},
	{"no colon", func(line string, p place) (string, bool) { return strings.Replace(line, ":", "", 1), p.task || p.key }},
	{"no blank after the colon", func(line string, p place) (string, bool) { return strings.Replace(line, ": ", ":", 1), p.key }},
	{"a bracket that is never closed", func(line string, p place) (string, bool) {
		return strings.TrimRight(line, "]"), strings.HasSuffix(line, "]")
	}},
	{"a brace that is never closed", func(line string, p place) (string, bool) {
		return strings.TrimRight(line, "}"), strings.HasSuffix(line, "}")
	}},
	{"a key that is too deep", func(line string, p place) (string, bool) { return "  " + line, p.key && p.behindKey }},
}

// aGoodFile draws a file without mistakes, and says what its lines are.
func aGoodFile(t *rapid.T) (lines []string, places []place) {
	add := func(line string, p place) {
		p.behindKey = len(places) > 0 && places[len(places)-1].key
		lines, places = append(lines, line), append(places, p)
	}
	for i, line := range []string{"name: nightly", `cron: "30 2 * * *"`, "timezone: UTC", "# the tasks", "params: {region: {type: string, default: cn}}"} {
		if i == 0 || rapid.Bool().Draw(t, "head") {
			add(line, place{key: line[0] != '#', first: i == 0})
		}
	}
	add("tasks:", place{})
	n := rapid.IntRange(3, 5).Draw(t, "tasks")
	for i := range n {
		add(fmt.Sprintf("  task%d:", i), place{task: true, first: i == 0, last: i == n-1})
		run := rapid.SampledFrom([]string{"run: make all", `run: "make all"`, "run: 'make all'", `run: ./load.sh "$AX_DATE"`, "run: |"}).Draw(t, "run")
		add("    "+run, place{key: run != "run: |", first: true})
		if run == "run: |" {
			add(`      echo "one"`, place{})
			add("      name: two", place{})
		}
		for _, line := range []string{"timeout: 5m", "retry: {max: 3, delay: 10s}", `description: "a: b"`, "# a note", "success_codes: [0, 1]"} {
			if rapid.Bool().Draw(t, "key") {
				add("    "+line, place{key: line[0] != '#'})
			}
		}
		if i > 0 && rapid.Bool().Draw(t, "list") {
			add("    depends_on:", place{})
			add("      - task0", place{})
		}
	}
	return lines, places
}

// The contract says that a syntax error is reported within one line of the slip.
func TestAPlantedSlipIsReportedWithinOneLine(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		lines, places := aGoodFile(t)
		slip := rapid.SampledFrom(slipsOfThePen).Draw(t, "slip")
		var can []int
		for i := range lines {
			if _, ok := slip.spoil(lines[i], places[i]); ok {
				can = append(can, i)
			}
		}
		if len(can) == 0 {
			t.Skip()
		}
		at := rapid.SampledFrom(can).Draw(t, "line")
		spoilt := slices.Clone(lines)
		spoilt[at], _ = slip.spoil(lines[at], places[at])
		end := rapid.SampledFrom([]string{"\n", "\r\n", "\r"}).Draw(t, "line end")
		mark := rapid.SampledFrom([]string{"", bom}).Draw(t, "byte-order mark")
		text := func(lines []string) []byte { return []byte(mark + strings.Join(lines, end) + end) }

		if _, ds := Parse("f.yaml", text(lines)); len(ds) > 0 {
			t.Fatalf("the good file gives %v", ds)
		}
		_, ds := Parse("f.yaml", text(spoilt))
		if len(ds) != 1 { // of another rule where YAML has a meaning for it
			t.Fatalf("%s in line %d: want one diagnostic, got %v in\n%s", slip.name, at+1, ds, strings.Join(spoilt, "\n"))
		}
		if off := int(ds[0].Pos.Line) - (at + 1); off < -1 || off > 1 {
			t.Fatalf("%s in line %d is reported in line %d: %s, in\n%s", slip.name, at+1, ds[0].Pos.Line, ds[0].Message, strings.Join(spoilt, "\n"))
		}
	})
}
