package format

import (
	"fmt"
	"strings"

	"pgregory.net/rapid"

	"github.com/ax-scheduler/ax/dsl"
)

// author writes a file in block style, in every form that people use and some
// that they do not. What it says need not make sense.
type author struct {
	*rapid.T
	strings.Builder
	anchors []string
	words   int
	end     string // the line end
}

func (a *author) pick(label string, all ...string) string {
	return rapid.SampledFrom(all).Draw(a.T, label)
}

func (a *author) number(label string, from, to int) int {
	return rapid.IntRange(from, to).Draw(a.T, label)
}

func (a *author) once(label string, in int) bool { return a.number(label, 1, in) == in }

// word makes one that nothing else in the file has.
func (a *author) word() string {
	a.words++
	return fmt.Sprintf("%s%d", a.pick("word", "w", "é", "日本", "x-"), a.words)
}

func (a *author) line() { a.WriteString(a.pick("blanks", "", "", "", " ", "  ") + a.end) }

func (a *author) indent(column int) string { return strings.Repeat(" ", column) }

// apart writes blank lines and comments between entries of a column.
func (a *author) apart(column int) {
	for range a.number("apart", 0, 3) {
		switch a.number("what", 1, 6) {
		case 1, 2:
			a.line()
		case 3, 4:
			a.WriteString(a.indent(column) + "# " + a.word())
			a.line()
		case 5:
			a.WriteString(a.indent(a.number("column", 0, 8)) + "#" + a.word())
			a.line()
		}
	}
}

// remark ends a line, perhaps with a comment.
func (a *author) remark() {
	if a.once("remark", 4) {
		a.WriteString(a.pick("before", " ", "   ", "  ") + "# " + a.pick("remark", "ax-ignore: rule ", "", "'") + a.word())
	}
	a.line()
}

// properties draws an anchor or a tag.
func (a *author) properties() string {
	switch a.number("property", 1, 12) {
	case 1:
		name := a.pick("anchor", "a", "b", "c")
		a.anchors = append(a.anchors, name)
		return "&" + name
	case 2:
		return "!!str"
	}
	return ""
}

// keysOf gives keys to choose from, those of a mapping and others.
func keysOf(mapping string) []string { return append(dsl.Keys()[mapping], "x-a", "x-b", "other") }

func (a *author) mapping(column int, name string, depth int, first string) {
	keys := keysOf(name)
	if name == "" {
		keys = []string{"one", "two", "three", "four", "five", "six", "seven"}
	}
	order := rapid.Permutation(keys).Draw(a.T, "keys")
	for i, key := range order[:a.number("entries", 1, min(len(order), 7))] {
		if key == "other" && a.once("rarely", 2) {
			key = a.pick("odd", "<<", "run", "'quoted'", "\"double\"")
		}
		if i > 0 || first == "" {
			a.apart(column)
			a.WriteString(a.indent(column))
		}
		a.WriteString(key + a.pick("colon", ":", ":", ":", " :"))
		a.value(column, key, depth)
	}
}

func (a *author) list(column, depth int, first string) {
	for i := range a.number("items", 1, 4) {
		if i > 0 || first == "" {
			a.apart(column)
			a.WriteString(a.indent(column))
		}
		a.WriteString("-")
		if depth > 0 && a.once("compact", 3) {
			blanks := a.pick("blanks", " ", " ", "   ")
			a.WriteString(blanks)
			if a.once("list", 2) {
				a.list(column+1+len(blanks), depth-1, "-")
			} else {
				a.mapping(column+1+len(blanks), a.pick("mapping", "", `an entry of "cron"`, `"notify"`), depth-1, "-")
			}
			continue
		}
		a.value(column, "", depth)
	}
}

// inside names the mapping that a key holds.
func (a *author) inside(key string) string {
	switch key {
	case "retry", "pool", "foreach", "sql", "http", "workflow", "wait_for", "retention", "defaults", "notify":
		return `"` + key + `"`
	}
	return a.pick("inside", "", "a task", "a task", "a parameter", "a secret")
}

// value writes what follows a key or a dash, to the end of the line or beyond.
func (a *author) value(column int, key string, depth int) {
	props := a.properties()
	if props != "" {
		a.WriteString(" " + props)
	}
	if depth > 0 && (a.once("deeper", 3) || key == "tasks" || key == "params") && props != "!!str" {
		a.remark()
		inner := column + a.number("step", 1, 5)
		if a.once("list", 4) {
			if key != "" && a.once("flush", 2) {
				inner = column
			}
			a.list(inner, depth-1, "")
			return
		}
		if key == "tasks" || key == "params" || key == "secrets" {
			a.mapping(inner, "", depth-1, "")
			return
		}
		a.mapping(inner, a.inside(key), depth-1, "")
		return
	}
	a.scalar(column, props)
}

// scalar writes a value that is no collection in block style.
func (a *author) scalar(column int, props string) {
	space := a.pick("space", " ", " ", "  ", "    ")
	if a.once("tab", 40) {
		space = "\t"
	}
	deeper := func() string { return a.indent(column + a.number("deeper", 1, 6)) }
	if props == "" && a.once("below", 8) {
		a.remark()
		space = deeper()
	}
	fold := func() string {
		return a.pick("trail", "", " ") + a.end + strings.Repeat(a.end, a.number("blank", 0, 2)) + deeper()
	}
	kind := a.number("kind", 1, 12)
	if kind == 1 && len(a.anchors) > 0 && props == "" {
		a.WriteString(space + "*" + a.pick("alias", a.anchors...) + " ")
		a.remark()
		return
	}
	switch kind {
	case 2:
		a.WriteString(space + a.word() + " " + a.word() + fold() + a.word() + fold() + "- " + a.word())
	case 3:
		a.WriteString(space + `"` + a.word() + `\` + a.end + deeper() + a.word() + ` \  ` + a.end + deeper() + `\ # ` + a.word() + fold() + a.word() + `"`)
	case 4:
		a.WriteString(space + "'" + a.word() + fold() + "# it''s" + fold() + a.word() + "'")
	case 5, 6:
		a.block(column, space)
		return
	case 7:
		a.WriteString(space + "[" + a.word() + "," + fold() + "{a: " + a.word() + ", b: 'x" + fold() + "y'}" + fold() + "# " + a.word() + fold() + "]")
	case 8:
		a.WriteString(space + "[" + a.word() + ", " + a.end + a.indent(max(column, 1)) + a.word() + a.end + a.indent(column) + "]")
	case 9:
		a.WriteString(space + "{max: 1, delay: " + a.word() + "}")
	case 10:
		if props == "" {
			a.remark()
			return
		}
		a.WriteString(space + `""`)
	default:
		a.WriteString(space + a.pick("short", "5", "true", "010", "~", "'it''s'", `"a b"`, "${{ x }}x", "a#b"))
	}
	a.remark()
}

func (a *author) block(column int, space string) {
	digit, own := "", a.number("own", 1, 5)
	if a.once("digit", 3) {
		digit = fmt.Sprint(own)
	}
	chomp := a.pick("chomp", "", "", "-", "+")
	marks := []string{digit + chomp, chomp + digit}[a.number("marks", 0, 1)]
	a.WriteString(space + a.pick("style", "|", ">") + marks)
	a.remark()
	for i := range a.number("lines", 0, 5) {
		switch {
		case a.once("empty", 4):
			a.WriteString(a.indent(a.number("blanks", 0, column+own)))
		default:
			more := a.pick("more", "", "", "  ", "\t")
			if i == 0 || digit == "" && i < 3 {
				more = ""
			}
			a.WriteString(a.indent(column+own) + more + a.pick("text", "", "# ", "- ", "key: ") + a.word() + a.pick("trail", "", "  "))
		}
		a.WriteString(a.end)
	}
}

// file writes a whole one.
func (a *author) file() string {
	a.end = a.pick("line end", "\n", "\n", "\n", "\r\n", "\r")
	a.WriteString(a.pick("bom", "", "", "", "\ufeff"))
	a.WriteString(a.pick("modeline", "", "", "# yaml-language-server: $schema=x"+a.end))
	a.apart(0)
	if a.once("mark", 6) {
		a.WriteString(a.pick("directive", "", "%YAML 1.2"+a.end) + "---" + a.pick("behind", "", " # c", " ") + a.end)
	}
	column := 0
	if a.once("indented", 8) {
		column = 3
	}
	a.mapping(column, "the workflow", 4, "")
	a.apart(0)
	text := a.String()
	if a.once("mark", 8) {
		return text + "..." + a.end
	}
	return text[:len(text)-a.number("cut", 0, 2)]
}
