package main

import (
	"fmt"

	"github.com/ax-scheduler/ax/dag"
	"github.com/ax-scheduler/ax/dsl"
	"github.com/ax-scheduler/ax/runtime/reload"
)

// childrenOf gives the lookup of the workflows that a file can start by their
// names: those that are loaded with it, as ax lint sees it.
func (g *globals) childrenOf(file string) func(name string) (*dag.Plan, error) {
	in := &lintInput{workflows: absolute(g.workflows)}
	folder := in.single(file).folder
	return func(name string) (*dag.Plan, error) { return planNamed(in.listed(folder), folder, name) }
}

// planNamed compiles the workflow of a name among some files.
func planNamed(files []string, folder, name string) (*dag.Plan, error) {
	var names []string
	for _, path := range files {
		f, err := reload.Load(path)
		if err != nil || f.Workflow == nil {
			continue // another file is meant
		}
		if f.Workflow.Name.V != name {
			names = append(names, f.Workflow.Name.V)
			continue
		}
		if f.Plan == nil {
			return nil, fmt.Errorf("workflow %q has errors: see ax lint %s", name, path)
		}
		return f.Plan, nil
	}
	return nil, fmt.Errorf("there is no workflow %q in %q: %s", name, folder, dsl.Meant(name, names))
}
