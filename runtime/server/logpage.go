package server

import (
	"errors"
	"html/template"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/ax-scheduler/ax/runtime/machine"
	"github.com/ax-scheduler/ax/store"
)

const (
	logRows    = 400 // lines on a page
	logContext = 40  // lines before one that was linked to
)

type logView struct {
	Run      store.Run
	Task     string
	Of       string // the task, where Task is one of its instances
	OfLink   string
	Attempt  store.Attempt
	Attempts []store.Attempt
	Lines    []logLine
	Total    int
	Size     int64
	Earlier  int // first line of the page before; 0 for none
	Later    int // of the page after
	At       int // line that was linked to
	Base     string
	Raw      string
	Query    string
	Found    []logLine
	More     int // line from which the search goes on; 0 where it is done
	Live     bool
	Missing  bool
}

// logPage shows a part of a log: its end, the part around a line, or the lines
// with a text.
func (s *Server) logPage(w http.ResponseWriter, r *http.Request) error {
	v, err := s.openLog(r)
	if errors.Is(err, errInstances) {
		http.Redirect(w, r, instancesLink(store.Run{ID: r.PathValue("id")}, r.PathValue("task")), http.StatusSeeOther)
		return nil
	} else if err != nil {
		return err
	}
	lines, err := s.views.lines.openLines(filepath.Join(s.Data, filepath.FromSlash(v.Attempt.Log)))
	if v.Missing = os.IsNotExist(err); err != nil && !v.Missing {
		return err
	}
	if lines != nil {
		defer lines.f.Close()
		v.fill(r, lines)
	}
	p := page{Title: v.Task + " · " + v.Run.Workflow, Nav: "runs"}
	s.render(w, r, http.StatusOK, "log", p, v)
	return nil
}

// openLog reads what a page about a log needs beside the log.
func (s *Server) openLog(r *http.Request) (*logView, error) {
	number, _ := strconv.Atoi(r.FormValue("attempt")) // 0, the last one, where it is none
	l, err := s.findLog(r.Context(), r.PathValue("id"), r.PathValue("task"), max(number, 0))
	if err != nil {
		return nil, err
	}
	v := &logView{Run: s.localRun(l.run), Task: r.PathValue("task"), Attempt: l.attempt, Live: !l.attempt.State.Final()}
	v.Attempt.StartedAt, v.Attempt.FinishedAt = s.local(l.attempt.StartedAt), s.local(l.attempt.FinishedAt)
	v.Attempts = l.all
	if task, i, _ := machine.ParseName(v.Task); i != 0 {
		v.Of, v.OfLink = task, instancesLink(l.run, task)
	}
	v.Base = taskLink(l.run, v.Task)
	v.Raw = "/api/v1" + v.Base + "/log?attempt=" + strconv.Itoa(v.Attempt.Number)
	v.Base += "?attempt=" + strconv.Itoa(v.Attempt.Number)
	return v, nil
}

// fill chooses the lines of the page.
func (v *logView) fill(r *http.Request, l *logLines) {
	v.Total, v.Size = l.total, l.size
	from, _ := strconv.Atoi(r.FormValue("from"))
	v.At, _ = strconv.Atoi(r.FormValue("line"))
	v.Query = r.FormValue("q")
	switch {
	case v.Query != "":
		v.Found, v.More = l.search(r.Context(), v.Query, from)
		return
	case v.At > 0:
		v.Lines = l.window(v.At-logContext, logRows)
	case from > 0:
		v.Lines = l.window(from, logRows)
	default:
		v.Lines = l.last(logRows)
	}
	if n := len(v.Lines); n > 0 {
		if first := v.Lines[0].Number; first > 1 {
			v.Earlier = max(1, first-logRows)
		}
		if last := v.Lines[n-1].Number; last < v.Total {
			v.Later = last + 1
		}
	}
}

// logLines gives lines of a log as markup, for a page that follows it or goes on
// with it: those from a number on, or those before one. The headers say where to
// go on and whether the attempt goes on.
func (s *Server) logLines(w http.ResponseWriter, r *http.Request) error {
	v, err := s.openLog(r)
	if err != nil {
		return err
	}
	from, _ := strconv.Atoi(r.FormValue("from"))
	before, _ := strconv.Atoi(r.FormValue("before"))
	lines, err := s.views.lines.openLines(filepath.Join(s.Data, filepath.FromSlash(v.Attempt.Log)))
	if err != nil && !os.IsNotExist(err) {
		return err
	}
	next := max(from, 1)
	if lines != nil {
		defer lines.f.Close()
		if before > 1 {
			from = max(1, before-logRows)
			v.Lines = lines.window(from, before-from)
		} else {
			v.Lines = lines.window(from, logRows)
		}
		if n := len(v.Lines); n > 0 {
			next = v.Lines[n-1].Number + 1
		}
		v.Total = lines.total
	}
	h := w.Header()
	h.Set("Ax-Next", strconv.Itoa(next))
	h.Set("Ax-Total", strconv.Itoa(v.Total))
	h.Set("Ax-Live", strconv.FormatBool(v.Live))
	writePage(w, http.StatusOK, []byte(v.Marked()))
	return nil
}

// Took tells how long the attempt has taken.
func (v *logView) Took() string { return took(v.Attempt.StartedAt, v.Attempt.FinishedAt) }

// Href gives the address of the page with another parameter.
func (v *logView) Href(name string, value any) string {
	return v.Base + "&" + url.Values{name: {text(value)}}.Encode()
}

// Marked gives the lines as markup. It is not a template since there are many of
// them.
func (v *logView) Marked() template.HTML {
	href := template.HTMLEscapeString(v.Base + "&line=")
	var b strings.Builder
	for _, l := range v.Lines {
		number, at, cut := strconv.Itoa(l.Number), "", ""
		if l.Number == v.At {
			at = ` class="at"`
		}
		if l.Cut {
			cut = `<span class="dim"> … cut</span>`
		}
		b.WriteString(`<li id="L` + number + `"` + at + `><a href="` + href + number + `#L` + number + `">` + number + `</a><span class="t">`)
		b.WriteString(string(new(terminal).line(l.Text)) + cut + "</span></li>\n")
	}
	return template.HTML(b.String()) //nolint:gosec // an address that is escaped, numbers, and what terminal makes
}

func text(v any) string {
	switch v := v.(type) {
	case int:
		return strconv.Itoa(v)
	case string:
		return v
	}
	return ""
}
