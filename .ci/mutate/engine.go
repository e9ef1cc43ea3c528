package main

// engineBugs are those that the simulation of runtime/sim finds. Each stands in
// a file of runtime.
var engineBugs = []bug{
	{"what is committed is not waited for", "commit.go", "	lp.writing = true\n	lp.commits <- w\n", "	for _, c := range w.commands {\n		lp.act(c.l, c.c)\n	}\n	w.commands = nil\n	lp.writing = true\n	lp.commits <- w\n"},
	{"a commit is skipped now and then", "commit.go", "	err := e.Store.Commit(ctx, b)\n", "	if len(b.Append) == 1 && len(b.Attempts) == 0 && len(b.Tasks) == 1 && len(b.Create) == 0 {\n		return nil\n	}\n	err := e.Store.Commit(ctx, b)\n"},
	{"a wake-up is lost", "pools.go", "			lp.wake(l)\n", "			_ = l\n"},
	{"the timer of a retry is forgotten over a restart", "resume.go", "if _, again := c.(machine.StartAttempt); !again {", "if w, timer := c.(machine.WakeAt); !timer || w.Timer != machine.TimerRetry {\n			if _, again := c.(machine.StartAttempt); again {\n				continue\n			}"},
	{"the slot of the engine is not given back", "loop.go", "	lp.giveSlot(l.run.Plan().Tasks[c.Task].Spec)\n", "	if !o.Interrupted {\n		lp.giveSlot(l.run.Plan().Tasks[c.Task].Spec)\n	}\n"},
	{"the number of an attempt is used again", "loop.go", "	number := l.run.View(u).Attempts + 1\n	at := lp.now()\n", "	number := max(1, l.run.View(u).Attempts)\n	at := lp.now()\n"},
	{"a tick is fired again after a restart", "schedule.go", "			s.last = span.Last\n", "			s.last = span.First\n"},
	{"ticks that are in the ledger lose their conflict", "schedule.go", "	if errors.Is(err, store.ErrConflict) {\n		return nil\n	}\n	if err != nil {\n		return err\n	}\n", "	if err != nil && !errors.Is(err, store.ErrConflict) {\n		return err\n	}\n"},
	{"a slot is not taken for an adopted attempt", "resume.go", "		lp.takeSlot(l, c.Unit())\n", "		if r.adopted[i].Await == nil {\n			lp.takeSlot(l, c.Unit())\n		}\n"},
	{"the store is looked at once for delayed runs", "waiting.go", "			lp.lookAt(next)\n", ""},
	{"a delayed run waits for the look of every half minute", "waiting.go", "	n, next := due(", "	n, _ := due("},
	{"a live run takes the new version", "replay.go", "return e.planOf(ctx, run, version) }, before)", "return e.workflow(run.Workflow) }, before)"},
	{"what a dead engine's processes did is thrown away", "resume.go", "	if x, ok := e.Executor.(adopter); ok && len(attempts) > 0 {", "	if x, ok := e.Executor.(adopter); ok && len(attempts) > 1 {"},
	{"interruptions are not counted", "machine/attempts.go", "	s.cutOff++\n", ""},
	{"max_active is exceeded after a restart", "resume.go", "	lp.flow(l.rec.Workflow).active = append(lp.flow(l.rec.Workflow).active, l)\n", ""},
	{"a hole is left where a write of ticks fails", "commit.go", "lp.fail(err) }) }()", "_ = lp }) }()"},
	{"queued runs are forgotten while the disk is full", "waiting.go", "e.patiently(ctx, func() error { return e.takeIn(ctx, runs) })", "e.takeIn(ctx, runs)"},
	{"a timeout is not enforced after a restart", "resume.go", "if _, again := c.(machine.StartAttempt); !again {", "if w, timer := c.(machine.WakeAt); !timer || w.Timer != machine.TimerAttempt {\n			if _, again := c.(machine.StartAttempt); again {\n				continue\n			}"},
	{"a record of an end is thrown away before the end is stored", "loop.go", "		lp.after = append(lp.after, o.Settled)\n", "		o.Settled()\n"},
	{"a cancel is not carried on after a restart", "resume.go", "if _, again := c.(machine.StartAttempt); !again {", "if stop, is := c.(machine.StopAttempt); !is || stop.Reason != machine.ReasonCancelled {\n			if _, again := c.(machine.StartAttempt); again {\n				continue\n			}"},
	{"what follows from an outcome is not in its transaction", "commit.go", "	for _, u := range changed {\n", "	for _, u := range changed[:min(1, len(changed))] {\n"},
	{"queued runs are read before those that started are on disk", "waiting.go", "	lp.after = append(lp.after, func() { lp.fetchNow(name) })\n", "	lp.fetchNow(name)\n"},
}
