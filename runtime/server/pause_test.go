package server

import (
	"strings"
	"testing"
)

func TestSchedulesArePausedByWhoMayAndThatIsTold(t *testing.T) {
	c := newClient(t, flows(t, "name: timed\nevery: 1h\ntasks:\n  a: {run: 'true'}\n"), func(s *Server) {
		commands := NewToken(Operator, "commands")
		commands.Local = true
		s.Tokens = []Token{NewToken(Reader, "look"), NewToken(Operator, "act"), commands}
	})
	const at = "/api/v1/workflows/timed"
	ask := func(code int, method, path, token string, parts ...string) {
		t.Helper()
		got, _, text := c.do(method, path, "{}", "Authorization: Bearer "+token, "Ax-User: alice")
		if got != code {
			t.Errorf("%s %s answered %d, want %d: %s", method, path, got, code, text)
		}
		for _, part := range parts {
			if !strings.Contains(text, part) {
				t.Errorf("%s %s lacks %s: %s", method, path, part, text)
			}
		}
	}
	ask(403, "POST", at+"/pause", "look")
	ask(200, "GET", at, "look", `"paused":null`)
	ask(404, "POST", "/api/v1/workflows/gone/pause", "act")
	ask(200, "POST", at+"/pause", "act", `"paused":{"by":"operate token 2","since":"`, `"next":null`)
	ask(200, "POST", at+"/pause", "commands", `"by":"operate token 2"`) // it is paused already
	for _, path := range []string{at, "/api/v1/workflows", "/status"} {
		ask(200, "GET", path, "look", `"paused":{"by":"operate token 2","since":"`)
	}
	ask(200, "POST", at+"/resume", "act", `"paused":null`)
	ask(200, "POST", at+"/resume", "act", `"paused":null`)
	ask(200, "POST", at+"/pause", "commands", `"by":"command line (alice)"`)
}
