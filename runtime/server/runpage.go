package server

import (
	"cmp"
	"errors"
	"io/fs"
	"maps"
	"mime"
	"net/http"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"github.com/ax-scheduler/ax/runtime/machine"
	"github.com/ax-scheduler/ax/store"
)

const (
	outputsMost   = 100 // on the page of a run
	artifactsMost = 100
)

type outputRow struct {
	Task, Name, Value string
}

type artifactFile struct {
	Path string
	Link string
	Size int64
}

func (s *Server) runPage(w http.ResponseWriter, r *http.Request) error {
	ctx, id := r.Context(), r.PathValue("id")
	since := s.hub.now()
	run, tasks, plan, err := s.readRun(ctx, id)
	if err != nil {
		return err
	}
	now := time.Now()
	v := &runView{Run: s.localRun(run), Of: r.FormValue("of"), Axis: axisOf(run, now), Gone: plan.plan() == nil}
	v.Axis.From, v.Axis.To = s.local(v.Axis.From), s.local(v.Axis.To)
	from, _ := strconv.Atoi(r.FormValue("from")) // 0 where it is none
	if st, err := machine.ParseTaskState(r.FormValue("state")); err == nil {
		v.Filter = st.String()
	}
	if v.Of != "" && !slices.ContainsFunc(tasks, func(t taskMark) bool { return t.task == v.Of }) {
		return missing("run %s has no task %q", run.ID, v.Of)
	}
	chosen := v.choose(tasks, plan, from)
	recs, err := s.recordsAt(ctx, run, chosen)
	if err != nil {
		return err
	}
	s.fill(v, chosen, recs, now)
	if err := s.causes(ctx, v, tasks, chosen.causes, recs, plan); err != nil {
		return err
	}
	v.Graph = s.runGraph(v.Run, tasks, chosen.drawn, recs, plan, now)
	for _, name := range slices.Sorted(maps.Keys(run.Params)) {
		v.Params = append(v.Params, pair{name, oneLine(run.Params[name], 200)})
	}
	v.Files = s.artifacts(run.ID)
	previous, err := s.Store.Runs(ctx, store.RunFilter{Workflow: run.Workflow, Limit: 20})
	if err != nil {
		return err
	}
	v.Previous = s.localRuns(previous)
	slices.Reverse(v.Previous)
	if v.Changes, err = s.changesOf(ctx, "", run.ID); err != nil {
		return err
	}
	p := page{Title: run.Workflow + " " + run.State.String(), Nav: "runs", Watch: watching("run=" + url.QueryEscape(run.ID)), Since: since, Busy: !run.State.Final()}
	s.render(w, r, http.StatusOK, "run", p, v)
	return nil
}

// artifacts lists what the tasks of a run have left.
func (s *Server) artifacts(run string) (all []artifactFile) {
	root, err := os.OpenRoot(filepath.Join(s.Data, "artifacts"))
	if err != nil {
		return nil // no run has any yet
	}
	defer root.Close()
	_ = fs.WalkDir(root.FS(), run, func(name string, d fs.DirEntry, err error) error { // what cannot be read is left out
		if err != nil || !d.Type().IsRegular() {
			return nil
		}
		info, err := d.Info()
		if err != nil {
			return nil
		}
		rel := name[len(run)+1:]
		link := url.URL{Path: "/runs/" + run + "/artifacts/" + rel}
		if all = append(all, artifactFile{rel, link.EscapedPath(), info.Size()}); len(all) == artifactsMost {
			return fs.SkipAll
		}
		return nil
	})
	return all
}

// artifact sends one of the files that a run has left, to be kept and not to be
// shown: what is in it is the task's business. The path is looked up among the
// files that are there.
func (s *Server) artifact(w http.ResponseWriter, r *http.Request) error {
	run, err := s.findRun(r.Context(), r.PathValue("id"))
	if err != nil {
		return err
	}
	files := s.artifacts(run.ID)
	i := slices.IndexFunc(files, func(f artifactFile) bool { return f.Path == r.PathValue("path") })
	if i < 0 {
		return missing("the run has no such file")
	}
	root, err := os.OpenRoot(filepath.Join(s.Data, "artifacts"))
	if err != nil {
		return err
	}
	defer root.Close()
	f, err := root.Open(path.Join(run.ID, files[i].Path))
	if errors.Is(err, fs.ErrNotExist) {
		return missing("the file is not there any more")
	} else if err != nil {
		return err
	}
	defer f.Close()
	w.Header().Set("Content-Type", "application/octet-stream")
	w.Header().Set("Content-Disposition", mime.FormatMediaType("attachment", map[string]string{"filename": path.Base(files[i].Path)}))
	http.ServeContent(w, r, "", time.Time{}, f)
	return nil
}

type runsView struct {
	Runs     []store.Run
	Workflow string
	State    string
	States   []string
	Next     string
}

// runsPage lists runs, newest first.
func (s *Server) runsPage(w http.ResponseWriter, r *http.Request) error {
	since := s.hub.now()
	v := runsView{Workflow: r.FormValue("workflow")}
	for st := machine.RunScheduled; st <= machine.RunSkipped; st++ {
		v.States = append(v.States, st.String())
	}
	f := store.RunFilter{Workflow: v.Workflow, Limit: 100}
	if st, err := machine.ParseRunState(r.FormValue("state")); err == nil {
		v.State, f.States = st.String(), []machine.RunState{st}
	}
	if c := r.FormValue("before"); cursor.MatchString(c) {
		f.Before = c
	}
	runs, err := s.Store.Runs(r.Context(), f)
	if err != nil {
		return err
	}
	v.Runs = s.localRuns(runs)
	if len(runs) == f.Limit {
		v.Next = runs[len(runs)-1].ID
	}
	var watch *string
	if f.Before == "" {
		watch = watching(url.Values{"workflow": {v.Workflow}}.Encode())
	}
	s.render(w, r, http.StatusOK, "runs", page{Title: "Runs", Nav: "runs", Watch: watch, Since: since}, v)
	return nil
}

type diagnosticsView struct {
	Files []fileProblems
}

type fileProblems struct {
	Path     string
	Workflow string // that is loaded of it; empty for none
	Stale    bool
	Items    []diagnosticItem
	More     int
}

// diagnosticsPage tells what is wrong with which file, the worst first.
func (s *Server) diagnosticsPage(w http.ResponseWriter, r *http.Request) error {
	const most = 50
	var v diagnosticsView
	since := s.hub.now()
	errorsIn := func(f fileProblems) int {
		n := 0
		for _, d := range f.Items {
			if d.Severity == "error" {
				n++
			}
		}
		return min(n, 1)
	}
	for _, f := range s.Catalog().Files {
		p := fileProblems{Path: f.Path, Workflow: f.Name, Stale: f.Stale}
		for _, d := range f.Diagnostics {
			switch item := diagnosticOf(d); {
			case item.Severity == "info":
			case len(p.Items) < most:
				p.Items = append(p.Items, item)
			default:
				p.More++
			}
		}
		if len(p.Items) > 0 && len(v.Files) < most {
			v.Files = append(v.Files, p)
		}
	}
	slices.SortStableFunc(v.Files, func(a, b fileProblems) int { return cmp.Compare(errorsIn(b), errorsIn(a)) })
	s.render(w, r, http.StatusOK, "diagnostics", page{Title: "Files", Nav: "diagnostics", Watch: watching("run=-"), Since: since}, v)
	return nil
}
