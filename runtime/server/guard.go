package server

import (
	"bytes"
	"errors"
	"io"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"
)

// guard refuses what may not come from a program or a page of this machine's
// own: other hosts (a name that was made to point here), other origins and
// cross-site requests, bodies that a plain web form can send, and where tokens
// are set, who has none.
func (s *Server) guard(addr net.Addr, next http.Handler) http.Handler {
	ours := s.hosts(addr)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'")
		role := s.roleOf(r)
		switch {
		case !ours(r.Host):
			refuse(w, http.StatusForbidden, "the Host of the request is not this server's")
		case !ownOrigin(r):
			refuse(w, http.StatusForbidden, "the request comes from another site")
		case role == Nobody && !open(r.URL.Path):
			h.Set("WWW-Authenticate", `Bearer realm="ax"`)
			refuse(w, http.StatusUnauthorized, "send a token of this server as Authorization: Bearer TOKEN")
		case changes(r) && role < Operator:
			refuse(w, http.StatusForbidden, "the token may only read: this needs one with the role operate")
		case changes(r) && !isJSON(r):
			refuse(w, http.StatusUnsupportedMediaType, "send the request as application/json")
		default:
			// Read here and in one piece, so that the connection is closed
			// where more comes than is taken.
			body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
			if tooLarge := (*http.MaxBytesError)(nil); errors.As(err, &tooLarge) {
				refuse(w, http.StatusRequestEntityTooLarge, "a request has at most 1 MiB")
				return
			} else if err != nil {
				return // the client has gone
			}
			r.Body = io.NopCloser(bytes.NewReader(body))
			next.ServeHTTP(w, r)
		}
	})
}

// hosts tells which values of the header Host mean this server. On the loopback
// interface these are its own address and names; elsewhere any address, for a
// name that was made to point here is none, and the names that it was given.
func (s *Server) hosts(addr net.Addr) func(string) bool {
	host, port, _ := net.SplitHostPort(addr.String())
	exact := map[string]bool{addr.String(): true}
	for _, h := range []string{"127.0.0.1", "localhost", "[::1]"} {
		exact[h+":"+port] = true
	}
	loopback := net.ParseIP(host).IsLoopback()
	return func(given string) bool {
		name, _, err := net.SplitHostPort(given)
		if err != nil {
			name = strings.Trim(given, "[]")
		}
		return exact[given] || slices.Contains(s.Hosts, strings.ToLower(name)) || !loopback && net.ParseIP(name) != nil
	}
}

func ownOrigin(r *http.Request) bool {
	if site := r.Header.Get("Sec-Fetch-Site"); site == "cross-site" {
		return false
	}
	origin := r.Header.Get("Origin")
	if origin == "" {
		return true
	}
	u, err := url.Parse(origin)
	return err == nil && u.Host == r.Host && (u.Scheme == "http" || u.Scheme == "https")
}

func changes(r *http.Request) bool {
	return r.Method != http.MethodGet && r.Method != http.MethodHead && r.Method != http.MethodOptions
}

func isJSON(r *http.Request) bool {
	kind, _, _ := strings.Cut(r.Header.Get("Content-Type"), ";")
	return strings.EqualFold(strings.TrimSpace(kind), "application/json")
}

// refuse answers with a problem (RFC 9457).
func refuse(w http.ResponseWriter, status int, detail string) {
	w.Header().Set("Content-Type", "application/problem+json")
	w.WriteHeader(status)
	_ = huma.DefaultJSONFormat.Marshal(w, huma.NewError(status, detail)) // the client may have gone
}
