package server

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ax-scheduler/ax/runtime"
)

func TestWhereTokensAreSetEachRequestNeedsOneOfTheRightRole(t *testing.T) {
	c := newClient(t, func(s *Server) {
		s.Tokens = []Token{NewToken(Reader, "look"), NewToken(Operator, "act"), NewToken(Reader, "act")}
	})
	for _, r := range []struct {
		code          int
		method, path  string
		authorization string
	}{
		{200, "GET", "/healthz", ""},
		{200, "GET", "/readyz", ""},
		{401, "GET", "/api/v1/runs", ""},
		{401, "GET", "/status", "Bearer"},
		{401, "GET", "/api/v1/runs", "Bearer lookk"},
		{401, "GET", "/api/v1/runs", "Basic look"},
		{401, "GET", "/nowhere", ""},
		{200, "GET", "/api/v1/runs", "Bearer look"},
		{200, "GET", "/api/v1/runs", "bearer look"},
		{200, "GET", "/api/v1/runs", "Bearer act"},
		{401, "POST", "/api/v1/workflows/flow/runs", ""},
		{403, "POST", "/api/v1/workflows/flow/runs", "Bearer look"},
		{201, "POST", "/api/v1/workflows/flow/runs", "Bearer act"},
	} {
		code, kind, text := c.do(r.method, r.path, "{}", "Authorization: "+r.authorization)
		if code != r.code || code >= 400 && kind != "application/problem+json" {
			t.Errorf("%s %s with %q answered %d %q, want %d: %s", r.method, r.path, r.authorization, code, kind, r.code, text)
		}
	}
}

func TestTokensAreReadFromAFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "tokens")
	for _, c := range []struct {
		text, err string
		roles     []Role
	}{
		{"# who may what\n\nread abc\n  operate\tdef  \r\n", "", []Role{Reader, Operator}},
		{"read abc\nwrite topsecret\n", ":2: a line is", nil},
		{"read\n", ":1: a line is", nil},
		{"operate a b\n", ":1: a line is", nil},
		{"# none\n", "holds no token", nil},
	} {
		if err := os.WriteFile(path, []byte(c.text), 0o600); err != nil {
			t.Fatal(err)
		}
		tokens, err := ReadTokens(path)
		switch {
		case c.err == "" && err != nil, c.err != "" && (err == nil || !strings.Contains(err.Error(), c.err)):
			t.Errorf("%q gave the error %v, want %q", c.text, err, c.err)
		case err != nil && strings.Contains(err.Error(), "topsecret"):
			t.Errorf("the error shows a token: %v", err)
		case len(tokens) != len(c.roles):
			t.Errorf("%q gave %d tokens", c.text, len(tokens))
		}
		for i := range tokens {
			if tokens[i].Role != c.roles[i] {
				t.Errorf("token %d of %q has role %d, want %d", i, c.text, tokens[i].Role, c.roles[i])
			}
		}
	}
	if _, err := ReadTokens(path + "x"); err == nil {
		t.Error("a file that is not there gave no error")
	}
}

func TestARunIsDelayedByTheAPI(t *testing.T) {
	c := newClient(t)
	at := time.Now().Add(time.Hour).UTC().Format(time.RFC3339)
	for _, r := range []struct {
		code int
		body string
	}{
		{201, `{"delay": "1h"}`}, {201, `{"delay": 3600}`}, {201, `{"delay": 3600.5}`}, {201, `{"at": "` + at + `"}`}, {201, `{"priority": 9, "delay": "2d"}`},
		{422, `{"delay": "soon"}`}, {422, `{"delay": true}`}, {422, `{"delay": -1}`}, {422, `{"at": "soon"}`}, {422, `{"priority": 10}`},
		{422, `{"delay": "1h", "at": "` + at + `"}`},
	} {
		c.want(r.code, "POST", "/api/v1/workflows/flow/runs", r.body, nil)
	}
	var list struct{ Items []runtime.Report }
	c.want(200, "GET", "/api/v1/runs?state=scheduled", "", &list)
	if len(list.Items) != 5 || list.Items[0].NotBefore == nil || list.Items[1].NotBefore.Format(time.RFC3339) != at {
		t.Errorf("the delayed runs are %+v", list.Items)
	}
	id := list.Items[0].ID
	c.want(202, "POST", "/api/v1/runs/"+id+"/cancel", "{}", nil)
	c.want(409, "POST", "/api/v1/runs/"+id+"/cancel", "{}", nil)
	if rep := c.ended(id); rep.State != "cancelled" {
		t.Errorf("the cancelled run is %s", rep.State)
	}
}
