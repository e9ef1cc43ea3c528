package main

import (
	"bytes"
	"fmt"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
)

// figure is a quantity at one or more sizes, and what it is to be at one of them.
type figure struct {
	what   string
	unit   string // "" for a ratio
	at     []point
	atMost float64 // 0 for no goal
	least  float64 // 0 for no goal
	goalAt float64 // the size that the goal is for; 0 for the largest
}

type point struct{ size, value float64 }

// goal gives the point that the figure is judged by.
func (f figure) goal() point {
	if i := slices.IndexFunc(f.at, func(p point) bool { return p.size == f.goalAt }); i >= 0 {
		return f.at[i]
	}
	return f.at[len(f.at)-1]
}

// growth gives the exponent e where the quantity grows like size^e: the slope of
// the line through the logarithms; NaN for a single size.
func (f figure) growth() float64 {
	var n, sx, sy, sxx, sxy float64
	for _, p := range f.at {
		x, y := math.Log(p.size), math.Log(max(p.value, 1e-9))
		n, sx, sy, sxx, sxy = n+1, sx+x, sy+y, sxx+x*x, sxy+x*y
	}
	return (n*sxy - sx*sy) / (n*sxx - sx*sx)
}

func table(all []figure) string {
	var b strings.Builder
	b.WriteString("| what | at | measured | grows as | to reach | met |\n| --- | --- | --- | --- | --- | --- |\n")
	for _, f := range all {
		var sizes, values []string
		for _, p := range f.at {
			sizes = append(sizes, short(p.size))
			values = append(values, number(p.value))
		}
		goal, met := "", ""
		switch v := f.goal().value; {
		case f.atMost > 0:
			goal, met = "at most "+number(f.atMost), verdict(v <= f.atMost)
		case f.least > 0:
			goal, met = "at least "+number(f.least), verdict(v >= f.least)
		}
		if goal != "" && f.goalAt > 0 {
			goal += " at " + short(f.goalAt)
		}
		grows := ""
		if e := f.growth(); !math.IsNaN(e) && len(f.at) > 1 {
			grows = fmt.Sprintf("n^%.2f", e)
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %s | %s |\n",
			f.what, strings.Join(sizes, " · "), strings.TrimSpace(strings.Join(values, " · ")+" "+f.unit), grows, goal, met)
	}
	return b.String()
}

func verdict(met bool) string {
	if met {
		return "yes"
	}
	return "**no**"
}

// number writes three digits that count.
func number(v float64) string {
	switch {
	case v == 0:
		return "0"
	case math.Abs(v) >= 1000:
		return short(math.Round(v))
	}
	digits := max(0, 2-int(math.Floor(math.Log10(math.Abs(v)))))
	return strconv.FormatFloat(v, 'f', min(digits, 3), 64)
}

// short writes a whole number with commas.
func short(v float64) string {
	text := strconv.FormatFloat(v, 'f', -1, 64)
	for i := len(text) - 3; i > 0; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}

func median(of []float64) float64 {
	sorted := slices.Sorted(slices.Values(of))
	return sorted[len(sorted)/2]
}

// marks of the page between which figures stand; the rest is written by hand.
const from, to = "<!-- figures of make bench -->\n", "<!-- end of figures -->\n"

func write(name, text string) error {
	old, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	before, rest, ok := bytes.Cut(old, []byte(from))
	_, after, found := bytes.Cut(rest, []byte(to))
	if !ok || !found {
		return fmt.Errorf("%s: the marks %q and %q are gone", name, from, to)
	}
	return os.WriteFile(name, slices.Concat(before, []byte(from), []byte(text), []byte(to), after), 0o644)
}
