package server

import (
	"fmt"
	"html/template"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/ax-scheduler/ax/store"
)

// pageFuncs are the words of the templates.
var pageFuncs = template.FuncMap{
	"when": when, "clock": clockOf, "day": func(t time.Time) string { return t.Format("2 Jan") },
	"stamp": func(t time.Time) string { return t.UTC().Format(time.RFC3339) },
	"took":  took, "state": stateMark, "glyph": func(s string) string { return glyphs[s] },
	"bytes": bytesOf, "count": countOf, "short": shortHash, "path": url.PathEscape, "query": url.QueryEscape,
	"strip": stripMarks, "thousands": thousands, "taskRow": taskRowOf, "gridRow": gridRowOf, "source": sourceMarks,
	"add":  func(a, b int) int { return a + b },
	"sub":  func(a, b int) int { return a - b },
	"list": func(all ...any) []any { return all },
	"ansi": func(text []byte) template.HTML { return new(terminal).line(text) },
}

// glyphs tell states apart for those who do not see colours.
var glyphs = map[string]string{
	"succeeded": "✓", "failed": "✕", "running": "●", "queued": "○", "ready": "○", "scheduled": "◷", "pending": "·",
	"retrying": "↻", "skipped": "–", "cancelled": "⊘", "missed": "!", "fired": "✓", "merged": "∪", "loaded": "·",
}

// stateMark shows a state.
func stateMark(state string) template.HTML {
	glyph, known := glyphs[state]
	if !known {
		return template.HTML(template.HTMLEscapeString(state)) //nolint:gosec // escaped
	}
	return template.HTML(`<span class="st ` + state + `"><span class="glyph" aria-hidden="true">` + glyph + `</span>` + state + `</span>`) //nolint:gosec // one of few words
}

// stripMarks shows runs as a row of small links, one of which is the run that the
// page is about. It is not a template since there are many of them.
func stripMarks(runs []store.Run, current string) template.HTML {
	var b strings.Builder
	b.WriteString(`<span class="strip">`)
	for i := range runs {
		r, here := &runs[i], ""
		if r.ID == current {
			here = ` aria-current="true"`
		}
		fmt.Fprintf(&b, `<a class="r %[1]s" href="/runs/%[2]s"%[3]s title="%[1]s %[4]s"><span class="sr">%[1]s</span></a>`,
			r.State, url.PathEscape(r.ID), here, clockOf(r.CreatedAt))
	}
	b.WriteString(`</span>`)
	return template.HTML(b.String()) //nolint:gosec // words of ax, a time, and an id that is escaped
}

// taskRowOf shows a task of a run, or an instance, as a row of a table. It is not
// a template since there are many of them.
func taskRowOf(t taskRow) template.HTML {
	var b strings.Builder
	id := template.HTMLEscapeString(t.ID)
	if t.Link != "" {
		id = `<a href="` + template.HTMLEscapeString(t.Link) + `">` + id + `</a>`
	}
	b.WriteString(`<tr class="` + t.State + `"><th scope="row">` + id)
	if t.TaskReport.Attempts > 1 && len(t.States) == 0 {
		b.WriteString(` <span class="tag">` + countOf(t.TaskReport.Attempts, "attempt") + `</span>`)
	}
	b.WriteString("</th>\n<td>" + string(stateMark(t.State)))
	if t.Reason != "" && t.Reason != t.State {
		b.WriteString(` <span class="dim">` + template.HTMLEscapeString(t.Reason) + `</span>`)
	}
	b.WriteString(`</td><td class="num"`)
	if t.State == "running" {
		b.WriteString(` data-took="` + t.Started.UTC().Format(time.RFC3339) + `"`)
	}
	b.WriteString(`>` + took(t.Started, t.Finished) + "</td>\n" + `<td class="line">`)
	if len(t.Bars) > 0 {
		b.WriteString(`<svg viewBox="0 0 1000 12" preserveAspectRatio="none" aria-hidden="true">`)
		for _, bar := range t.Bars {
			y, h := 1, 10
			if bar.Class == "wait" {
				y, h = 5, 2
			}
			fmt.Fprintf(&b, `<rect class="%s" x="%d" y="%d" width="%d" height="%d"/>`, bar.Class, bar.X, y, bar.W, h)
		}
		b.WriteString(`</svg>`)
	}
	b.WriteString(`</td></tr>`)
	return template.HTML(b.String()) //nolint:gosec // words of ax, numbers, and texts that are escaped
}

// gridRowOf shows a task of the grid of runs. It is not a template for the same
// reason.
func gridRowOf(row gridRow) template.HTML {
	var b strings.Builder
	b.WriteString(`<tr><th scope="row">` + template.HTMLEscapeString(row.Task) + `</th>`)
	for _, c := range row.Cells {
		switch {
		case c.Link != "":
			b.WriteString(`<td><a class="c ` + c.State + `" href="` + template.HTMLEscapeString(c.Link) + `"><span class="sr">` + c.State + `</span></a></td>`)
		case c.State != "":
			b.WriteString(`<td><i class="c ` + c.State + `"></i></td>`)
		default:
			b.WriteString(`<td></td>`)
		}
	}
	b.WriteString("</tr>\n")
	return template.HTML(b.String()) //nolint:gosec // words of ax, and texts that are escaped
}

// sourceMarks shows the lines of a text, or what has changed in it.
func sourceMarks(lines []sourceLine) template.HTML {
	var b strings.Builder
	for _, l := range lines {
		class, number := "l", ""
		switch l.Sign {
		case "":
		case "+":
			class = "l plus"
		default:
			class = "l minus"
		}
		if l.Number > 0 {
			number = strconv.Itoa(l.Number)
		}
		b.WriteString(`<span class="` + class + `"><i>` + number + `</i><b>` + l.Sign + `</b>` + template.HTMLEscapeString(l.Text) + "\n</span>")
	}
	return template.HTML(b.String()) //nolint:gosec // signs, numbers, and texts that are escaped
}

// when shows a time by how long ago it is, or how soon; the browser keeps it
// right. The exact time shows on demand.
func when(t time.Time) template.HTML {
	if t.IsZero() {
		return "–"
	}
	return template.HTML(fmt.Sprintf(`<time datetime="%s" title="%s">%s</time>`, //nolint:gosec // a time
		t.UTC().Format(time.RFC3339), t.Format("Mon 2 Jan 2006 15:04:05 -0700"), relative(time.Until(t))))
}

func relative(d time.Duration) string {
	switch {
	case d > -time.Second && d < time.Second:
		return "now"
	case d < 0:
		return rough(-d) + " ago"
	}
	return "in " + rough(d)
}

// rough gives a duration by its largest unit, to the nearest: a moment before two
// hours is two hours.
func rough(d time.Duration) string {
	const day = 24 * time.Hour
	switch {
	case d.Round(time.Second) < time.Minute:
		return fmt.Sprintf("%ds", d.Round(time.Second)/time.Second)
	case d.Round(time.Minute) < time.Hour:
		return fmt.Sprintf("%dm", d.Round(time.Minute)/time.Minute)
	case d.Round(time.Hour) < 2*day:
		return fmt.Sprintf("%dh", d.Round(time.Hour)/time.Hour)
	}
	return fmt.Sprintf("%dd", d.Round(day)/day)
}

// took gives how long something took or has taken so far.
func took(from, to time.Time) string {
	if from.IsZero() {
		return ""
	}
	if to.IsZero() {
		to = time.Now()
	}
	return durationText(to.Sub(from))
}

func durationText(d time.Duration) string {
	switch {
	case d < 0:
		return "0s"
	case d < time.Second:
		return fmt.Sprintf("%dms", d.Milliseconds())
	case d < 10*time.Second:
		return fmt.Sprintf("%.1fs", d.Seconds())
	case d < time.Minute:
		return fmt.Sprintf("%ds", int(d.Seconds()))
	case d < time.Hour:
		return fmt.Sprintf("%dm%02ds", int(d.Minutes()), int(d.Seconds())%60)
	}
	return fmt.Sprintf("%dh%02dm", int(d.Hours()), int(d.Minutes())%60)
}

// clockOf gives a time of the last day by its clock, else with its date.
func clockOf(t time.Time) string {
	switch {
	case t.IsZero():
		return ""
	case time.Since(t).Abs() < 20*time.Hour:
		return t.Format("15:04:05")
	}
	return t.Format("2 Jan 15:04")
}

func bytesOf(n int64) string {
	const units = "kMGT"
	if n < 1000 {
		return strconv.FormatInt(n, 10) + " B"
	}
	v, u := float64(n)/1000, 0
	for v >= 1000 && u < len(units)-1 {
		v, u = v/1000, u+1
	}
	return fmt.Sprintf("%.1f %cB", v, units[u])
}

// countOf gives a number with its unit.
func countOf(n int, unit string) string {
	if n == 1 {
		return "1 " + unit
	}
	return thousands(n) + " " + unit + "s"
}

func thousands(n int) string {
	text := strconv.Itoa(n)
	for i := len(text) - 3; i > 0; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}

func shortHash(hash string) string { return hash[:min(len(hash), 8)] }

// oneLine makes one line of a text, of at most so many characters.
func oneLine(text string, most int) string {
	text = strings.Join(strings.Fields(text), " ")
	if all := []rune(text); len(all) > most {
		return string(all[:most-1]) + "…"
	}
	return text
}
