package executor

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// worlds are the ways in which a tree is watched: the usual one, those of old or small kernels, and that of a program
// that did not become the subreaper.
var worlds = map[string]func(t *testing.T){
	"usual": func(*testing.T) {},
	"without pidfds": func(t *testing.T) {
		kin.pidfds.Store(false)
		t.Cleanup(func() { kin.pidfds.Store(true) })
	},
	"without lists of children": func(t *testing.T) {
		kin.childrenFiles.Store(false)
		t.Cleanup(func() { kin.childrenFiles.Store(true) })
	},
	"not the subreaper": func(t *testing.T) {
		setSubreaper(t, 0)
		t.Cleanup(func() { setSubreaper(t, 1) })
	},
}

func setSubreaper(t *testing.T, on uintptr) {
	t.Helper()
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, on, 0, 0, 0); err != nil {
		t.Fatal(err)
	}
	kin.subreaper.Store(on == 1)
}

// inEveryWorld runs a test once in each, never two at a time.
func inEveryWorld(t *testing.T, test func(t *testing.T)) {
	for name, enter := range worlds {
		t.Run(name, func(t *testing.T) {
			enter(t)
			test(t)
		})
	}
}

// treeScript starts processes that write their numbers to the file pids, and says ready in a file of that name.
const treeScript = `
: > pids
note='echo $$ >> pids; exec sleep 300'
sh -c "$note" &
sh -c "$note" | cat &
bash -c 'sleep 300 & echo $! >> pids; echo $$ >> pids; wait' &
setsid sh -c "$note" &
(setsid sh -c "$note" &)
(env -i PATH="$PATH" setsid sh -c "$note" &)
setsid sh -c 'trap "" HUP; (setsid sh -c "'"$(echo "$note" | sed 's/\$/\\$/g')"'" >/dev/null 2>&1 &) & wait'
bash -c 'set -m; (sleep 300 & echo $! >> pids) & wait'
while [ "$(wc -l < pids)" -lt 9 ]; do sleep 0.01; done
`

const treeSize = 9

func pidsOf(t *testing.T, a Attempt) []int {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(a.Dir, "pids"))
	if err != nil {
		t.Fatal(err)
	}
	return numbers(strings.Fields(string(text)))
}

// wantGone wants n processes to have been there, and none of them, nor a zombie, to be.
func wantGone(t *testing.T, a Attempt, n int) {
	t.Helper()
	pids := pidsOf(t, a)
	if len(pids) != n {
		t.Errorf("the script started %d processes, not %d", len(pids), n)
	}
	for _, pid := range pids {
		if p, ok := readProcess(pid); ok && !(p.dead && p.parent != os.Getpid()) { // of a zombie, who else is its parent must see to it
			t.Errorf("%v is there: %+v", p, p)
		}
	}
	wantNoChildren(t)
}

func wantNoChildren(t *testing.T) {
	t.Helper()
	if left := kin.strangers(); len(left) > 0 {
		t.Errorf("children are left: %v", left)
	}
	kin.mu.Lock()
	defer kin.mu.Unlock()
	if len(kin.mains) > 0 {
		t.Errorf("main processes are left: %v", kin.mains)
	}
}
