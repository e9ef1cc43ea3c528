package executor

import (
	"os"
	"slices"
	"sync"
	"syscall"
	"time"
)

// orphans are the living descendants of attempts whose parent is now this process. All attempts share what one look
// found, or many that end together would each look at the orphans of all.
type orphans struct {
	sync.Mutex
	looked time.Time       // when the last look began
	known  map[int]*orphan // by pid
}

type orphan struct {
	process
	signs signs  // as they were when it was found: it can only lose them
	owner *child // nil if it is not known yet
}

// orphansOf returns the orphans of one attempt, and reaps those of all that are dead.
func (f *family) orphansOf(c *child) (list []process) {
	asked := time.Now()
	if len(f.strangers()) == 0 {
		return nil // nearly always, and without the locks, of which one waits for every start
	}
	f.orphans.Lock()
	defer f.orphans.Unlock()
	if f.orphans.looked.Before(asked) {
		f.lookForOrphansLocked()
	}
	for _, o := range f.orphans.known {
		if o.owner == c {
			list = append(list, o.process)
		}
	}
	return list
}

func (f *family) lookForOrphansLocked() {
	f.orphans.looked = time.Now()
	before := f.orphans.known
	f.orphans.known = make(map[int]*orphan, len(before))
	for _, p := range f.adopted() {
		o := before[p.pid]
		if o == nil || o.start != p.start {
			o = &orphan{signs: readSigns(p.pid)}
		}
		o.process = p
		if o.owner == nil {
			o.owner = f.ownerOf(o)
		}
		f.orphans.known[p.pid] = o
	}
}

// adopted returns the living children of this process that it did not start, and reaps the dead.
func (f *family) adopted() []process {
	f.fork.Lock()
	defer f.fork.Unlock()
	group := syscall.Getpgrp()
	for {
		var living []process
		reaped := false
		for _, pid := range f.strangers() {
			p, ok := readProcess(pid)
			switch {
			case !ok || p.parent != os.Getpid() || p.group == group:
			case !p.dead:
				living = append(living, p)
			default:
				_, err := reap(pid)
				reaped = reaped || err == nil
			}
		}
		if !reaped { // else its children may have come to us meanwhile
			return living
		}
	}
}

// strangers returns the children of this process that are neither main processes nor helpers. The kernel gives orphans to the first
// thread; of the other threads' children none can be an orphan.
func (f *family) strangers() []int {
	list := childrenOf(os.Getpid(), os.Getpid())
	if len(list) == 0 {
		return nil
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	strange := list[:0]
	for _, pid := range list {
		if f.mains[pid] == nil && !f.helpers[pid] {
			strange = append(strange, pid)
		}
	}
	return strange
}

// ownerOf returns whose an orphan is: by its group, by the mark in its environment, or by the output that it holds. One
// that has shed all three (some daemons overwrite their environment) belongs to the only attempt that can have begun
// it, and to nobody while there are several. As the first process of a container we are also given orphans of others, so
// there it needs a sign.
func (f *family) ownerOf(o *orphan) *child {
	f.mu.Lock()
	defer f.mu.Unlock()
	if c := f.mains[o.group]; c != nil {
		return c
	}
	var possible []*child
	for _, c := range f.mains {
		if o.signs.has(c.mark) || o.signs.holds(c.out) {
			return c
		}
		possible = append(possible, c)
	}
	if len(o.signs.marks) > 0 || os.Getpid() == 1 {
		return nil
	}
	possible = slices.DeleteFunc(possible, func(c *child) bool { return c.begun() > o.start })
	if len(possible) == 1 {
		return possible[0]
	}
	return nil
}
