package server

import (
	"crypto/sha256"
	"crypto/subtle"
	"fmt"
	"net/http"
	"os"
	"strings"
)

// Role is what the holder of a token may do.
type Role uint8

// The roles, each of which may do what those before it may.
const (
	Nobody   Role = iota
	Reader        // `read`: everything that changes nothing
	Operator      // `operate`: everything
)

// Token lets its holder in. It is kept as a hash, which is compared in constant
// time.
type Token struct {
	Role Role
	hash [sha256.Size]byte
}

// NewToken gives a token from its text.
func NewToken(role Role, text string) Token { return Token{role, sha256.Sum256([]byte(text))} }

// ReadTokens reads a file with a token a line, as ROLE TOKEN, where the role is
// read or operate. Empty lines and those that begin with # are passed over.
// Errors name the line.
func ReadTokens(path string) ([]Token, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("read the tokens: %w", err)
	}
	var tokens []Token
	for i, line := range strings.Split(string(text), "\n") {
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			continue
		}
		fields := strings.Fields(line)
		role, known := map[string]Role{"read": Reader, "operate": Operator}[fields[0]]
		if !known || len(fields) != 2 {
			return nil, fmt.Errorf("%s:%d: a line is \"read TOKEN\" or \"operate TOKEN\"", path, i+1) // the line may hold a token
		}
		tokens = append(tokens, NewToken(role, fields[1]))
	}
	if len(tokens) == 0 {
		return nil, fmt.Errorf("%s holds no token: write a line \"operate TOKEN\"", path)
	}
	return tokens, nil
}

// roleOf gives what the sender of a request may do.
func (s *Server) roleOf(r *http.Request) Role {
	if len(s.Tokens) == 0 {
		return Operator
	}
	scheme, text, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	if !strings.EqualFold(scheme, "Bearer") {
		return Nobody
	}
	hash, role := sha256.Sum256([]byte(strings.TrimSpace(text))), Nobody
	for i := range s.Tokens { // all of them, so that the time tells nothing
		if subtle.ConstantTimeCompare(hash[:], s.Tokens[i].hash[:]) == 1 {
			role = max(role, s.Tokens[i].Role)
		}
	}
	return role
}

// open tells whether a path needs no token.
func open(path string) bool { return path == "/healthz" || path == "/readyz" }
