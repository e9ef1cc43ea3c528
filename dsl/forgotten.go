package dsl

import (
	"regexp"

	"gopkg.in/yaml.v3"
)

const blockHint = `write "run: |", with the lines of the script below it`

var (
	emptyRun   = regexp.MustCompile(`^run:[ \t]*(?:#.*)?$`)
	emptyTasks = regexp.MustCompile(`^tasks:[ \t]*(?:#.*)?$`)
)

// forgottenBar finds a script that stands below a "run:" without a bar, so that
// YAML reads it as a map or as one text, and stumbles anywhere within it.
func (x *slip) forgottenBar() bool {
	for _, at := range []int{x.began, x.at} {
		if run := x.runAround(at); run >= 0 {
			return x.say(run, run+len("run"), `"run" has lines below it, but no "|" that makes them a script`, blockHint)
		}
	}
	return false
}

// runAround gives the offset of the key "run" of a task, without a value on its
// line, that the line of an offset stands below; -1 if it stands below none.
func (x *slip) runAround(at int) int {
	text := x.src.Text
	if at >= len(text) {
		return -1
	}
	begin, column := x.indent(at)
	if begin >= lineEnd(text, at) {
		return -1
	}
	run, above := -1, 0
	for at = lineStart(text, at); at > 0; {
		at = lineBefore(text, at)
		begin, c := x.indent(at)
		line := text[begin:lineEnd(text, at)]
		if c >= column || len(line) == 0 || line[0] == '#' {
			continue
		}
		column = c
		switch {
		case run < 0 && emptyRun.Match(line):
			run = begin
		case run >= 0:
			if above++; above == 2 && emptyTasks.Match(line) {
				return run
			}
		}
	}
	return -1
}

// script reads the text of "run".
func (v val) script() Value[string] {
	if v.node == nil || v.node.Kind == yaml.ScalarNode || v.node.Style&yaml.FlowStyle != 0 && v.node.Kind == yaml.MappingNode {
		return v.filled()
	}
	hint := blockHint
	if v.node.Kind == yaml.SequenceNode {
		hint = `write "run: |", with a line of the script on each line below it; a program and its arguments are a "command"`
	}
	if v.node.Kind == yaml.MappingNode && v.at == v.node {
		v.at = v.name
	}
	v.wrongTypeHint("a text", hint)
	return Value[string]{}
}
