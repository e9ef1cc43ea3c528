package main

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/ax-scheduler/ax/dag"
	"github.com/ax-scheduler/ax/dsl"
)

func graphCommand(g *globals) *cobra.Command {
	var format string
	cmd := &cobra.Command{
		Use:   "graph FILE|NAME",
		Short: "draw the tasks of a workflow and what they depend on",
		Long: `Draw the tasks of a workflow and what they depend on.

As text, tasks with the same number wait for equally long chains of others, and may run side
by side; behind an arrow stands what a task waits for, with the condition where that is not
success; in brackets, what else decides whether and how often it runs. What is marked "end"
runs once all else has ended.`,
		Example:           "  ax graph nightly --format svg > nightly.svg",
		Args:              exactly("FILE|NAME"),
		ValidArgsFunction: g.completeWorkflow,
		RunE: func(_ *cobra.Command, args []string) error {
			draw, ok := graphFormats[format]
			if !ok {
				return fmt.Errorf("--format %q: it is text, dot, mermaid or svg", format)
			}
			plan, err := g.loadPlan(args[0])
			if err != nil {
				return err
			}
			var out bytes.Buffer
			if err := draw(&out, plan); err != nil {
				return err
			}
			_, err = out.WriteTo(g.stdout)
			return err
		},
	}
	cmd.Flags().StringVar(&format, "format", "text", "text, dot, mermaid or svg")
	return cmd
}

var graphFormats = map[string]func(io.Writer, *dag.Plan) error{
	"text": graphText, "dot": graphDOT, "mermaid": graphMermaid, "svg": graphSVG,
}

// handlesLabel says for which ends of the run a task is a handler.
func handlesLabel(n *dag.Node) string {
	var words []string
	for _, h := range []struct {
		bit  dag.RunOutcomes
		word string
	}{{dag.RunFailed, "on_failure"}, {dag.RunSucceeded, "on_success"}} {
		if n.Handles&h.bit != 0 {
			words = append(words, h.word)
		}
	}
	if n.Handles&dag.RunCancelled != 0 {
		words = []string{"on_finish"}
	}
	return strings.Join(words, ", ")
}

// marks are what decides whether and how often a task runs, besides its edges,
// as the file would say it.
func marks(n *dag.Node) (all []string) {
	if l := handlesLabel(n); l != "" {
		all = append(all, l)
	}
	t := n.Spec
	for i := range t.Schedules {
		all = append(all, scheduleMark(&t.Schedules[i]))
	}
	if t.Join.V == dsl.JoinAny {
		all = append(all, "join: any")
	}
	if t.When.Set() {
		all = append(all, "when: "+brief(t.When.V))
	}
	if t.Foreach != nil {
		items := t.Foreach.Expr.V
		if len(t.Foreach.Items) > 0 {
			var words []string
			for _, item := range t.Foreach.Items {
				words = append(words, item.V)
			}
			items = strings.Join(words, ", ")
		}
		all = append(all, "foreach: "+brief(items))
	}
	if t.AllowFailure.V {
		all = append(all, "allow_failure")
	}
	if t.Disabled.V {
		all = append(all, "disabled")
	}
	return all
}

func scheduleMark(s *dsl.Schedule) string {
	switch {
	case !s.Cron.Set():
		return "every: " + strings.NewReplacer("m0s", "m", "h0m", "h").Replace(s.Every.V.Truncate(time.Millisecond).String())
	case s.Timezone.Set():
		return "cron: " + brief(s.Cron.V+" "+s.Timezone.V)
	}
	return "cron: " + brief(s.Cron.V)
}

// brief makes one short line of a text.
func brief(text string) string {
	const most = 40
	text = strings.Join(strings.FieldsFunc(text, func(r rune) bool { return unicode.IsSpace(r) || !unicode.IsPrint(r) }), " ")
	if utf8.RuneCountInString(text) > most {
		return string([]rune(text)[:most-1]) + "…"
	}
	return text
}

// stages numbers the tasks by how many run one after another at least until
// each has ended. What runs at the end of the run has the last number.
func stages(p *dag.Plan) (stage []int, last int) {
	stage, last = make([]int, len(p.Tasks)), len(p.Tasks)+1
	for _, t := range p.Order {
		stage[t] = max(stage[t], 1)
		for _, e := range p.Tasks[t].Downstream {
			stage[e.To] = max(stage[e.To], stage[t]+1)
		}
	}
	for t := range p.Tasks {
		if p.Tasks[t].Late {
			stage[t] = last
		}
	}
	return stage, last
}

// upstreams lists for each task what it waits for, and on which condition.
func upstreams(p *dag.Plan) [][]string {
	all := make([][]string, len(p.Tasks))
	for i := range p.Tasks {
		for _, e := range p.Tasks[i].Downstream {
			text := p.Tasks[i].ID
			if l := e.Label(); l != "" {
				text += " (" + l + ")"
			}
			if n := len(all[e.To]); n > 0 {
				all[e.To][n-1] += ","
			}
			all[e.To] = append(all[e.To], text)
		}
	}
	return all
}

// graphText prints each task, by stages, with what it waits for and its marks.
func graphText(w io.Writer, p *dag.Plan) error {
	wide := 0
	for i := range p.Tasks {
		wide = max(wide, len(p.Tasks[i].ID))
	}
	stage, last := stages(p)
	order, upstream, before := slices.Clone(p.Order), upstreams(p), 0
	slices.SortStableFunc(order, func(a, b dag.Task) int { return stage[a] - stage[b] })
	for _, t := range order {
		name := ""
		if stage[t] != before {
			name = strconv.Itoa(stage[t])
		}
		if name != "" && stage[t] == last {
			name = "end"
		}
		before = stage[t]
		words, arrow := upstream[t], ""
		if len(words) > 0 {
			arrow = "<-"
		}
		if m := marks(&p.Tasks[t]); len(m) > 0 {
			words = append(words, "["+strings.Join(m, ", ")+"]")
		}
		head := fmt.Sprintf("%3s  %-*s  %-2s", name, wide, p.Tasks[t].ID, arrow)
		if _, err := io.WriteString(w, wrapped(head, words)); err != nil {
			return err
		}
	}
	return nil
}

// wrapped puts words behind a head, on as many lines as they need.
func wrapped(head string, words []string) string {
	const most = 100
	indent := strings.Repeat(" ", len(head)) // ids are ASCII
	var all strings.Builder
	line, empty := head, true
	for _, word := range words {
		if !empty && utf8.RuneCountInString(line)+1+utf8.RuneCountInString(word) > most {
			all.WriteString(line + "\n")
			line = indent
		}
		line, empty = line+" "+word, false
	}
	return all.String() + strings.TrimRight(line, " ") + "\n"
}
