// Package server is the HTTP side of a serving engine: an API for commands and
// scripts, and pages for people.
//
// It asks the engine and the store and decides nothing. No part of a request
// ever becomes the path of a file, and no text of a workflow, a run or a request
// ever becomes markup.
package server

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"github.com/ax-scheduler/ax/runtime"
	"github.com/ax-scheduler/ax/runtime/reload"
	"github.com/ax-scheduler/ax/store"
)

// The limits of a request (DETAILS.md, "HTTP").
const (
	maxBody       = 1 << 20
	headerTimeout = 10 * time.Second
	readTimeout   = 30 * time.Second
	idleTimeout   = 2 * time.Minute
	maxHeader     = 64 << 10
)

// Server answers HTTP for one engine. Its fields are set before use.
type Server struct {
	Engine  *runtime.Engine
	Store   store.Store
	Data    string                 // folder of the logs
	Catalog func() *reload.Catalog // what is loaded now
	Zone    *time.Location         // of workflows without `timezone`
	Version string

	Reloaded <-chan struct{} // has a value once Catalog gives another one; nil if it never does

	Retention runtime.Retention // of workflows that say nothing
	Metrics   *Metrics          // told at /metrics; nil for none

	Tokens []Token  // who may ask; none where everybody on the loopback interface may
	Hosts  []string // names, without a port, under which the server is reached beside its address
	Log    *slog.Logger

	// Stopping tells that the engine takes no more requests.
	Stopping func() bool

	hub     hub
	views   views
	keyOnce sync.Once
	key     [32]byte // signs the forms of the UI
}

// Serve answers on a listener until ctx is done.
func (s *Server) Serve(ctx context.Context, ln net.Listener) error {
	srv := &http.Server{
		Handler:           bounded(s.guard(ln.Addr(), s.unlessStopping(s.Handler()))),
		ReadHeaderTimeout: headerTimeout, ReadTimeout: readTimeout, IdleTimeout: idleTimeout, MaxHeaderBytes: maxHeader,
		ErrorLog: slog.NewLogLogger(s.Log.Handler(), slog.LevelWarn),
	}
	var listener sync.WaitGroup
	listening, silent := context.WithCancel(ctx)
	listener.Go(func() { s.listen(listening) })
	listener.Go(func() { pageTemplates() })
	defer listener.Wait()
	defer silent()
	stop := context.AfterFunc(ctx, func() { _ = srv.Close() })
	defer stop()
	if err := srv.Serve(ln); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// unlessStopping says of every request that it comes too late once the engine
// stops.
func (s *Server) unlessStopping(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if s.Stopping() {
			refuse(w, http.StatusServiceUnavailable, "ax is stopping")
			return
		}
		next.ServeHTTP(w, r)
	})
}

// Handler gives the routes without the guard that Serve puts before them.
func (s *Server) Handler() http.Handler {
	mux := http.NewServeMux()
	config := huma.DefaultConfig("ax", s.Version)
	config.OpenAPIPath, config.DocsPath, config.SchemasPath = "/api/v1/openapi", "", ""
	config.CreateHooks = nil // no links to schemas in answers
	api := humago.New(mux, config)
	api.UseMiddleware(knownQuery(api))
	s.health(api)
	s.workflows(api)
	s.runs(api)
	s.backfills(api)
	s.pauses(api)
	s.prunes(api)
	s.history(api)
	s.audits(api)
	s.logs(api)
	s.events(api)
	s.pages(mux)
	if s.Metrics != nil {
		mux.Handle("GET /metrics", s.Metrics.handler(s))
	}
	mux.HandleFunc("/", s.fallback(mux))
	return mux
}

// list is the form of every list.
type list[T any] struct {
	Body struct {
		Items      []T    `json:"items"`
		NextCursor string `json:"next_cursor"`
	}
}

func listOf[T any](items []T, next string) *list[T] {
	l := &list[T]{}
	l.Body.Items, l.Body.NextCursor = items, next
	if items == nil {
		l.Body.Items = []T{}
	}
	return l
}

// problem turns an error into an answer: the one place where that is decided.
func (s *Server) problem(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, store.ErrNotFound):
		return huma.Error404NotFound(err.Error())
	case errors.Is(err, store.ErrConflict):
		return huma.Error409Conflict(err.Error())
	case errors.Is(err, runtime.ErrRefused):
		return huma.Error422UnprocessableEntity(err.Error())
	case errors.Is(err, runtime.ErrStopped), errors.Is(err, store.ErrFull): // it can be asked again
		return huma.Error503ServiceUnavailable(err.Error())
	}
	s.Log.Error("a request failed", "error", err)
	return huma.Error500InternalServerError("see the log of ax")
}
