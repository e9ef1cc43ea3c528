package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/ax-scheduler/ax/runtime"
	"github.com/ax-scheduler/ax/runtime/server"
)

// client talks to the ax that serves the data folder.
type client struct {
	pid   int
	base  string // of its API
	token string
}

// client gives the ax that serves the data folder; false where none does.
func (g *globals) client() (*client, bool) {
	s, ok := runtime.FindServing(g.data)
	if !ok || s.Addr == "" {
		return nil, false
	}
	return &client{s.PID, "http://" + s.Addr + "/api/v1", s.Token}, true
}

// refusal is an answer that is no success.
type refusal struct {
	status int
	detail string
}

func (r refusal) Error() string { return r.detail }

// workflowPath gives the path of something to do with a workflow, whatever its
// name has in it.
func workflowPath(name, action string) string {
	return "/workflows/" + url.PathEscape(name) + "/" + action
}

// post sends a request that changes something, and decodes the answer.
func (c *client) post(ctx context.Context, path string, body, into any) error {
	text, err := json.Marshal(body)
	if err != nil {
		return err
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, c.base+path, bytes.NewReader(text))
	if err != nil {
		return err
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set(server.UserHeader, osUser())
	if c.token != "" {
		r.Header.Set("Authorization", "Bearer "+c.token)
	}
	answer, err := (&http.Client{Timeout: time.Minute}).Do(r)
	if err != nil {
		return fmt.Errorf("ask process %d, which serves the data folder: %w", c.pid, err)
	}
	defer answer.Body.Close()
	if answer.StatusCode >= 300 {
		return problemOf(answer)
	}
	if into == nil {
		return nil
	}
	return json.NewDecoder(answer.Body).Decode(into)
}

// problemOf reads a problem (RFC 9457).
func problemOf(answer *http.Response) error {
	var problem struct {
		Detail string
		Errors []struct{ Message string }
	}
	_ = json.NewDecoder(answer.Body).Decode(&problem) // the status says enough
	said := []string{problem.Detail}
	for _, e := range problem.Errors {
		said = append(said, e.Message)
	}
	r := refusal{answer.StatusCode, strings.Join(said, ": ")}
	if r.detail == "" {
		r.detail = answer.Status
	}
	return r
}

// exitOf gives an error its exit code: what was asked for could not be
// understood, or could not be done.
func exitOf(err error) error {
	if r := (refusal{}); errors.As(err, &r) && r.status != http.StatusNotFound && r.status != http.StatusUnprocessableEntity {
		return exit{exitFailed, err}
	}
	return err
}
