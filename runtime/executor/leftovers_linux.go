package executor

import (
	"os"
	"sync"
	"syscall"
	"time"
)

// EndLeftovers ends what is left of attempts whose engine died, each whole tree with its own grace between SIGTERM and
// SIGKILL, and returns for each attempt what could not be ended. Of the attempts it needs Origin, RunID, Task, Number, Log
// and KillAfter. It knows processes by the mark in their environment and by the log that they hold.
func EndLeftovers(attempts []Attempt) [][]string {
	trees, some := relicsOf(attempts)
	survivors := make([][]string, len(attempts))
	var all sync.WaitGroup
	for i, t := range trees {
		if some[i] {
			all.Go(func() { survivors[i] = end(t, attempts[i].KillAfter) })
		}
	}
	all.Wait()
	return survivors
}

// relicsOf gives the trees of attempts, and which of them have any processes: one look for all of them.
func relicsOf(attempts []Attempt) (trees []relics, some []bool) {
	trees, some = make([]relics, len(attempts)), make([]bool, len(attempts))
	if len(attempts) == 0 {
		return trees, some
	}
	for i, a := range attempts {
		trees[i].mark = a.mark()
		trees[i].log, _ = os.Stat(a.Log)
	}
	search(func(p process) bool {
		s := readSigns(p.pid)
		for i, t := range trees {
			some[i] = some[i] || !p.dead && t.shownBy(s)
		}
		return false
	})
	return trees, some
}

// anyLeft tells for each of some attempts whether processes of it are left.
func anyLeft(attempts []Attempt, which []int) []bool {
	asked := make([]Attempt, 0, len(which))
	for _, i := range which {
		asked = append(asked, attempts[i])
	}
	_, some := relicsOf(asked)
	return some
}

// relics is the tree of an attempt whose main process is not ours, or gone.
type relics struct {
	mark string
	log  os.FileInfo // nil if there is none
}

func (r relics) shownBy(s signs) bool {
	return s.has(r.mark) || r.log != nil && s.holds(r.log)
}

func (r relics) members() []process {
	return withDescendants(search(func(p process) bool { return r.shownBy(readSigns(p.pid)) }))
}

func (r relics) signal(sig syscall.Signal, to []process) (reached int) {
	for _, p := range to {
		if kin.send(p, sig) {
			reached++
		}
	}
	return reached
}

func (relics) pause(least, _ time.Duration) { time.Sleep(least) }
