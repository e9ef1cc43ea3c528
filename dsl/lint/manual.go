package lint

import (
	"fmt"
	"strings"
)

// Explain gives what `ax lint --explain` prints of a rule.
func (r Rule) Explain() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s (%s)\n\n%s\n\n%s\n\n%s\n", r.Name, r.Severity, r.Title, r.Text, r.ignorable())
	show := func(title, text string) {
		fmt.Fprintf(&b, "\n%s\n\n", title)
		for line := range strings.Lines(text) {
			if line != "\n" {
				b.WriteString("    ")
			}
			b.WriteString(line)
		}
	}
	for _, e := range r.Bad {
		show(titled("Bad", e, r.Bad), e.Text)
	}
	show("What is reported:", r.Says)
	for _, e := range r.Good {
		show(titled("Good", e, r.Good), e.Text)
	}
	return b.String()
}

func titled(what string, e Example, of []Example) string {
	if len(of) == 1 {
		return what + ":"
	}
	return fmt.Sprintf("%s, in %s:", what, e.File)
}

func (r Rule) ignorable() string {
	switch {
	case CanIgnore(r.Name):
		return "It can be ignored: # ax-ignore: " + r.Name + " REASON"
	case r.Name == "unused-ignore":
		return "It cannot be ignored."
	}
	return "It cannot be ignored: a workflow that breaks it is not loaded."
}

// Manual gives docs/lint.md: how to use the linter, and all rules.
func Manual() string {
	var b strings.Builder
	introduction, err := ruleFiles.ReadFile("rules/README.md")
	if err != nil {
		panic(fmt.Sprintf("lint: the introduction of the manual: %v", err))
	}
	b.Write(introduction)
	for _, r := range Rules() {
		fmt.Fprintf(&b, "| [`%s`](#%s) | %s | %s |\n", r.Name, r.Name, r.Severity, strings.ReplaceAll(strings.TrimSuffix(r.Title, "."), "|", "\\|"))
	}
	for _, r := range Rules() {
		fmt.Fprintf(&b, "\n## %s\n\n%s\n\n%s\n", r.Name, r.Title, r.Text)
		fmt.Fprintf(&b, "\nSeverity: %s. %s\n", r.Severity, strings.Replace(r.ignorable(), "# ax-ignore: "+r.Name+" REASON", "`# ax-ignore: "+r.Name+" REASON`.", 1))
		for _, e := range r.Bad {
			fence(&b, titled("Bad", e, r.Bad), e)
		}
		fmt.Fprintf(&b, "\n```text\n%s```\n", r.Says)
		for _, e := range r.Good {
			fence(&b, titled("Good", e, r.Good), e)
		}
	}
	return b.String()
}

func fence(b *strings.Builder, title string, e Example) {
	language := "yaml"
	if !strings.HasSuffix(e.File, ".yaml") {
		language = "text"
	}
	fmt.Fprintf(b, "\n%s\n\n```%s\n%s```\n", title, language, e.Text)
}
