package server

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"github.com/ax-scheduler/ax/runtime"
)

// guard refuses what may not come from a program or a page of this machine's
// own: other hosts (a name that was made to point here), other origins and
// cross-site requests, bodies that a plain web form can send unless it is one of
// the UI's own, and where tokens are set, who has none. It records every change.
func (s *Server) guard(addr net.Addr, next http.Handler) http.Handler {
	ours := s.hosts(addr)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'")
		who := s.callerOf(r)
		r = r.WithContext(context.WithValue(r.Context(), callerKey{}, who))
		switch {
		case !ours(r.Host): // no page, which might tell another site something
			refuse(w, http.StatusForbidden, "the Host of the request is not this server's: call it by its address, or give its name with --host")
		case !ownOrigin(r):
			s.deny(w, r, http.StatusForbidden, "the request comes from another site")
		case who.role == Nobody && !open(r.URL.Path):
			s.unknown(w, r)
		case changes(r) && who.role < Operator && !open(r.URL.Path):
			s.deny(w, r, http.StatusForbidden, "the token may only read: this needs one with the role operate")
		case changes(r) && !isJSON(r) && !isForm(r):
			s.deny(w, r, http.StatusUnsupportedMediaType, "send the request as application/json")
		default:
			s.pass(w, r, next)
		}
	})
}

// unknown answers those who have no token: in a browser they are asked for one.
func (s *Server) unknown(w http.ResponseWriter, r *http.Request) {
	if wantsPage(r) && !changes(r) {
		http.Redirect(w, r, "/login?"+url.Values{"next": {r.URL.RequestURI()}}.Encode(), http.StatusSeeOther)
		return
	}
	w.Header().Set("WWW-Authenticate", `Bearer realm="ax"`)
	refuse(w, http.StatusUnauthorized, "send a token of this server as Authorization: Bearer TOKEN")
}

// pass hands on what may come in.
func (s *Server) pass(w http.ResponseWriter, r *http.Request, next http.Handler) {
	// Read here and in one piece, so that the connection is closed where more
	// comes than is taken.
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	if tooLarge := (*http.MaxBytesError)(nil); errors.As(err, &tooLarge) {
		refuse(w, http.StatusRequestEntityTooLarge, "a request has at most 1 MiB")
		return
	} else if err != nil { // or the client has gone
		refuse(w, http.StatusBadRequest, "the body of the request did not come as its headers say, or too slowly")
		return
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	if !changes(r) {
		next.ServeHTTP(w, r)
		return
	}
	if !isJSON(r) && !s.ownForm(r) {
		s.deny(w, r, http.StatusForbidden, "the form is not one of this server, or from before it was started again: go back, load the page again and send it once more")
		return
	}
	rec, who := &recorder{ResponseWriter: w, status: http.StatusOK}, callerIn(r.Context())
	r = r.WithContext(runtime.WithActor(r.Context(), runtime.Actor{By: who.name, From: r.RemoteAddr}))
	next.ServeHTTP(rec, r)
	if runtime.Looks(r.Context()) {
		return
	}
	s.record(r, rec.status)
	s.Log.Info("change", "by", who.name, "from", r.RemoteAddr, "method", r.Method, "path", r.URL.Path, "answer", rec.status)
}

// recorder remembers the status of an answer.
type recorder struct {
	http.ResponseWriter
	status int
}

func (r *recorder) WriteHeader(status int) {
	r.status = status
	r.ResponseWriter.WriteHeader(status)
}

// Unwrap gives http.ResponseController what it needs.
func (r *recorder) Unwrap() http.ResponseWriter { return r.ResponseWriter }

// hosts tells which values of the header Host mean this server. On the loopback
// interface these are its own address and names; elsewhere any address, for a
// name that was made to point here is none, and the names that it was given.
func (s *Server) hosts(addr net.Addr) func(string) bool {
	host, port, _ := net.SplitHostPort(addr.String())
	exact := map[string]bool{addr.String(): true}
	for _, h := range []string{"127.0.0.1", "localhost", "[::1]"} {
		exact[h+":"+port] = true
		if port == "80" {
			exact[h] = true // browsers leave it out
		}
	}
	names := map[string]bool{}
	for _, h := range s.Hosts {
		names[strings.ToLower(h)] = h != ""
	}
	loopback := net.ParseIP(host).IsLoopback()
	return func(given string) bool {
		name, _, err := net.SplitHostPort(given)
		if err != nil {
			name = strings.Trim(given, "[]")
		}
		return exact[given] || names[strings.ToLower(name)] || !loopback && net.ParseIP(name) != nil
	}
}

// ownOrigin tells whether a request comes from a page of this server, from no page,
// or follows a link: that changes nothing, and who put the link somewhere is not
// shown what it leads to.
func ownOrigin(r *http.Request) bool {
	if r.Header.Get("Sec-Fetch-Site") == "cross-site" && !followsLink(r) {
		return false
	}
	origin := r.Header.Values("Origin")
	return len(origin) == 0 || len(origin) == 1 && (origin[0] == "http://"+r.Host || origin[0] == "https://"+r.Host)
}

// followsLink tells whether a browser shows what is asked for as a page of its own,
// in no frame.
func followsLink(r *http.Request) bool {
	return (r.Method == http.MethodGet || r.Method == http.MethodHead) && wantsPage(r) &&
		r.Header.Get("Sec-Fetch-Mode") == "navigate" && r.Header.Get("Sec-Fetch-Dest") == "document"
}

func changes(r *http.Request) bool {
	return r.Method != http.MethodGet && r.Method != http.MethodHead && r.Method != http.MethodOptions
}

func isJSON(r *http.Request) bool { return hasType(r, "application/json") }

// isForm tells whether a request may be a form of the UI: those of the API have
// none.
func isForm(r *http.Request) bool {
	return hasType(r, "application/x-www-form-urlencoded") && !strings.HasPrefix(r.URL.Path, "/api/")
}

func hasType(r *http.Request, kind string) bool {
	given, _, _ := strings.Cut(r.Header.Get("Content-Type"), ";")
	return strings.EqualFold(strings.TrimSpace(given), kind)
}

// wantsPage tells whether a request comes from somebody who looks at pages.
func wantsPage(r *http.Request) bool {
	return strings.Contains(r.Header.Get("Accept"), "text/html") && !strings.HasPrefix(r.URL.Path, "/api/")
}

// deny answers with a page or a problem, as the asker can read.
func (s *Server) deny(w http.ResponseWriter, r *http.Request, status int, detail string) {
	if !wantsPage(r) {
		refuse(w, status, detail)
		return
	}
	title := http.StatusText(status)
	s.render(w, r, status, "error", page{Title: title}, errorView{status, title, detail})
}

// refuse answers with a problem (RFC 9457).
func refuse(w http.ResponseWriter, status int, detail string) {
	w.Header().Set("Content-Type", "application/problem+json")
	w.WriteHeader(status)
	_ = huma.DefaultJSONFormat.Marshal(w, huma.NewError(status, detail)) // the client may have gone
}
