package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/ax-scheduler/ax/dag"
	"github.com/ax-scheduler/ax/dag/layout"
)

// graphDOT writes the language of Graphviz. Ids of tasks are identifiers, but
// are quoted all the same, since "node" and "edge" are words of it.
func graphDOT(w io.Writer, p *dag.Plan) error {
	fmt.Fprintf(w, "digraph %s {\n  rankdir=LR;\n  node [shape=box];\n", dotText(p.Workflow.Name.V))
	for i := range p.Tasks {
		n := &p.Tasks[i]
		var attrs []string
		if m := marks(n); len(m) > 0 {
			attrs = append(attrs, "label="+dotText(n.ID+"\n"+strings.Join(m, "\n")))
		}
		if n.Handles != 0 || n.Spec.Disabled.V {
			attrs = append(attrs, "style=dashed")
		}
		if n.Spec.Foreach != nil {
			attrs = append(attrs, "peripheries=2")
		}
		if about := n.Spec.Description.V; about != "" {
			attrs = append(attrs, "tooltip="+dotText(about))
		}
		fmt.Fprintf(w, "  %s%s;\n", dotText(n.ID), dotAttributes(attrs))
	}
	for i := range p.Tasks {
		for _, e := range p.Tasks[i].Downstream {
			var attrs []string
			if l := e.Label(); l != "" {
				attrs = append(attrs, "label="+dotText(l))
			}
			if e.Kind == dag.Failure {
				attrs = append(attrs, "style=dashed")
			}
			fmt.Fprintf(w, "  %s -> %s%s;\n", dotText(p.Tasks[i].ID), dotText(p.Tasks[e.To].ID), dotAttributes(attrs))
		}
	}
	_, err := fmt.Fprintln(w, "}")
	return err
}

func dotAttributes(all []string) string {
	if len(all) == 0 {
		return ""
	}
	return " [" + strings.Join(all, ", ") + "]"
}

// dotText quotes a text. A backslash begins an escape within labels, and a
// character reference is read as one everywhere.
func dotText(s string) string {
	s = strings.Map(func(r rune) rune {
		if r < ' ' && r != '\n' {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(s, "\ufffd"))
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`, "&", "&amp;").Replace(strings.TrimSpace(s)) + `"`
}

// graphMermaid writes the language of Mermaid. Nodes are numbered, since ids
// such as "end" are words of it. Those of a foreach have double sides.
func graphMermaid(w io.Writer, p *dag.Plan) error {
	fmt.Fprintln(w, "flowchart LR")
	for i := range p.Tasks {
		n := &p.Tasks[i]
		label := []string{n.ID}
		for _, m := range marks(n) {
			label = append(label, mermaidText(m))
		}
		from, to := "[", "]"
		if n.Spec.Foreach != nil {
			from, to = "[[", "]]"
		}
		fmt.Fprintf(w, "  t%d%s\"%s\"%s\n", i, from, strings.Join(label, "<br/>"), to)
	}
	for i := range p.Tasks {
		for _, e := range p.Tasks[i].Downstream {
			arrow := "-->"
			if e.Kind == dag.Failure {
				arrow = "-.->"
			}
			if l := e.Label(); l != "" {
				arrow += "|" + l + "|"
			}
			fmt.Fprintf(w, "  t%d %s t%d\n", i, arrow, e.To)
		}
	}
	return nil
}

// mermaidText escapes a text for a label: what means something in quotes or in
// HTML is written as the number of the character between # and ;.
func mermaidText(s string) string {
	var b strings.Builder
	for _, r := range s {
		if strings.ContainsRune("\"#<>&`", r) {
			fmt.Fprintf(&b, "#%d;", r)
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}

func graphSVG(w io.Writer, p *dag.Plan) error {
	picture := layout.Graph{Title: p.Workflow.Name.V}
	for i := range p.Tasks {
		n := &p.Tasks[i]
		picture.Nodes = append(picture.Nodes, layout.Node{ID: n.ID, Label: n.ID, Note: strings.Join(marks(n), ", ")})
		for _, e := range n.Downstream {
			kind := layout.Depends
			if e.Kind == dag.Failure {
				kind = layout.Failure
			}
			picture.Edges = append(picture.Edges, layout.Edge{From: i, To: int(e.To), Kind: kind, Label: e.Label()})
		}
	}
	drawing, err := layout.Place(picture)
	if err != nil {
		return err
	}
	return drawing.WriteSVG(w)
}
