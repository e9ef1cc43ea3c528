// Package lint finds what would go wrong with workflow files before they run:
// every rule of `ax lint` that neither the parser nor the compiler of the plan
// reports, the suppression of rules by comments, and the formats that other
// programs read.
//
// It is a function of the texts, of a time and of a file system, all three
// given. It must not start, schedule or change anything, and a rule that is not
// certain stays silent: a false alarm costs more than a missed one.
package lint

import (
	"io/fs"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/ax-scheduler/ax/dag"
	"github.com/ax-scheduler/ax/dsl"
)

// File is a workflow file that has been read. It does not change.
type File struct {
	Source      *dsl.Source
	Workflow    *dsl.Workflow   // nil if the text is no YAML
	Plan        *dag.Plan       // nil if the graph has errors
	sketch      *dag.Plan       // the same as far as it could be made out; see dag.Sketch
	Diagnostics dsl.Diagnostics // what the parser and the compiler of the plan reported
	mended      map[int32]bool  // lines of the text that stand for broken ones

	// Dir is where the relative paths of the file start: an absolute path with
	// slashes. Empty if it is not known; then no file is looked for.
	Dir string
	// Folder says which files are loaded together, by one engine: those with
	// equal values. Names of workflows are unique and known within one.
	Folder string
}

// Parse reads a file. The name is that of diagnostics, dir becomes File.Dir,
// folder File.Folder.
func Parse(name string, text []byte, dir, folder string) *File {
	f := &File{Source: dsl.NewSource(name, text), Dir: filepath.ToSlash(dir), Folder: folder}
	f.Workflow, f.Diagnostics = dsl.Parse(name, text)
	if f.Workflow == nil {
		return f
	}
	f.Source = f.Workflow.Source
	sketch, ds, whole := dag.Sketch(f.Workflow)
	f.sketch, f.Diagnostics = sketch, append(f.Diagnostics, ds...)
	if whole {
		f.Plan = sketch
	}
	return f
}

// Options are what the rules look at besides the files themselves. The zero
// value is of use: then the rules that need more are left out.
type Options struct {
	// Now is the time from which on changes of the clock are looked for
	// (dst-gap).
	Now time.Time
	// Root is the file system of this machine, from / on (missing-file,
	// unused-param).
	Root fs.FS
	// Others gives the files that an engine would load from a folder besides
	// those that are checked. It is called, at most once for each folder, when
	// a name of a workflow is not found among these. Nothing is reported about
	// the others, and they may be incomplete. Nil if there are none.
	Others func(folder string) []*File
	// NoFunctions says that no functions of Go are registered with the engine
	// that is to run the files, as in ax itself: then `call` is reported.
	NoFunctions bool
}

// Check gives everything that is wrong with some files, in order of file and
// place, each mistake once: what Parse found, the rules of this package, and
// what only shows when files are looked at together. What a comment suppresses
// is left out; a comment that suppresses nothing is reported. The same input
// gives the same answer. All processors are used. Time and memory are linear in
// the size of the files.
func Check(files []*File, o Options) dsl.Diagnostics {
	files = standIns(files)
	jobs := jobsFor(files)
	found := make([][]finding, len(jobs))
	d := &disk{root: o.Root}
	inParallel(len(jobs), func(i int) { found[i] = jobs[i].run(&o, d) })

	byFile := make(map[*File][]finding, len(files))
	for i, j := range jobs {
		byFile[j.file] = append(byFile[j.file], found[i]...)
	}
	across(files, &o, byFile)
	var all dsl.Diagnostics
	for _, f := range files {
		all = append(all, quiet(f.elsewhere(settled(f, &o, byFile[f])))...)
	}
	all.Sort()
	return all
}

// finding is a diagnostic of this package.
type finding struct {
	dsl.Diagnostic
	// head is the line of the key's value that the place is in, if that began
	// above it: a comment there holds for all of the value.
	head int32
	// code is the text of an expression that has a fault, with what was meant:
	// what it mentions may well be used.
	code string
}

// settled brings together all that was found in one file.
func settled(f *File, o *Options, found []finding) dsl.Diagnostics {
	seen := make(map[mistake]bool, len(found))
	var names map[string]bool
	all := make([]finding, 0, len(f.Diagnostics)+len(found))
	for _, d := range f.Diagnostics {
		seen[mistake{d.Rule, d.Pos}] = true
		all = append(all, finding{Diagnostic: d})
	}
	for _, d := range found {
		// What several tasks share by an alias or by defaults is wrong once.
		m := mistake{d.Rule, d.Pos}
		if seen[m] {
			continue
		}
		if d.Rule == "unused-param" {
			if names == nil {
				names = mentioned(found)
			}
			if names[d.code] {
				continue
			}
		}
		seen[m] = true
		all = append(all, d)
	}
	if f.Plan != nil && slices.ContainsFunc(all, func(d finding) bool { return d.Severity == dsl.Error }) {
		mistaken := *f // what an error keeps from being tried is not known to be gone
		mistaken.Plan = nil
		f = &mistaken
	}
	return suppress(f, o, all)
}

// mentioned gives the names that faulty expressions have in them: a parameter of
// such a name is used once the fault is mended.
func mentioned(found []finding) map[string]bool {
	names := map[string]bool{}
	for _, d := range found {
		if d.Rule != "unused-param" {
			for name := range strings.FieldsFuncSeq(d.code, notInName) {
				names[name] = true
			}
		}
	}
	return names
}

func notInName(r rune) bool {
	return r != '_' && r != '-' && (r < '0' || r > '9') && (r|' ' < 'a' || r|' ' > 'z')
}

// quiet leaves out what is only worth saying of a file with nothing worse.
func quiet(ds dsl.Diagnostics) dsl.Diagnostics {
	if !slices.ContainsFunc(ds, func(d dsl.Diagnostic) bool { return d.Severity != dsl.Info }) {
		return ds
	}
	return slices.DeleteFunc(ds, func(d dsl.Diagnostic) bool { return d.Rule == "no-timeout" })
}

// mistake identifies one: by what is wrong and where.
type mistake struct {
	rule string
	at   dsl.Pos
}

// job is a part of the work on one file: the tasks from one to another, and
// with the first of them what is to be said about the file as a whole.
type job struct {
	file     *File
	shared   *shared
	from, to int
}

// stretch is how many tasks make a job.
const stretch = 2000

func jobsFor(files []*File) []job {
	var jobs []job
	for _, f := range files {
		if f.Workflow == nil {
			continue
		}
		common := &shared{sketch: f.sketch}
		if common.sketch == nil {
			common.sketch, _, _ = dag.Sketch(f.Workflow)
		}
		for from := 0; from == 0 || from < len(f.Workflow.Tasks); from += stretch {
			jobs = append(jobs, job{f, common, from, min(from+stretch, len(f.Workflow.Tasks))})
		}
	}
	return jobs
}

func (j job) run(o *Options, d *disk) []finding {
	p := &pass{File: j.file, o: o, disk: d, shared: j.shared, wf: j.file.Workflow, sketch: j.shared.sketch}
	for i := j.from; i < j.to; i++ {
		p.task(i)
	}
	if j.from == 0 {
		p.workflow()
	}
	return p.found
}

// parseErrors tells whether something of the file could not be read.
func parseErrors(ds dsl.Diagnostics) bool {
	return slices.ContainsFunc(ds, func(d dsl.Diagnostic) bool {
		return d.Severity == dsl.Error && !graphRules[d.Rule]
	})
}

var graphRules = map[string]bool{"self-dependency": true, "cycle": true, "unknown-task": true}

// inParallel calls do for every number below n, on all processors.
func inParallel(n int, do func(i int)) {
	workers := min(runtime.GOMAXPROCS(0), n)
	if workers < 2 {
		for i := range n {
			do(i)
		}
		return
	}
	var next atomic.Int64
	var wg sync.WaitGroup
	for range workers {
		wg.Go(func() {
			for {
				i := int(next.Add(1)) - 1
				if i >= n {
					return
				}
				do(i)
			}
		})
	}
	wg.Wait()
}

// ParseAll reads files in parallel. The function reads the i-th; what it gives
// stands in the i-th place.
func ParseAll(n int, read func(i int) *File) []*File {
	files := make([]*File, n)
	inParallel(n, func(i int) { files[i] = read(i) })
	return files
}

// absolute gives where a path that the file names is in the file system of the
// machine; false if that is not known.
func (f *File) absolute(name string) (string, bool) {
	if !strings.HasPrefix(name, "/") {
		if f.Dir == "" {
			return "", false
		}
		name = path.Join(f.Dir, name)
	}
	return path.Clean(name), true
}
