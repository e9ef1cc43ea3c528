package reload

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/ax-scheduler/ax/dsl"
)

// Catalog is the set of workflows that a folder holds at one time. It does not
// change; Scan makes the next one from it.
type Catalog struct {
	Workflows map[string]*Loaded // by name: the last version of each that compiled
	Files     []Found            // by path in byte order
	// Wait is how long to wait before the next scan for files that were not read
	// because they had changed just now; zero for none.
	Wait time.Duration

	folders []string        // that were looked into
	stale   map[string]bool // names of workflows whose file no longer compiles
	naming  int             // grows whenever names are given anew: catalogs with one number hold the same
}

// Found is one file of the folder.
type Found struct {
	Path        string
	Name        string // of the workflow that it is loaded as; empty if it is not
	Stale       bool   // the workflow is an older version, because this one has errors
	Diagnostics dsl.Diagnostics

	stamp   stamp
	changed time.Time // when the stamp was seen to be new, while the file is not read yet
	first   time.Time // the first such change
	loaded  *Loaded   // the last version that compiled
	hash    string    // of the text that the diagnostics are about
	named   string    // the name that the text gives the workflow; empty if it is no YAML
}

// stamp tells whether a file may have changed.
type stamp struct {
	size  int64
	mtime time.Time
	inode uint64
}

// longestWait is how long a file that goes on changing is left unread.
const longestWait = 5 * time.Second

// Scan reads a folder. What has not changed since old, which is nil at first, is
// not read again; a file that has changed is read once it has been quiet for
// delay, or after five seconds. A file that does not compile keeps its last good
// version; of two files with one name, the one that is loaded already stays, at
// first the one whose path comes first. A folder that is not there holds nothing.
func Scan(dir string, old *Catalog, now time.Time, delay time.Duration) (*Catalog, error) {
	seen := survey(dir)
	if err := seen.err(); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	if old == nil {
		old, delay = &Catalog{}, 0
	}
	c := old.next(len(seen.files))
	c.folders = seen.folders
	news := old.Workflows == nil || len(seen.files) != len(old.Files)
	for _, path := range seen.files {
		f := old.find(path)
		if is := c.take(path, f, now, delay); is.differs(f) {
			news = true
		}
	}
	if news {
		c.name(old)
	}
	return c, nil
}

// next gives a catalog with the same workflows, which is told of files anew.
func (c *Catalog) next(files int) *Catalog {
	return &Catalog{Files: make([]Found, 0, files), Workflows: c.Workflows, folders: c.folders, stale: c.stale, naming: c.naming}
}

// differs tells whether names must be given anew for what is known of a file by
// now: nil, it has gone, or it was not known before.
func (f *Found) differs(before *Found) bool {
	return f == nil || before == nil || f.hash != before.hash || f.loaded != before.loaded || f.hash == ""
}

// Rescan makes the next catalog as Scan does, but looks at some files alone, and
// at those that wait to be read. Of all others it is known, or taken, that nothing
// has happened to them: a folder of ten thousand files is not gone through for one.
func Rescan(old *Catalog, touched map[string]bool, now time.Time, delay time.Duration) *Catalog {
	c := old.next(len(old.Files) + len(touched))
	news := false
	for i := range old.Files {
		f := &old.Files[i]
		if !touched[f.Path] && f.changed.IsZero() {
			c.Files = append(c.Files, *f)
		} else if c.take(f.Path, f, now, delay).differs(f) {
			news = true
		}
	}
	for path := range touched {
		if old.find(path) == nil && IsWorkflowFile(filepath.Base(path)) && c.take(path, nil, now, delay) != nil {
			news = true
		}
	}
	if news {
		slices.SortFunc(c.Files, func(a, b Found) int { return strings.Compare(a.Path, b.Path) })
		c.name(old)
	}
	return c
}

// find gives what is known of a file, nil for nothing.
func (c *Catalog) find(path string) *Found {
	i, ok := slices.BinarySearchFunc(c.Files, path, func(f Found, path string) int { return strings.Compare(f.Path, path) })
	if !ok {
		return nil
	}
	return &c.Files[i]
}

// take adds what is known of a file by now, and gives it; nil if the file has
// gone.
func (c *Catalog) take(path string, before *Found, now time.Time, delay time.Duration) *Found {
	f, ok := look(path, before, now, delay)
	if !ok {
		return nil
	}
	if !f.changed.IsZero() {
		wait := max(min(f.changed.Add(delay).Sub(now), f.first.Add(longestWait).Sub(now)), time.Millisecond)
		if c.Wait == 0 || wait < c.Wait {
			c.Wait = wait
		}
	}
	c.Files = append(c.Files, f)
	return &c.Files[len(c.Files)-1]
}

// look gives what is known of a file by now; false if it has gone.
func look(path string, before *Found, now time.Time, delay time.Duration) (Found, bool) {
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() {
		return Found{}, false
	}
	f := Found{Path: path}
	if before != nil {
		f = *before
	}
	seen := stamp{info.Size(), info.ModTime(), inodeOf(info)}
	if seen != f.stamp {
		f.stamp, f.changed = seen, now
		if f.first.IsZero() {
			f.first = now
		}
	}
	if f.changed.IsZero() || now.Sub(f.changed) < delay && now.Sub(f.first) < longestWait {
		return f, true
	}
	text, err := os.ReadFile(path)
	if err != nil {
		f.Diagnostics = dsl.Diagnostics{{File: path, Rule: "syntax", Severity: dsl.Error, Message: "the file cannot be read: " + err.Error(), Hint: "check its permissions"}}
		return f, true // looked at again with the next scan
	}
	f.changed, f.first = time.Time{}, time.Time{}
	if src := dsl.NewSource(path, text); src.Hash() != f.hash {
		file := Check(path, text)
		f.hash, f.Diagnostics, f.named = src.Hash(), file.Diagnostics, ""
		if file.Workflow != nil {
			f.named = file.Workflow.Name.V
		}
		if file.Plan != nil {
			f.loaded = file.Keep()
		}
	}
	return f, true
}

// name decides which file each name means. Until then a file has the name that it
// had in the catalog before.
func (c *Catalog) name(old *Catalog) {
	c.Workflows, c.naming, c.stale = make(map[string]*Loaded, len(old.Workflows)), old.naming+1, map[string]bool{}
	// Who has the name already comes first; then the path decides.
	order := make([]*Found, 0, len(c.Files))
	for _, first := range []bool{true, false} {
		for i := range c.Files {
			if f := &c.Files[i]; f.holds() == first {
				order = append(order, f)
			}
		}
	}
	for _, f := range order {
		f.Name, f.Stale = "", false
		if isDuplicate := func(d dsl.Diagnostic) bool { return d.Rule == "duplicate-workflow" }; slices.ContainsFunc(f.Diagnostics, isDuplicate) {
			f.Diagnostics = slices.DeleteFunc(slices.Clone(f.Diagnostics), isDuplicate)
		}
		if f.loaded == nil {
			continue
		}
		name := f.loaded.Head.Name
		if other := c.Workflows[name.V]; other != nil {
			f.Diagnostics = append(slices.Clip(f.Diagnostics), f.loaded.Head.Source.Diagnostic("duplicate-workflow", dsl.Error, name.Pos,
				"a workflow \""+name.V+"\" is loaded from "+other.Head.Source.File+" already", "give it another name"))
			continue
		}
		c.Workflows[name.V] = f.loaded
		if f.Name, f.Stale = name.V, f.loaded.Version != f.hash; f.Stale {
			c.stale[name.V] = true
		}
	}
}

// Refused tells why no workflow of a name is loaded: the file that has it, and the
// first error in it, with its place. It is empty where no file has the name.
func (c *Catalog) Refused(name string) string {
	for i := range c.Files {
		f := &c.Files[i]
		base := filepath.Base(f.Path)
		if f.Name != "" || f.named != name && strings.TrimSuffix(base, filepath.Ext(base)) != name {
			continue
		}
		for _, d := range f.Diagnostics {
			if d.Severity == dsl.Error {
				return fmt.Sprintf("%s:%d:%d: %s", f.Path, d.Pos.Line, d.Pos.Col, d.Message)
			}
		}
	}
	return ""
}

// holds tells whether the file has its name already.
func (f *Found) holds() bool {
	return f.Name != "" && f.loaded != nil && f.Name == f.loaded.Head.Name.V
}

// Stale tells whether a workflow is an older version of its file, because the
// present one has errors.
func (c *Catalog) Stale(name string) bool { return c.stale[name] }

// Same tells whether two catalogs, one made from the other, hold the same
// workflows and diagnostics.
func (c *Catalog) Same(o *Catalog) bool {
	if o != nil && c.naming == o.naming {
		return true
	}
	if o == nil || len(c.Workflows) != len(o.Workflows) || len(c.Files) != len(o.Files) {
		return false
	}
	for name, f := range c.Workflows {
		if o.Workflows[name] != f {
			return false
		}
	}
	return slices.EqualFunc(c.Files, o.Files, func(a, b Found) bool { return a.Path == b.Path && a.hash == b.hash && a.Name == b.Name })
}
