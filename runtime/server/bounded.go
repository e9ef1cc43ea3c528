package server

import (
	"net/http"
	"time"
)

// sendPiece is how much of an answer a client has sendLimit to take.
const sendPiece = 64 << 10

// bounded answers clients that take what they are sent: who does not is not waited
// for longer than sendLimit a piece, however long the answer is.
func bounded(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		next.ServeHTTP(&boundedWriter{w, http.NewResponseController(w)}, r)
	})
}

type boundedWriter struct {
	http.ResponseWriter
	rc *http.ResponseController
}

// Write writes piece by piece.
func (b *boundedWriter) Write(p []byte) (n int, err error) {
	for first := true; first || n < len(p); first = false {
		if err := b.rc.SetWriteDeadline(time.Now().Add(sendLimit)); err != nil {
			return n, err
		}
		written, err := b.ResponseWriter.Write(p[n:min(n+sendPiece, len(p))])
		if n += written; err != nil {
			return n, err
		}
	}
	return n, nil
}

// Unwrap gives http.ResponseController what it needs.
func (b *boundedWriter) Unwrap() http.ResponseWriter { return b.ResponseWriter }
