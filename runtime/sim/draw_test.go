package sim_test

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"
)

// scenario is what is tried under one seed: workflows, what is done to them, and
// the trouble that comes meanwhile.
type scenario struct {
	seed  uint64
	start time.Duration // since the beginning of virtual time
	span  time.Duration // of trouble; then all becomes calm
	slots int           // of every engine
	pools []int         // slots of p0, p1, …
	flows []*flow
	acts  []act   // by time
	harm  []fault // to writes
	slow  bool    // each write takes up to six tenths of a second, in which much can come between
}

// flow is one workflow in all its versions.
type flow struct {
	name, zone string
	days       days // the same for all versions, as the zone is
	versions   []*version
	gone       bool // it was not needed to break a promise
}

// act is something that is done from outside.
type act struct {
	at   time.Duration // since the start
	kind string
	flow int // which workflow, or which run of those there are
	wait time.Duration
	key  string
	n    int // a parameter, or the version of an edit
}

func (a act) String() string {
	return fmt.Sprintf("%s %s #%d n=%d wait=%s key=%q", a.at, a.kind, a.flow, a.n, a.wait, a.key)
}

// fault befalls the n-th write of an engine.
type fault struct {
	engine, n int
	kind      string // crash before, crash after, fails before, fails after
}

func (f fault) String() string {
	return fmt.Sprintf("write %d of engine %d: %s", f.n, f.engine, f.kind)
}

// drawer draws a scenario.
type drawer struct {
	*rand.Rand
	sc *scenario
}

func (d *drawer) chance(percent int) bool { return d.IntN(100) < percent }

// between gives a time between two, to the microsecond: hardly ever do two
// things fall on one instant.
func (d *drawer) between(from, to time.Duration) time.Duration {
	return from + time.Duration(d.Int64N(int64((to-from)/time.Microsecond)))*time.Microsecond
}

func pick[T any](d *drawer, of ...T) T { return of[d.IntN(len(of))] }

// beginnings are days on which a zone changes its clock, and ordinary ones.
var beginnings = []time.Time{
	time.Date(2000, 1, 5, 11, 0, 0, 0, time.UTC), time.Date(2000, 3, 26, 0, 0, 0, 0, time.UTC), time.Date(2000, 10, 29, 0, 0, 0, 0, time.UTC),
	time.Date(2000, 4, 2, 6, 0, 0, 0, time.UTC), time.Date(2000, 12, 31, 22, 0, 0, 0, time.UTC),
}

func draw(seed uint64) *scenario {
	d := &drawer{rand.New(rand.NewPCG(seed, 6)), &scenario{seed: seed}}
	sc := d.sc
	sc.start = pick(d, beginnings...).Sub(time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)) + d.between(0, time.Hour)
	sc.span = d.between(30*time.Minute, 3*time.Hour)
	sc.slots = 1 + d.IntN(6)
	sc.pools = []int{1, 1 + d.IntN(3)}
	n := 1 + d.IntN(4)
	for i := range n {
		sc.flows = append(sc.flows, &flow{name: fmt.Sprint("w", i), zone: pick(d, "UTC", "UTC", "Europe/Berlin", "America/New_York", "Asia/Kathmandu")})
	}
	for i, f := range sc.flows {
		f.days = d.days()
		for v := range pick(d, 1, 1, 2, 3) {
			f.versions = append(f.versions, d.version(i, v))
		}
	}
	d.acts()
	if d.chance(1) {
		d.rush()
	}
	d.harm()
	d.steps()
	slices.SortStableFunc(sc.acts, func(a, b act) int { return cmp.Compare(a.at, b.at) })
	sc.slow = d.chance(25)
	return sc
}

// acts draws what is done from outside.
func (d *drawer) acts() {
	sc := d.sc
	for at := d.between(0, 10*time.Minute); at < sc.span; at += d.between(time.Second, 25*time.Minute) {
		a := act{at: at, flow: d.IntN(len(sc.flows)), n: d.IntN(5)}
		switch p := d.IntN(100); {
		case p < 34:
			a.kind = pick(d, "trigger", "trigger", "trigger", "part")
			if d.chance(30) {
				a.wait = d.between(time.Second, 40*time.Minute)
			}
			if d.chance(25) {
				a.key = pick(d, "k1", "k2")
			}
		case p < 45:
			a.kind, a.flow = "cancel", d.IntN(100)
		case p < 58:
			a.kind, a.flow = pick(d, "retry", "retry", "rerun", "latest"), d.IntN(100)
		case p < 69:
			a.kind = pick(d, "edit", "edit", "edit", "break")
		case p < 72:
			a.kind = "remove"
		case p < 78:
			a.kind = pick(d, "pause", "resume")
		case p < 80:
			a.kind, a.wait = "backfill", d.between(time.Minute, 40*time.Minute)
		case p < 90:
			a.kind, a.wait = "crash", d.outage()
		case p < 94:
			a.kind, a.wait = "stop", d.outage()
		default:
			a.kind, a.wait = "full", d.between(time.Second, 8*time.Minute)
		}
		sc.acts = append(sc.acts, a)
		if d.chance(8) { // what was asked for may be half done
			sc.acts = append(sc.acts, act{at: at + d.between(0, pick(d, 5*time.Millisecond, time.Second)), kind: "crash", wait: d.outage()})
		}
	}
}

// rush has an engine end while it starts, all at once, more runs than it reads at a
// time: those of a workflow without max_active that are caught up after an outage.
func (d *drawer) rush() {
	for _, r := range d.sc.flows[0].versions {
		r.schedules, r.rooted = []schedule{{every: time.Minute}}, false
		r.catchup, r.window, r.overlap, r.maxActive, r.disabled = "all", 0, "queue", 0, false
	}
	at, wait := d.between(time.Minute, d.sc.span), d.between(70*time.Minute, 100*time.Minute)
	d.sc.acts = append(d.sc.acts, act{at: at, kind: "crash", wait: wait},
		act{at: at + wait + d.between(0, pick(d, 10*time.Millisecond, 3*time.Second)), kind: "crash", wait: time.Second})
}

// steps draws how the clock on the wall is set. A machine that was suspended
// has its clock set forward, and nothing else has gone on.
func (d *drawer) steps() {
	if !d.chance(20) {
		return
	}
	for range 1 + d.IntN(2) {
		by := d.between(time.Millisecond, 3*time.Minute)
		if d.chance(40) {
			by = d.between(time.Minute, 3*time.Hour)
		}
		if d.chance(50) {
			by = -by
		}
		d.sc.acts = append(d.sc.acts, act{at: d.between(0, d.sc.span), kind: "step", wait: by})
	}
}

// outage gives how long no engine is there.
func (d *drawer) outage() time.Duration {
	switch p := d.IntN(10); {
	case p < 5:
		return d.between(time.Millisecond, 20*time.Second)
	case p < 9:
		return d.between(20*time.Second, time.Hour)
	}
	return d.between(time.Hour, 30*time.Hour)
}

// harm draws what befalls single writes. In a bad hour several engines in a row
// come to their end soon after they have come up.
func (d *drawer) harm() {
	bad, last := 6, 0
	if d.chance(10) {
		bad = d.IntN(4)
		last = bad + 3
	}
	for engine := range 6 {
		n := 1 + d.IntN(12)
		if d.chance(40) {
			n = 1 + d.IntN(60)
		}
		if bad <= engine && engine < last {
			d.sc.harm = append(d.sc.harm, fault{engine, 1 + d.IntN(10), pick(d, "crash before", "crash after")})
		} else if d.chance(45) {
			kind := pick(d, "crash before", "crash after", "crash before", "crash after", "fails before", "fails after")
			d.sc.harm = append(d.sc.harm, fault{engine, n, kind})
		}
	}
}
