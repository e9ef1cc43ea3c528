package dsl

import (
	"fmt"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"
)

// foreign maps words that other tools use to the key that means the same here,
// without - and _ and in lower case. A word may mean one thing in a task and
// another in the workflow; the first that the mapping has is suggested.
var foreign = map[string][]string{
	"args":             {"command"},
	"arguments":        {"command"},
	"backfill":         {"catchup"},
	"bash":             {"run"},
	"cmd":              {"command", "run"},
	"concurrency":      {"max_active", "pool"},
	"condition":        {"when"},
	"continueonerror":  {"allow_failure"},
	"crontab":          {"cron"},
	"cwd":              {"workdir"},
	"defaultargs":      {"defaults"},
	"depends":          {"depends_on"},
	"dependencies":     {"depends_on"},
	"directory":        {"workdir"},
	"dir":              {"workdir"},
	"dotenv":           {"env_file"},
	"environment":      {"env"},
	"handleron":        {"on_failure"},
	"if":               {"when", "if"},
	"inputs":           {"params"},
	"interval":         {"every", "poll"},
	"jobs":             {"tasks"},
	"loop":             {"foreach"},
	"matrix":           {"foreach"},
	"maxactiveruns":    {"max_active"},
	"maxattempts":      {"max"},
	"maxretries":       {"retry", "max"},
	"maxretrydelay":    {"max_delay"},
	"needs":            {"depends_on"},
	"on":               {"cron"},
	"onerror":          {"on_failure"},
	"onexit":           {"on_finish"},
	"parallel":         {"foreach", "max_parallel"},
	"precondition":     {"when"},
	"preconditions":    {"when"},
	"requires":         {"depends_on"},
	"retries":          {"retry", "max"},
	"retry":            {"retry", "max"},
	"retrydelay":       {"delay", "retry"},
	"retrypolicy":      {"retry"},
	"retryexponential": {"backoff"},
	"runson":           {"runs_on"},
	"schedule":         {"cron"},
	"scheduleinterval": {"cron", "every"},
	"script":           {"run"},
	"startdate":        {"valid_from"},
	"enddate":          {"valid_until"},
	"steps":            {"tasks"},
	"strategy":         {"foreach"},
	"timeoutsec":       {"timeout"},
	"timeoutseconds":   {"timeout"},
	"timeoutminutes":   {"timeout"},
	"triggerrule":      {"join"},
	"tz":               {"timezone"},
	"upstream":         {"depends_on"},
	"uses":             {"call"},
	"variables":        {"env", "params"},
	"vars":             {"env", "params"},
	"workingdir":       {"workdir"},
	"workingdirectory": {"workdir"},
	"withitems":        {"foreach"},
}

// foreignWords maps words that other tools use for a value to those that mean
// the same here.
var foreignWords = map[string][]string{
	"always":      {"finished"},
	"boolean":     {"bool"},
	"cancel":      {"replace"},
	"completed":   {"finished"},
	"done":        {"finished"},
	"error":       {"failed"},
	"exp":         {"exponential"},
	"failure":     {"failed"},
	"fixed":       {"constant"},
	"forbid":      {"skip"},
	"number":      {"float", "int"},
	"ok":          {"succeeded"},
	"one_success": {"any"},
	"success":     {"succeeded"},
	"text":        {"string"},
}

// unknownKey reports a key that its mapping does not have, and gives the one
// that was probably meant.
func (p *parser) unknownKey(v val, k *yaml.Node, title string, names []string) (meant string) {
	name := p.text(k)
	meant, hint := p.suggest(name, title, names)
	p.add("unknown-key", p.pos(k), fmt.Sprintf("unknown key %s in %s", quote(name), p.where(v)), hint)
	return meant
}

// where names the mapping that a value is, with the task that it belongs to.
func (p *parser) where(v val) string {
	if p.task != "" && v.what == "" && v.name != nil {
		return v.label() + " of " + p.task
	}
	return v.label()
}

// suggest finds what an unknown key was meant to be: a word of another tool, a
// key of another mapping, or a slip of the pen.
func (p *parser) suggest(name, title string, names []string) (meant, hint string) {
	plain := strings.ToLower(strings.NewReplacer("-", "", "_", "", " ", "").Replace(name))
	near := Nearest(name, names)
	if near != "" && sameWord(strings.TrimSpace(name), near) {
		return near, didYouMean(near)
	}
	for _, word := range foreign[plain] {
		if slices.Contains(names, word) {
			return word, fmt.Sprintf("it is called %q here", word)
		}
	}
	for _, s := range p.tables {
		if s.title() != title && slices.Contains(s.names(), name) {
			return near, fmt.Sprintf("%q is a key of %s", name, s.title())
		}
	}
	if near != "" {
		return near, didYouMean(near)
	}
	if strings.HasPrefix(name, "x-") {
		return "", "keys that begin with x- stand at the top of the file"
	}
	if len(names) <= 8 {
		return "", "allowed are " + strings.Join(names[:len(names)-1], ", ") + " and " + names[len(names)-1]
	}
	return "", ""
}

// Keys gives the keys of every mapping that has a fixed set of them, by the
// name that diagnostics call the mapping: for documentation, completion and
// the schema to agree with the parser. Keys stand in the order of the language.
func Keys() map[string][]string {
	keys := map[string][]string{}
	for _, s := range tables() {
		keys[s.title()] = s.names()
	}
	return keys
}
