package layout_test

import (
	"fmt"

	"github.com/ax-scheduler/ax/dag/layout"
)

func ExamplePlace() {
	d, err := layout.Place(layout.Graph{
		Title: "nightly",
		Nodes: []layout.Node{{ID: "extract"}, {ID: "clean"}, {ID: "page"}},
		Edges: []layout.Edge{
			{From: 0, To: 1},
			{From: 0, To: 2, Kind: layout.Failure, Label: "failed"},
		},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, b := range d.Boxes {
		fmt.Printf("%s: layer %d\n", b.ID, b.Layer)
	}
	for _, w := range d.Wires {
		fmt.Printf("%v from %v to %v\n", w.Kind, w.From, w.To)
	}
	// Output:
	// extract: layer 0
	// clean: layer 1
	// page: layer 1
	// depends from [0] to [1]
	// failure from [0] to [2]
}
