package server

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"errors"
	"fmt"
	"html/template"
	"io"
	"io/fs"
	"net/http"
	"path"
	"strings"
	"sync"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/ax-scheduler/ax/dag/layout"
	"github.com/ax-scheduler/ax/store"
)

//go:embed templates/*.html
var templateFiles embed.FS

//go:embed static
var staticFiles embed.FS

// pagePolicy lets a page have what this server has in files, and nothing else.
const pagePolicy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; " +
	"form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

// pages registers the pages for people. What they change, they change by forms.
func (s *Server) pages(mux *http.ServeMux) {
	mux.HandleFunc("GET /static/{file}", serveStatic)
	mux.HandleFunc("GET /{$}", s.page(s.homePage))
	mux.HandleFunc("GET /runs", s.page(s.runsPage))
	mux.HandleFunc("GET /diagnostics", s.page(s.diagnosticsPage))
	mux.HandleFunc("GET /workflows/{name}", s.page(s.workflowPage))
	mux.HandleFunc("POST /workflows/{name}/runs", s.page(s.startForm))
	mux.HandleFunc("POST /workflows/{name}/backfill", s.page(s.backfillForm))
	mux.HandleFunc("POST /workflows/{name}/pause", s.page(s.pauseForm(true)))
	mux.HandleFunc("POST /workflows/{name}/resume", s.page(s.pauseForm(false)))
	mux.HandleFunc("GET /runs/{id}", s.page(s.runPage))
	mux.HandleFunc("GET /runs/{id}/cancel", s.page(s.cancelPage))
	mux.HandleFunc("POST /runs/{id}/cancel", s.page(s.cancelForm))
	mux.HandleFunc("POST /runs/{id}/retry", s.page(s.retryForm))
	mux.HandleFunc("GET /runs/{id}/artifacts/{path...}", s.page(s.artifact))
	mux.HandleFunc("GET /runs/{id}/tasks/{task}", s.page(s.logPage))
	mux.HandleFunc("GET /runs/{id}/tasks/{task}/lines", s.page(s.logLines))
	mux.HandleFunc("GET /login", s.loginPage)
	mux.HandleFunc("POST /login", s.login)
	mux.HandleFunc("POST /logout", s.logout)
}

// page makes a handler of a function that may fail.
func (s *Server) page(do func(http.ResponseWriter, *http.Request) error) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		err := do(w, r)
		if err == nil {
			return
		}
		if r.Context().Err() != nil {
			return // the client has gone
		}
		status, detail := s.told(err)
		s.deny(w, r, status, detail)
	}
}

// told gives the answer to an error.
func (s *Server) told(err error) (status int, detail string) {
	var known huma.StatusError
	if !errors.As(err, &known) && !errors.As(s.problem(err), &known) {
		return http.StatusInternalServerError, "see the log of ax"
	}
	return known.GetStatus(), detailOf(known)
}

func detailOf(err huma.StatusError) string {
	var m *huma.ErrorModel
	if errors.As(err, &m) {
		return m.Detail
	}
	return err.Error()
}

// page is what every page has.
type page struct {
	Title string
	Nav   string // which entry of the menu it belongs to
	// Watch says which events change the page: as the query of /api/v1/events.
	// Where it is nil nothing does.
	Watch *string
	Busy  bool // something goes on: look again even where no event comes

	View      any
	Version   string
	CanAct    bool
	Signed    bool // there are tokens, and one was given
	FormToken string
	Since     string // the id of the last event that the page knows of
	Problems  int    // files with errors
	Asset     string // changes with the static files
}

// watching gives the query of the events that a page wants.
func watching(query string) *string { return &query }

// pageTemplates are made once, before the first page is asked for: it takes as long
// as ten pages.
var pageTemplates = sync.OnceValue(func() map[string]*template.Template {
	all := map[string]*template.Template{}
	names, err := fs.Glob(templateFiles, "templates/*.html")
	if err != nil {
		panic(err)
	}
	for _, name := range names {
		base := strings.TrimSuffix(path.Base(name), ".html")
		t := template.Must(template.New(base).Funcs(pageFuncs).ParseFS(templateFiles, "templates/layout.html", "templates/parts.html", name))
		// What is done with it first works out how to escape, and fails afterwards.
		_ = t.ExecuteTemplate(io.Discard, "layout", nil)
		all[base] = t
	}
	return all
})

// render answers with a page. It is made as a whole first, so that one that
// fails is not half there.
func (s *Server) render(w http.ResponseWriter, r *http.Request, status int, name string, p page, view any) {
	who := s.callerOf(r)
	p.View, p.Version, p.Asset = view, s.Version, assetHash()
	p.CanAct, p.Signed = who.role == Operator && !s.Stopping(), len(s.Tokens) > 0 && who.role != Nobody
	p.FormToken = s.formToken(w, r)
	if p.Since == "" {
		p.Since = s.hub.now()
	}
	if who.role != Nobody {
		for _, f := range s.Catalog().Files {
			if f.Diagnostics.Errors() {
				p.Problems++
			}
		}
	}
	var out bytes.Buffer
	if err := pageTemplates()[name].ExecuteTemplate(&out, "layout", p); err != nil {
		s.Log.Error("a page cannot be made", "page", name, "error", err)
		refuse(w, http.StatusInternalServerError, "see the log of ax")
		return
	}
	writePage(w, status, out.Bytes())
}

func writePage(w http.ResponseWriter, status int, text []byte) {
	h := w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Content-Security-Policy", pagePolicy)
	h.Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_, _ = w.Write(text) // the client may have gone
}

type errorView struct {
	Status int
	Title  string
	Detail string
}

var assetHash = sync.OnceValue(func() string {
	sum := sha256.New()
	names, err := fs.Glob(staticFiles, "static/*")
	if err != nil {
		panic(err)
	}
	for _, name := range names {
		text, err := staticFiles.ReadFile(name)
		if err != nil {
			panic(err)
		}
		sum.Write(text)
	}
	sum.Write([]byte(layout.Style()))
	return hex.EncodeToString(sum.Sum(nil))[:12]
})

var staticTypes = map[string]string{".css": "text/css; charset=utf-8", ".js": "text/javascript; charset=utf-8", ".svg": "image/svg+xml"}

// serveStatic serves the files of the UI, which change with the binary alone.
func serveStatic(w http.ResponseWriter, r *http.Request) {
	name := r.PathValue("file")
	kind := staticTypes[path.Ext(name)]
	text, err := staticFiles.ReadFile("static/" + name)
	if name == "graph.css" {
		text, err = []byte(layout.Style()), nil
	}
	if err != nil || kind == "" {
		refuse(w, http.StatusNotFound, "there is nothing here")
		return
	}
	w.Header().Set("Content-Type", kind)
	w.Header().Set("Cache-Control", "no-cache")
	if r.URL.Query().Get("v") == assetHash() {
		w.Header().Set("Cache-Control", "public, max-age=31536000, immutable")
	}
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(text))
}

// missing is store.ErrNotFound in words of its own, which say it all.
func missing(format string, args ...any) error {
	return absent{fmt.Sprintf(format, args...), store.ErrNotFound}
}

// absent is an error whose text says all that its kind does.
type absent struct {
	text string
	kind error
}

func (a absent) Error() string { return a.text }

func (a absent) Unwrap() error { return a.kind }
