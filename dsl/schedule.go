package dsl

import (
	"fmt"
	"strings"
	"time"

	"gopkg.in/yaml.v3"
)

// cronKeys is the long form of an entry of `cron`.
var cronKeys = &table[Schedule]{`an entry of "cron"`, "a cron expression, or a map with cron, timezone and params", []key[Schedule]{
	{"cron", func(v val, s *Schedule) { s.Cron = v.cron() }},
	{"timezone", func(v val, s *Schedule) { s.Timezone = v.filled() }},
	{"params", func(v val, s *Schedule) { s.Params = v.free(false) }},
}}

// crons reads `cron`: an expression, or a list of expressions and long forms.
func (v val) crons() (all []Schedule) {
	if v.node == nil {
		return nil
	}
	if v.node.Kind != yaml.SequenceNode {
		if v.node.Kind == yaml.MappingNode {
			v.wrongTypeHint("a cron expression or a list", "put the map into a list: begin it with a dash")
		} else if c := v.cron(); c.Set() {
			all = append(all, Schedule{Cron: c})
		}
		return all
	}
	for _, at := range v.node.Content {
		v, s := v.itemAt(at), Schedule{}
		if v.node != nil && v.node.Kind == yaml.ScalarNode {
			s.Cron = v.cron()
		} else if found, ok := read(v, cronKeys, &s); ok {
			found.need(v, "cron")
		}
		if s.Cron.Set() {
			all = append(all, s)
		}
	}
	return all
}

// cron keeps the expression as text; dsl/lint knows whether it is a good one.
func (v val) cron() Value[string] {
	s, ok := v.scalar("a cron expression")
	switch {
	case !ok:
		return Value[string]{}
	case strings.TrimSpace(s.V) == "":
		v.bad(v.label()+" is empty", `write five fields, such as "30 2 * * *"`)
		return Value[string]{}
	case strings.Contains(s.V, "${{"):
		v.bad(v.label()+" cannot be an expression", "schedules are fixed when the file is read")
		return Value[string]{}
	}
	return s
}

func (v val) every() []Schedule {
	if d := v.duration(time.Second); d.Set() {
		return []Schedule{{Every: d}}
	}
	return nil
}

var afterOutcomes = []choice[AfterOutcome]{
	{"succeeded", AfterSucceeded}, {"failed", AfterFailed}, {"finished", AfterFinished},
}

// after reads workflow names, or a map of them to the end that counts.
func (v val) after() (all []After) {
	if v.node != nil && v.node.Kind == yaml.MappingNode {
		v.entries("", func(name Value[string], v val) {
			ok := v.p.checkName("workflow name", name)
			on := oneOf(v, afterOutcomes)
			if ok && on.Set() {
				all = append(all, After{name, on.V})
			}
		})
		return all
	}
	names := oneOrList(v, "a workflow name, a list of them or a map of them to succeeded, failed or finished",
		func(v val) Value[string] { return v.identifier("workflow name") })
	for _, name := range names {
		all = append(all, After{name, AfterSucceeded})
	}
	return all
}

// exception reads an entry of `except`: a day, or the path of a file of days.
func (v val) exception() Value[string] {
	s := v.filled()
	if dateForm().MatchString(s.V) {
		if _, err := ParseDate(s.V); err != nil {
			v.bad(fmt.Sprintf("%s has %s, which is no date", v.label(), quote(s.V)), dateRule)
			return Value[string]{}
		}
	}
	return s
}
