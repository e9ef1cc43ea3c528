package dsl

import (
	"fmt"
	"strings"

	"gopkg.in/yaml.v3"
)

// command reads a program and its arguments.
func (v val) command() []Value[string] {
	if v.node != nil && v.node.Kind == yaml.ScalarNode && !isNull(v.node) {
		v.wrongTypeHint("a list of a program and its arguments", `write it as a list, or use "run" for a line of shell`)
		return nil
	}
	return v.argv()
}

// argv reads a list whose first item is a program. Arguments may be empty.
func (v val) argv() []Value[string] {
	items, ok := v.items("a list of a program and its arguments")
	if ok && len(items) == 0 {
		v.bad(v.label()+" is empty", "it begins with a program")
	}
	var all []Value[string]
	for i, at := range items {
		arg := v.itemAt(at)
		read := val.str
		if i == 0 {
			read = val.filled
		}
		if s := read(arg); s.Set() {
			all = append(all, s)
		}
	}
	return all
}

var sqlKeys = &table[SQL]{`"sql"`, `a map with "db" and "query" or "file"`, []key[SQL]{
	{"db", func(v val, s *SQL) { s.DB = v.database() }},
	{"query", func(v val, s *SQL) { s.Query = v.filled() }},
	{"file", func(v val, s *SQL) { s.File = v.filled() }},
	{"params", func(v val, s *SQL) { s.Params = v.free(false) }},
	{"save", func(v val, s *SQL) { s.Save = v.table() }},
}}

func (v val) sql() *SQL {
	s := &SQL{}
	found, ok := read(v, sqlKeys, s)
	if !ok {
		return nil
	}
	s.Pos = v.pos()
	found.need(v, "db")
	found.exactlyOne(v, "query", "file")
	return s
}

// database reads which database is meant.
func (v val) database() Value[string] {
	s := v.filled()
	if !s.Set() || strings.Contains(s.V, "${{") {
		return s
	}
	for _, scheme := range []string{"sqlite:", "postgres://", "postgresql://"} {
		if strings.HasPrefix(s.V, scheme) && len(s.V) > len(scheme) {
			return s
		}
	}
	// Not the value itself: it may hold a password.
	v.bad(v.label()+" names no database", "write sqlite:PATH or postgres://USER@HOST/NAME")
	return Value[string]{}
}

// table reads the path of a file for rows, whose form its name decides.
func (v val) table() Value[string] {
	s := v.filled()
	if s.Set() && !strings.Contains(s.V, "${{") && !strings.HasSuffix(s.V, ".csv") && !strings.HasSuffix(s.V, ".json") {
		v.bad(fmt.Sprintf("%s is %s, but must end in .csv or .json", v.label(), quote(s.V)), "")
		return Value[string]{}
	}
	return s
}

var httpKeys = &table[HTTP]{`"http"`, `a map with "url" and so on`, []key[HTTP]{
	{"url", func(v val, h *HTTP) { h.URL = v.url() }},
	{"method", func(v val, h *HTTP) { h.Method = oneOf(v, methods) }},
	{"headers", func(v val, h *HTTP) { h.Headers = v.headers() }},
	{"body", func(v val, h *HTTP) { h.Body = v.str() }},
	{"expect", func(v val, h *HTTP) {
		h.Expect = list(v, "a list of status codes", func(v val) Value[int] { return v.integer(100, 599) })
	}},
	{"save", func(v val, h *HTTP) { h.Save = v.filled() }},
}}

var methods = words("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS")

func (v val) http() *HTTP {
	h := &HTTP{}
	found, ok := read(v, httpKeys, h)
	if !ok {
		return nil
	}
	h.Pos = v.pos()
	found.need(v, "url")
	return h
}

// headers reads header fields; their names are the tokens of RFC 9110, their
// values one line.
func (v val) headers() (all []Field) {
	v.entries("a map of names to texts", func(name Value[string], v val) {
		s := v.str()
		if name.V == "" || strings.ContainsFunc(name.V, notToken) {
			v.p.add("bad-name", name.Pos, fmt.Sprintf("%s cannot be the name of a header", quote(name.V)), "")
			return
		}
		if strings.ContainsAny(s.V, "\r\n") {
			v.bad(fmt.Sprintf("header %q has more than one line", name.V), "")
			return
		}
		if s.Set() {
			all = append(all, Field{name, s})
		}
	})
	return all
}

func notToken(r rune) bool {
	switch {
	case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9':
		return false
	}
	return !strings.ContainsRune("!#$%&'*+-.^_`|~", r)
}

var childKeys = &table[ChildWorkflow]{`"workflow"`, "a map with name and params", []key[ChildWorkflow]{
	{"name", func(v val, c *ChildWorkflow) { c.Name = v.identifier("workflow name") }},
	{"params", func(v val, c *ChildWorkflow) { c.Params = v.free(false) }},
}}

func (v val) child() *ChildWorkflow {
	if v.node != nil && v.node.Kind == yaml.ScalarNode && !isNull(v.node) {
		v.wrongTypeHint(childKeys.shape, fmt.Sprintf("write {name: %s}", clip(v.p.text(v.node), 40)))
		return nil
	}
	c := &ChildWorkflow{}
	found, ok := read(v, childKeys, c)
	if !ok {
		return nil
	}
	c.Pos = v.pos()
	found.need(v, "name")
	return c
}

var waitKeys = &table[WaitFor]{`"wait_for"`, "a map with file, http, sql or until", []key[WaitFor]{
	{"file", func(v val, w *WaitFor) { w.File = v.filled() }},
	{"http", func(v val, w *WaitFor) { w.HTTP = v.http() }},
	{"sql", func(v val, w *WaitFor) { w.SQL = v.sql() }},
	{"until", func(v val, w *WaitFor) { w.Until = v.filled() }},
	{"poll", func(v val, w *WaitFor) { w.Poll = v.duration(1) }},
}}

func (v val) waitFor() *WaitFor {
	w := &WaitFor{}
	found, ok := read(v, waitKeys, w)
	if !ok {
		return nil
	}
	w.Pos = v.pos()
	found.exactlyOne(v, "file", "http", "sql", "until")
	return w
}

// call reads the name of a registered function. What may be one is for the
// program that registers it.
func (v val) call() Value[string] {
	s := v.filled()
	if strings.Contains(s.V, "${{") {
		v.p.checkName("function name", s)
		return Value[string]{}
	}
	return s
}
