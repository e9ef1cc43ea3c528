package server

import (
	"bytes"
	"errors"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"

	"github.com/danielgtaylor/huma/v2"
)

// guard refuses what may not come from a program or a page of this machine's
// own: other hosts (a name that was made to point here), other origins and
// cross-site requests, and bodies that a plain web form can send.
func guard(addr net.Addr, next http.Handler) http.Handler {
	_, port, _ := net.SplitHostPort(addr.String())
	hosts := map[string]bool{addr.String(): true}
	for _, h := range []string{"127.0.0.1", "localhost", "[::1]"} {
		hosts[h+":"+port] = true
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'")
		switch {
		case !hosts[r.Host]:
			refuse(w, http.StatusForbidden, "the Host of the request is not this server's")
		case !ownOrigin(r):
			refuse(w, http.StatusForbidden, "the request comes from another site")
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
