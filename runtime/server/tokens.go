package server

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"fmt"
	"net/http"
	"os"
	"strings"
	"unicode"
)

// Role is what the holder of a token may do.
type Role uint8

// The roles, each of which may do what those before it may.
const (
	Nobody   Role = iota
	Reader        // `read`: everything that changes nothing
	Operator      // `operate`: everything
)

// String gives the name of the role, as the file of tokens has it.
func (r Role) String() string { return [...]string{"nobody", "read", "operate"}[r] }

// Token lets its holder in. It is kept as a hash, which is compared in constant
// time.
type Token struct {
	Role  Role
	Local bool // of the commands that find it in the data folder
	hash  [sha256.Size]byte
}

// NewToken gives a token from its text.
func NewToken(role Role, text string) Token {
	return Token{Role: role, hash: sha256.Sum256([]byte(text))}
}

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

// caller is who sent a request.
type caller struct {
	role Role
	name string // in the log: never a token
}

type callerKey struct{}

// UserHeader is the header in which the commands of ax name the user who gave them. It is
// believed of who has their token, or where none is needed.
const UserHeader = "Ax-User"

// CommandOf gives the name under which a command of a user of the operating system
// is recorded.
func CommandOf(user string) string { return "command line (" + user + ")" }

// commandOf names the user of a command of ax; no control character gets into a
// record or a log by it.
func commandOf(r *http.Request, who caller) caller {
	given := r.Header.Get(UserHeader)
	if given == "" || len(given) > 128 || strings.ContainsFunc(given, unicode.IsControl) {
		return who
	}
	who.name = CommandOf(given)
	return who
}

func callerIn(ctx context.Context) caller {
	who, _ := ctx.Value(callerKey{}).(caller)
	return who
}

// callerOf tells who sent a request, by its token, which a page of the UI has in
// a cookie.
func (s *Server) callerOf(r *http.Request) caller {
	if len(s.Tokens) == 0 {
		return commandOf(r, caller{Operator, "loopback"})
	}
	if given := r.Header.Get("Authorization"); given != "" {
		scheme, text, _ := strings.Cut(given, " ")
		if !strings.EqualFold(scheme, "Bearer") {
			return caller{Nobody, "nobody"}
		}
		who, local := s.holderOf(strings.TrimSpace(text))
		if local {
			return commandOf(r, who)
		}
		return who
	}
	who, _ := s.holderOf(cookieText(r, tokenCookie))
	return who
}

// holderOf gives the holder of a token, and whether it is that of the commands.
func (s *Server) holderOf(text string) (who caller, local bool) {
	hash, who := sha256.Sum256([]byte(text)), caller{Nobody, "nobody"}
	for i := range s.Tokens { // all of them, so that the time tells nothing
		if t := &s.Tokens[i]; subtle.ConstantTimeCompare(hash[:], t.hash[:]) == 1 && t.Role > who.role {
			who, local = caller{t.Role, fmt.Sprintf("%s token %d", t.Role, i+1)}, t.Local
		}
	}
	return who, local
}

// open tells whether a path needs no token.
func open(path string) bool {
	switch path {
	case "/healthz", "/readyz", "/login", "/logout":
		return true
	}
	file, ok := strings.CutPrefix(path, "/static/")
	return ok && !strings.Contains(file, "/")
}
