package server

import (
	"net/http"
	"strings"
)

// fallback answers what no route is for, with the methods that the path takes.
func (s *Server) fallback(mux *http.ServeMux) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		var allowed []string
		for _, method := range []string{http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodDelete} {
			other := r.Clone(r.Context())
			other.Method = method
			if _, pattern := mux.Handler(other); pattern != "/" && pattern != "" {
				allowed = append(allowed, method)
			}
		}
		if len(allowed) > 0 {
			w.Header().Set("Allow", strings.Join(allowed, ", "))
			s.deny(w, r, http.StatusMethodNotAllowed, "this path takes "+strings.Join(allowed, ", "))
			return
		}
		s.deny(w, r, http.StatusNotFound, "there is nothing here")
	}
}
