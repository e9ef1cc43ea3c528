package runtime

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/ax-scheduler/ax/dsl"
)

// Notice is what a target of `notify` is told, in the form of `format: json`.
// Secrets are masked in it. Fields are only ever added.
type Notice struct {
	ID           string       `json:"id"`    // of the message: the same over all tries
	Event        string       `json:"event"` // failed, recovered, late, succeeded or broken
	Workflow     string       `json:"workflow"`
	At           time.Time    `json:"at"`      // when it happened
	Summary      string       `json:"summary"` // one line, for people
	ScheduledFor *time.Time   `json:"scheduled_for,omitempty"`
	Run          *Report      `json:"run,omitempty"`         // with those of its tasks that failed, 20 at most
	Error        string       `json:"error,omitempty"`       // of the run, one line
	File         string       `json:"file,omitempty"`        // that is broken
	Diagnostics  []NoticeFlaw `json:"diagnostics,omitempty"` // errors in it, 20 at most
}

// NoticeFlaw is one error in a broken file.
type NoticeFlaw struct {
	Line    int    `json:"line"`
	Column  int    `json:"column"`
	Rule    string `json:"rule"`
	Message string `json:"message"`
}

// maxNoted bounds what one notice lists.
const maxNoted = 20

// facts gives what a person wants to see beside the summary, each as a name and
// a value.
func (n *Notice) facts() (fs [][2]string) {
	add := func(name, value string) {
		if value != "" {
			fs = append(fs, [2]string{name, value})
		}
	}
	if n.ScheduledFor != nil {
		add("scheduled for", n.ScheduledFor.Format(time.RFC3339))
	}
	if r := n.Run; r != nil {
		add("run", r.ID)
		add("trigger", r.Trigger)
		if r.StartedAt != nil {
			add("started", r.StartedAt.Format(time.RFC3339))
		}
		if r.FinishedAt != nil {
			add("finished", r.FinishedAt.Format(time.RFC3339))
		}
		for _, t := range r.Tasks {
			add("task "+t.ID, fmt.Sprintf("%s (%s, attempt %d)", t.Error, t.Reason, t.Attempts))
		}
	}
	for _, d := range n.Diagnostics {
		add(fmt.Sprintf("%s:%d:%d", n.File, d.Line, d.Column), d.Message)
	}
	return fs
}

// body gives a notice in the form that a target wants.
func (n *Notice) body(format string) ([]byte, error) {
	switch format {
	case "slack":
		return json.Marshal(map[string]string{"text": n.slackText()})
	case "teams":
		return json.Marshal(n.teamsCard())
	}
	return json.Marshal(n)
}

// slackText is the notice in Slack's markup, which has three characters of its
// own.
func (n *Notice) slackText() string {
	plain := strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;").Replace
	var b strings.Builder
	fmt.Fprintf(&b, "*%s*", plain(n.Summary))
	for _, f := range n.facts() {
		fmt.Fprintf(&b, "\n%s: %s", plain(f[0]), plain(f[1]))
	}
	return b.String()
}

// teamsCard is the notice as a message with an Adaptive Card, which incoming
// webhooks of Teams take.
func (n *Notice) teamsCard() any {
	type object = map[string]any
	var facts []object
	for _, f := range n.facts() {
		facts = append(facts, object{"title": f[0], "value": f[1]})
	}
	card := object{
		"$schema": "http://adaptivecards.io/schemas/adaptive-card.json", "type": "AdaptiveCard", "version": "1.4",
		"body": []object{
			{"type": "TextBlock", "text": n.Summary, "weight": "bolder", "wrap": true},
			{"type": "FactSet", "facts": facts},
		},
	}
	return object{"type": "message", "attachments": []object{{"contentType": "application/vnd.microsoft.card.adaptive", "content": card}}}
}

// mailText is the notice as the text of a mail.
func (n *Notice) mailText() string {
	var b strings.Builder
	b.WriteString(n.Summary + "\n")
	for i, f := range n.facts() {
		if i == 0 {
			b.WriteString("\n")
		}
		fmt.Fprintf(&b, "%s: %s\n", f[0], f[1])
	}
	return b.String()
}

// flaws gives the errors among diagnostics.
func flaws(ds dsl.Diagnostics) (fs []NoticeFlaw) {
	for _, d := range ds {
		if d.Severity == dsl.Error && len(fs) < maxNoted {
			fs = append(fs, NoticeFlaw{int(d.Pos.Line), int(d.Pos.Col), d.Rule, d.Message})
		}
	}
	return fs
}
