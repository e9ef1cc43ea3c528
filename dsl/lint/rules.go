package lint

import (
	"embed"
	"fmt"
	"path"
	"slices"
	"strings"
	"sync"

	"github.com/ax-scheduler/ax/dsl"
)

// severities lists all rules of `ax lint`, those of the parser and of the
// compiler of the plan included, in the order of DESIGN.md.
var severities = []struct {
	rule     string
	severity dsl.Severity
}{
	{"syntax", dsl.Error},
	{"duplicate-key", dsl.Error},
	{"unknown-key", dsl.Error},
	{"wrong-type", dsl.Error},
	{"missing-key", dsl.Error},
	{"several-documents", dsl.Error},
	{"bad-name", dsl.Error},
	{"bad-value", dsl.Error},
	{"too-large", dsl.Error},
	{"self-dependency", dsl.Error},
	{"cycle", dsl.Error},
	{"unknown-task", dsl.Error},
	{"duplicate-dependency", dsl.Warning},
	{"redundant-dependency", dsl.Info},
	{"never-runs", dsl.Error},
	{"mixed-schedules", dsl.Error},
	{"bad-cron", dsl.Error},
	{"never-fires", dsl.Error},
	{"no-timezone", dsl.Warning},
	{"dst-gap", dsl.Warning},
	{"day-or-weekday", dsl.Info},
	{"uneven-step", dsl.Info},
	{"unknown-timezone", dsl.Error},
	{"overrun", dsl.Warning},
	{"bad-expression", dsl.Error},
	{"unknown-reference", dsl.Error},
	{"not-upstream", dsl.Error},
	{"unused-param", dsl.Warning},
	{"unset-variable", dsl.Warning},
	{"shell-syntax", dsl.Error},
	{"bash-only", dsl.Warning},
	{"altered-script", dsl.Warning},
	{"unseen-failure", dsl.Warning},
	{"missing-file", dsl.Warning},
	{"duplicate-workflow", dsl.Error},
	{"unknown-workflow", dsl.Error},
	{"workflow-cycle", dsl.Error},
	{"no-timeout", dsl.Info},
	{"unused-ignore", dsl.Warning},
}

func severityOf(rule string) dsl.Severity {
	for i := range severities {
		if severities[i].rule == rule {
			return severities[i].severity
		}
	}
	panic("lint: no rule " + rule)
}

// Names gives the names of all rules, in the order of the manual.
func Names() []string {
	names := make([]string, len(severities))
	for i, s := range severities {
		names[i] = s.rule
	}
	return names
}

// Rule is one rule, with all that the manual says of it.
type Rule struct {
	Name     string
	Severity dsl.Severity
	Title    string // one sentence: what the rule finds
	Text     string // why it matters and what is exempt, in Markdown
	Bad      []Example
	Says     string // what `ax lint` prints about the bad example
	Good     []Example
}

// Example is one file of an example. Those whose names end in .yaml are
// workflows, the others are there to be looked for.
type Example struct {
	File string
	Text string
	// Marked is the part of the text, by byte offsets, that the rule points at;
	// both are 0 in a file in which it points at nothing.
	Marked [2]int
}

//go:embed rules
var ruleFiles embed.FS

// Rules gives all rules with their texts and examples, in the order of the
// manual.
func Rules() []Rule { return slices.Clone(readRules()) }

var readRules = sync.OnceValue(func() []Rule {
	rules := make([]Rule, len(severities))
	for i, s := range severities {
		text, err := ruleFiles.ReadFile(path.Join("rules", s.rule+".md"))
		if err != nil {
			panic(fmt.Sprintf("lint: the text of a rule: %v", err))
		}
		rules[i] = readRule(s.rule, string(text))
		rules[i].Severity = s.severity
	}
	return rules
})

// ruleNamed gives a rule without its texts.
func ruleNamed(name string) (Rule, bool) {
	for _, s := range severities {
		if s.rule == name {
			return Rule{Name: name, Severity: s.severity}, true
		}
	}
	return Rule{}, false
}

// readRule takes the text of a rule apart: its title, what there is to say, and
// behind lines such as `-- bad --` or `-- good/other.yaml --` the files of its
// examples, in which « and » enclose what the rule points at, and behind
// `-- says --` what is printed about the bad one.
func readRule(name, text string) Rule {
	r := Rule{Name: name}
	var body string
	to := &body
	for line := range strings.Lines(text) {
		header, ok := strings.CutPrefix(strings.TrimSuffix(line, " --\n"), "-- ")
		if !ok || !strings.HasSuffix(line, " --\n") {
			*to += line
			continue
		}
		kind, file, named := strings.Cut(header, "/")
		if !named {
			file = "nightly.yaml"
		}
		switch kind {
		case "says":
			to = &r.Says
		case "bad":
			r.Bad = append(r.Bad, Example{File: file})
			to = &r.Bad[len(r.Bad)-1].Text
		case "good":
			r.Good = append(r.Good, Example{File: file})
			to = &r.Good[len(r.Good)-1].Text
		default:
			panic(fmt.Sprintf("lint: the text of rule %q has a section %q", name, kind))
		}
	}
	r.Title, r.Text, _ = strings.Cut(body, "\n\n")
	r.Text = strings.TrimSpace(r.Text)
	for i := range r.Bad {
		e := &r.Bad[i]
		if from := strings.Index(e.Text, "«"); from >= 0 {
			e.Text = strings.Replace(e.Text, "«", "", 1)
			end := strings.Index(e.Text, "»")
			e.Text = strings.Replace(e.Text, "»", "", 1)
			e.Marked = [2]int{from, end}
		}
	}
	return r
}
