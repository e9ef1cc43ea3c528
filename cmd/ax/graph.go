package main

import (
	"bytes"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ax-scheduler/ax/dag"
	"github.com/ax-scheduler/ax/dag/layout"
	"github.com/ax-scheduler/ax/dsl"
)

func graphCommand(g *globals) *cobra.Command {
	var format string
	cmd := &cobra.Command{
		Use:               "graph FILE|NAME",
		Short:             "draw the tasks of a workflow and what they depend on",
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

// edgeLabel says what an edge waits for, where it is not plain success.
func edgeLabel(e dag.Edge) string {
	switch {
	case e.Kind == dag.Failure:
		return "on failure"
	case e.On == dsl.OnSucceeded:
		return ""
	}
	return e.On.String()
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

// graphText prints each task, in topological order, with what it waits for.
func graphText(w io.Writer, p *dag.Plan) error {
	upstream := make([][]string, len(p.Tasks))
	for i := range p.Tasks {
		for _, e := range p.Tasks[i].Downstream {
			text := p.Tasks[i].ID
			if l := edgeLabel(e); l != "" {
				text += " (" + l + ")"
			}
			upstream[e.To] = append(upstream[e.To], text)
		}
	}
	for _, t := range p.Order {
		line := p.Tasks[t].ID
		if l := handlesLabel(&p.Tasks[t]); l != "" {
			line += "  [" + l + "]"
		}
		if len(upstream[t]) > 0 {
			line += " <- " + strings.Join(upstream[t], ", ")
		}
		if _, err := fmt.Fprintln(w, line); err != nil {
			return err
		}
	}
	return nil
}

// graphDOT writes the language of Graphviz. Ids of tasks are identifiers, but
// are quoted all the same, since "node" and "edge" are words of it.
func graphDOT(w io.Writer, p *dag.Plan) error {
	fmt.Fprintf(w, "digraph %q {\n  rankdir=LR;\n  node [shape=box];\n", p.Workflow.Name.V)
	for i := range p.Tasks {
		attrs := ""
		if l := handlesLabel(&p.Tasks[i]); l != "" {
			attrs = fmt.Sprintf(" [label=\"%s\\n%s\", style=dashed]", p.Tasks[i].ID, l)
		}
		fmt.Fprintf(w, "  %q%s;\n", p.Tasks[i].ID, attrs)
	}
	for i := range p.Tasks {
		for _, e := range p.Tasks[i].Downstream {
			var attrs []string
			if l := edgeLabel(e); l != "" {
				attrs = append(attrs, fmt.Sprintf("label=%q", l))
			}
			if e.Kind == dag.Failure {
				attrs = append(attrs, "style=dashed")
			}
			fmt.Fprintf(w, "  %q -> %q", p.Tasks[i].ID, p.Tasks[e.To].ID)
			if len(attrs) > 0 {
				fmt.Fprintf(w, " [%s]", strings.Join(attrs, ", "))
			}
			fmt.Fprintln(w, ";")
		}
	}
	_, err := fmt.Fprintln(w, "}")
	return err
}

// graphMermaid writes the language of Mermaid. Nodes are numbered, since ids
// such as "end" are words of it.
func graphMermaid(w io.Writer, p *dag.Plan) error {
	fmt.Fprintln(w, "flowchart LR")
	for i := range p.Tasks {
		label := p.Tasks[i].ID
		if l := handlesLabel(&p.Tasks[i]); l != "" {
			label += "<br/>" + l
		}
		fmt.Fprintf(w, "  t%d[\"%s\"]\n", i, label)
	}
	for i := range p.Tasks {
		for _, e := range p.Tasks[i].Downstream {
			arrow := "-->"
			if e.Kind == dag.Failure {
				arrow = "-.->"
			}
			if l := edgeLabel(e); l != "" {
				arrow += "|" + l + "|"
			}
			fmt.Fprintf(w, "  t%d %s t%d\n", i, arrow, e.To)
		}
	}
	return nil
}

func graphSVG(w io.Writer, p *dag.Plan) error {
	picture := layout.Graph{Title: p.Workflow.Name.V}
	for i := range p.Tasks {
		n := &p.Tasks[i]
		note := handlesLabel(n)
		if note == "" && n.Spec != nil && len(n.Spec.Schedules) > 0 {
			note = n.Spec.Schedules[0].Cron.V
		}
		picture.Nodes = append(picture.Nodes, layout.Node{ID: n.ID, Label: n.ID, Note: note})
		for _, e := range n.Downstream {
			kind := layout.Depends
			if e.Kind == dag.Failure {
				kind = layout.Failure
			}
			picture.Edges = append(picture.Edges, layout.Edge{From: i, To: int(e.To), Kind: kind, Label: edgeLabel(e)})
		}
	}
	drawing, err := layout.Place(picture)
	if err != nil {
		return err
	}
	return drawing.WriteSVG(w)
}
