package main

import (
	"database/sql"
	"sync"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/ax-scheduler/ax/runtime"
)

// older makes the database one that an ax before the first attempts in the rows of
// tasks has written.
func older(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) > 0 {
		ts.Fatalf("usage: older")
	}
	db, err := sql.Open("sqlite", "file:"+ts.MkAbs(".ax/ax.db"))
	ts.Check(err)
	defer db.Close()
	_, err = db.Exec(`
		INSERT INTO attempts (run, idx, instance, number, state, reason, error, log, exit_code, warnings, started_at, finished_at)
			SELECT run, idx, instance, 1, first_attempt ->> 0, first_attempt ->> 1, first_attempt ->> 2, first_attempt ->> 3,
				first_attempt ->> 4, nullif(first_attempt -> 5, 'null'), first_attempt ->> 6, first_attempt ->> 7
			FROM tasks WHERE first_attempt <> '';
		ALTER TABLE tasks DROP COLUMN first_attempt;
		PRAGMA user_version = 4;`)
	ts.Check(err)
}

// engines are the claims of those that scripts have started, by data folder.
var engines sync.Map

// engine starts or ends what other processes take for an engine on the data folder.
func engine(ts *testscript.TestScript, neg bool, args []string) {
	data := ts.MkAbs(".ax")
	switch {
	case !neg && len(args) == 1 && args[0] == "starts":
		claim, err := runtime.NewClaim(data)
		ts.Check(err)
		engines.Store(data, claim)
	case !neg && len(args) == 1 && args[0] == "ends":
		claim, ok := engines.LoadAndDelete(data)
		if !ok {
			ts.Fatalf("there is no engine")
		}
		ts.Check(claim.(*runtime.Claim).Release())
	default:
		ts.Fatalf("usage: engine starts|ends")
	}
}
