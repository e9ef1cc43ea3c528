package main

import (
	"context"
	"fmt"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/ax-scheduler/ax/store"
	"github.com/ax-scheduler/ax/store/sqlite"
)

// audit prints who changed what in the data folder, the first first.
func audit(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) > 0 {
		ts.Fatalf("usage: audit")
	}
	st, err := sqlite.OpenReader(ts.MkAbs(".ax/ax.db"))
	ts.Check(err)
	defer st.Close()
	all, err := st.Changes(context.Background(), store.ChangeFilter{Limit: store.MaxLimit})
	ts.Check(err)
	for i := range all {
		c := all[len(all)-1-i]
		fmt.Fprintf(ts.Stdout(), "%s %s %s by %s\n", c.Action, c.Workflow, c.Answer, c.By)
	}
}
