package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ax-scheduler/ax/dsl"
	"github.com/ax-scheduler/ax/dsl/lint"
	"github.com/ax-scheduler/ax/runtime/reload"
)

// lintInput is what the paths of one `ax lint` mean.
type lintInput struct {
	files     []lintFile
	unread    []error
	empty     []string // folders without workflow files
	workflows string   // the workflows folder, absolute
}

// lintFile is one file that is to be checked.
type lintFile struct {
	name   string // as diagnostics give it
	dir    string // where its relative paths start; empty if that is not known
	folder string // the files that are loaded with it are in here
	stdin  bool
}

// stdinDefault is what standard input is called where nothing else is said.
const stdinDefault = "stdin.yaml"

// lintInput lists the files that paths mean, each once.
func (g *globals) lintInput(paths []string, stdinName string) *lintInput {
	in := &lintInput{workflows: absolute(g.workflows)}
	seen := map[string]bool{}
	add := func(f lintFile) {
		if at := absolute(f.name); !seen[at] {
			seen[at] = true
			in.files = append(in.files, f)
		}
	}
	for _, p := range paths {
		if p == "-" {
			f := in.single(stdinName)
			if stdinName == "" {
				f = lintFile{name: stdinDefault, folder: absolute(".")}
			}
			f.stdin = true
			add(f)
			continue
		}
		info, err := os.Stat(p)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			in.unread = append(in.unread, fmt.Errorf("%s: there is no such file or folder", p))
		case err != nil:
			in.unread = append(in.unread, err)
		case info.IsDir():
			found, folders, links := reload.Walk(p)
			for _, err := range slices.Concat(folders, links) {
				in.unread = append(in.unread, fmt.Errorf("%s: %w", p, err))
			}
			if len(found) == 0 && len(folders)+len(links) == 0 {
				in.empty = append(in.empty, p)
			}
			for _, name := range found {
				add(lintFile{name: name, dir: filepath.Dir(absolute(name)), folder: absolute(p)})
			}
		default:
			add(in.single(p))
		}
	}
	return in
}

// single is a file that is given by itself: it is loaded with the others of the
// workflows folder, if it lies in there, and otherwise of its own folder.
func (in *lintInput) single(name string) lintFile {
	f := lintFile{name: name, dir: filepath.Dir(absolute(name))}
	f.folder = f.dir
	if strings.HasPrefix(f.dir+string(filepath.Separator), in.workflows+string(filepath.Separator)) {
		f.folder = in.workflows
	}
	return f
}

func absolute(path string) string {
	if abs, err := filepath.Abs(path); err == nil {
		return abs
	}
	return filepath.Clean(path)
}

// read reads and parses the files, in parallel. Those that cannot be read are
// noted.
func (in *lintInput) read(stdin io.Reader) []*lint.File {
	errs := make([]error, len(in.files))
	files := lint.ParseAll(len(in.files), func(i int) *lint.File {
		f := in.files[i]
		var text []byte
		if f.stdin {
			text, errs[i] = readLimited(stdin)
		} else {
			text, errs[i] = readFile(f.name)
		}
		if errs[i] != nil {
			return nil
		}
		return lint.Parse(f.name, text, f.dir, f.folder)
	})
	for _, err := range errs {
		if err != nil {
			in.unread = append(in.unread, err)
		}
	}
	return slices.DeleteFunc(files, func(f *lint.File) bool { return f == nil })
}

func readFile(name string) ([]byte, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return readLimited(f)
}

// readLimited reads no more than is needed to see that a file is too large.
func readLimited(r io.Reader) ([]byte, error) { return io.ReadAll(io.LimitReader(r, dsl.MaxSize+1)) }

// listed lists the workflow files of a folder: of the workflows folder those of
// its subfolders as well.
func (in *lintInput) listed(folder string) []string {
	if folder == in.workflows {
		names, _, _ := reload.Walk(folder) // what cannot be read has no names
		return names
	}
	var names []string
	entries, _ := os.ReadDir(folder)
	for _, e := range entries {
		if !e.IsDir() && reload.IsWorkflowFile(e.Name()) {
			names = append(names, filepath.Join(folder, e.Name()))
		}
	}
	return names
}

// others gives the workflow files of a folder. It is for names that the checked
// files do not have.
func (in *lintInput) others(folder string) []*lint.File {
	names := in.listed(folder)
	checked := map[string]bool{}
	for _, f := range in.files {
		checked[absolute(f.name)] = true
	}
	names = slices.DeleteFunc(names, func(name string) bool { return checked[name] })
	files := lint.ParseAll(len(names), func(i int) *lint.File {
		text, err := readFile(names[i])
		if err != nil {
			return nil
		}
		return lint.Parse(names[i], text, filepath.Dir(names[i]), folder)
	})
	return slices.DeleteFunc(files, func(f *lint.File) bool { return f == nil })
}
