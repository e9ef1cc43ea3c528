// Package reload turns a folder of workflow files into compiled workflows.
//
// It reads and compares; it starts nothing and knows nothing of runs.
package reload

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ax-scheduler/ax/dag"
	"github.com/ax-scheduler/ax/dsl"
	"github.com/ax-scheduler/ax/dsl/lint"
)

// IsWorkflowFile tells whether a file of this name (no path) in the workflows
// folder is a workflow: *.yaml and *.yml, not hidden, no unit tests, and nothing
// that editors leave behind.
func IsWorkflowFile(name string) bool {
	switch {
	case strings.HasPrefix(name, "."), strings.HasPrefix(name, "#"):
		return false
	case strings.HasSuffix(name, ".test.yaml"), strings.HasSuffix(name, ".test.yml"):
		return false
	}
	return strings.HasSuffix(name, ".yaml") || strings.HasSuffix(name, ".yml")
}

// Files lists the workflow files in a folder and its subfolders, by path in byte
// order. Hidden folders are left out; links to files and the folder itself being
// a link are followed. The error is the first folder that cannot be read.
func Files(dir string) ([]string, error) {
	s := survey(dir)
	if err := s.err(); err != nil {
		return nil, err
	}
	return s.files, nil
}

// Walk lists the workflow files as Files does, as far as folders can be read,
// with what is in the way of the others: folders that cannot be read, and links
// named as workflow files that lead nowhere.
func Walk(dir string) (files []string, folders, links []error) {
	s := survey(dir)
	return s.files, s.unread, s.loose
}

// found is what a folder and its subfolders have.
type found struct {
	files   []string // that are workflow files, in byte order
	folders []string // that workflow files may come to, the one asked about among them
	unread  []error  // folders that cannot be read
	loose   []error  // links that lead nowhere
}

// err is the first folder that cannot be read.
func (f *found) err() error {
	if len(f.unread) == 0 {
		return nil
	}
	return fmt.Errorf("read the workflows folder: %w", f.unread[0])
}

func survey(dir string) (f found) {
	root := filepath.Clean(dir)
	// With a separator behind it a link to a folder is walked as a folder.
	err := filepath.WalkDir(root+string(filepath.Separator), func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			f.unread = append(f.unread, err)
			return fs.SkipDir
		}
		name := d.Name()
		if d.IsDir() {
			if filepath.Clean(path) != root && strings.HasPrefix(name, ".") {
				return fs.SkipDir
			}
			f.folders = append(f.folders, filepath.Clean(path))
			return nil
		}
		if !IsWorkflowFile(name) {
			return nil
		}
		if d.Type().IsRegular() {
			f.files = append(f.files, filepath.Clean(path))
			return nil
		}
		switch info, err := os.Stat(path); {
		case err != nil:
			f.loose = append(f.loose, err)
		case info.Mode().IsRegular(): // no pipe, no folder behind a link
			f.files = append(f.files, filepath.Clean(path))
		}
		return nil
	})
	if err != nil {
		f.unread = append(f.unread, err)
	}
	return f
}

// File is a workflow file with what came of it.
type File struct {
	Source      *dsl.Source
	Workflow    *dsl.Workflow // nil if the text is no YAML
	Plan        *dag.Plan     // nil if the diagnostics hold an error
	Diagnostics dsl.Diagnostics
}

// Load reads, compiles and checks one file. The error is for a file that cannot
// be read.
func Load(path string) (*File, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	return Check(path, text), nil
}

// Compile parses and compiles the text of a file. It is for texts that have been
// checked before, such as that of a stored run, which later rules must not
// forbid.
func Compile(path string, text []byte) *File {
	f := &File{Source: dsl.NewSource(path, text)}
	f.Workflow, f.Diagnostics = dsl.Parse(path, text)
	if f.Workflow == nil {
		return f
	}
	f.Source = f.Workflow.Source
	plan, ds := dag.Compile(f.Workflow)
	f.Diagnostics = append(f.Diagnostics, ds...)
	f.Diagnostics.Sort()
	if !f.Diagnostics.Errors() {
		f.Plan = plan
	}
	return f
}

// Check compiles the text of a file and applies every rule of package lint that
// looks at one file alone: what ax lint calls an error is not loaded.
func Check(path string, text []byte) *File {
	linted := lint.Parse(path, text, "", "")
	f := &File{Source: linted.Source, Workflow: linted.Workflow}
	f.Diagnostics = slices.DeleteFunc(lint.Check([]*lint.File{linted}, lint.Options{}), func(d dsl.Diagnostic) bool {
		return d.Rule == "unknown-workflow" || d.Rule == "workflow-cycle" // which others there are shows later
	})
	if !f.Diagnostics.Errors() {
		f.Plan = linted.Plan
	}
	return f
}

// Find gives the files in a folder whose workflow has a name, by path in byte
// order.
func Find(dir, name string) (found []string, err error) {
	err = named(dir, func(path, is string) {
		if is == name {
			found = append(found, path)
		}
	})
	return found, err
}

// Names lists the names of the workflows in a folder, sorted, each once.
func Names(dir string) (names []string, err error) {
	err = named(dir, func(_, name string) { names = append(names, name) })
	slices.Sort(names)
	return slices.Compact(names), err
}

// named tells of the files in a folder with the names of their workflows. A file
// that is no YAML goes by its own name, so that who asks for it is told what is
// wrong with it; one that cannot be read goes by none.
func named(dir string, tell func(path, name string)) error {
	files, err := Files(dir)
	if err != nil {
		return err
	}
	for _, path := range files {
		text, err := os.ReadFile(path)
		if err != nil {
			continue
		}
		name := strings.TrimSuffix(filepath.Base(path), filepath.Ext(path))
		if wf, _ := dsl.Parse(path, text); wf != nil {
			name = wf.Name.V
		}
		tell(path, name)
	}
	return nil
}
