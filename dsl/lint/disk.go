package lint

import (
	"errors"
	"io/fs"
	"path"
	"strings"
	"sync"

	"github.com/ax-scheduler/ax/dsl"
)

// disk is the file system of the machine, for all passes of one Check: what has
// been asked once is known. Paths are absolute.
type disk struct {
	root  fs.FS // nil if there is none to look at
	stats sync.Map
	names sync.Map // by folder
	near  sync.Map // by path
}

// presence is what is known of a path.
type presence struct {
	there, certain, isDir bool
}

func (d *disk) stat(name string) presence {
	if d.root == nil {
		return presence{}
	}
	if known, ok := d.stats.Load(name); ok {
		return known.(presence)
	}
	info, err := fs.Stat(d.root, rooted(name))
	p := presence{there: err == nil, certain: err == nil || errors.Is(err, fs.ErrNotExist)}
	p.isDir = err == nil && info.IsDir()
	d.stats.Store(name, p)
	return p
}

// rooted gives an absolute path as fs.FS wants it.
func rooted(name string) string {
	if name = strings.TrimPrefix(path.Clean(name), "/"); name == "" {
		return "."
	}
	return name
}

// nearest gives the name in the same folder that was probably meant.
func (d *disk) nearest(name string) string {
	if known, ok := d.near.Load(name); ok {
		return known.(string)
	}
	base := path.Base(name)
	near := dsl.Nearest(base, d.list(path.Dir(name)))
	if end := path.Ext(base); end != "" && path.Ext(near) == end && dsl.Nearest(strings.TrimSuffix(base, end), []string{strings.TrimSuffix(near, end)}) == "" {
		near = "" // what they have in common is how they end
	}
	d.near.Store(name, near)
	return near
}

// besides gives a file of the same name in the folder that was probably meant by
// one that is not there, with that folder before it; nothing if there is none.
func (d *disk) besides(name string) string {
	folder := path.Dir(name)
	near := d.nearest(folder)
	if near == "" || !d.stat(path.Join(path.Dir(folder), near, path.Base(name))).there {
		return ""
	}
	return path.Join(near, path.Base(name))
}

func (d *disk) list(folder string) []string {
	if known, ok := d.names.Load(folder); ok {
		return known.([]string)
	}
	var names []string
	entries, _ := fs.ReadDir(d.root, rooted(folder)) // no names, no suggestion
	for _, e := range entries {
		names = append(names, e.Name())
	}
	d.names.Store(folder, names)
	return names
}

// read gives the text of a file, false where it is no ordinary one or so large
// that nobody wrote it.
func (d *disk) read(name string) ([]byte, bool) {
	if d.root == nil {
		return nil, false
	}
	const most = 1 << 20
	if info, err := fs.Stat(d.root, rooted(name)); err != nil || !info.Mode().IsRegular() || info.Size() > most {
		return nil, false
	}
	text, err := fs.ReadFile(d.root, rooted(name))
	return text, err == nil
}
