package server

import (
	"errors"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/ax-scheduler/ax/dsl"
	"github.com/ax-scheduler/ax/runtime"
	"github.com/ax-scheduler/ax/store"
)

// startFormView is the form that starts a run, with what was sent where it could
// not be carried out.
type startFormView struct {
	Open   bool
	Error  string
	Values map[string]string
	Fields []field
	Delay  string
}

// field is one parameter in a form.
type field struct {
	Name, ID    string
	Type        string // of the input
	Kind        string // of the parameter
	Value       string
	Choices     []string
	Required    bool
	Min, Max    string
	Step        string
	Pattern     string
	Description string
}

// paramPrefix stands before the names of parameters in a form, which have other
// fields beside them.
const paramPrefix = "p."

// fieldsOf gives the fields for the parameters of a workflow.
func fieldsOf(wf *dsl.Workflow, values map[string]string) (all []field) {
	for i := range wf.Params {
		p := &wf.Params[i]
		f := field{
			Name: p.Name.V, ID: "param-" + p.Name.V, Type: "text", Kind: string(p.Type.V), Value: p.Default.V, Description: p.Description.V,
			Required: p.Required.V && !p.Default.Set(), Min: p.Min.V, Max: p.Max.V,
		}
		if v, sent := values[p.Name.V]; sent {
			f.Value = v
		}
		for _, c := range p.Choices {
			f.Choices = append(f.Choices, c.V)
		}
		switch p.Type.V {
		case dsl.ParamInt:
			f.Type, f.Step = "number", "1"
		case dsl.ParamFloat:
			f.Type, f.Step = "number", "any"
		case dsl.ParamDate:
			f.Type = "date"
		case dsl.ParamBool:
			f.Choices = []string{"true", "false"}
		default:
			f.Min, f.Max, f.Pattern = "", "", p.Pattern.V
		}
		all = append(all, f)
	}
	return all
}

// startForm starts a run from the form of its workflow.
func (s *Server) startForm(w http.ResponseWriter, r *http.Request) error {
	file, err := s.workflow(r.PathValue("name"))
	if err != nil {
		return err
	}
	form := startFormView{Open: true, Values: map[string]string{}, Delay: strings.TrimSpace(r.PostFormValue("delay"))}
	params := map[string]string{}
	for i := range file.Head.Params {
		p := &file.Head.Params[i]
		given, sent := r.PostForm[paramPrefix+p.Name.V]
		if !sent {
			continue
		}
		form.Values[p.Name.V] = given[0]
		if given[0] != "" || p.Type.V == dsl.ParamString && p.Default.Set() {
			params[p.Name.V] = given[0]
		}
	}
	var at time.Time
	if form.Delay != "" {
		if at, err = notBefore(form.Delay, at, time.Now()); err != nil {
			form.Error = err.Error()
			return s.showWorkflow(w, r, http.StatusUnprocessableEntity, form, fillFormView{})
		}
	}
	run, err := s.Engine.Start(r.Context(), runtime.Request{Plan: file.Plan(), Params: params, Trigger: store.TriggerManual, NotBefore: at})
	if errors.Is(err, runtime.ErrRefused) {
		form.Error = err.Error()
		return s.showWorkflow(w, r, http.StatusUnprocessableEntity, form, fillFormView{})
	} else if err != nil {
		return err
	}
	http.Redirect(w, r, "/runs/"+url.PathEscape(run.ID), http.StatusSeeOther)
	return nil
}

// fillFormView is the form of a backfill, with what it would do or has done.
type fillFormView struct {
	Open        bool
	Error       string
	From, To    string
	MaxParallel string
	Done        bool
	Ticks       []runtime.FilledReport
	Schedules   bool   // they are of several
	LeftOut     int    // ticks beside these
	Reason      string // why they are left out
	New         int    // ticks that have no run yet
	More        int    // ticks beyond those shown
}

// backfillForm shows what a backfill would do, or does it.
func (s *Server) backfillForm(w http.ResponseWriter, r *http.Request) error {
	const most = 100
	file, err := s.workflow(r.PathValue("name"))
	if err != nil {
		return err
	}
	f := fillFormView{
		Open: true, From: r.PostFormValue("from"), To: r.PostFormValue("to"), MaxParallel: r.PostFormValue("max_parallel"),
		Done: r.PostFormValue("do") == "fill",
	}
	b := runtime.Backfill{Plan: file.Plan(), From: f.From, To: f.To}
	if b.MaxParallel, err = strconv.Atoi(f.MaxParallel); err != nil || b.MaxParallel < 0 {
		b.MaxParallel, f.MaxParallel = 0, ""
	}
	do := s.Engine.Backfill
	if !f.Done {
		runtime.LookOnly(r.Context())
		do = s.Engine.PlanBackfill
	}
	filled, err := do(r.Context(), b)
	if errors.Is(err, runtime.ErrRefused) {
		f.Error, f.Done = err.Error(), false
		return s.showWorkflow(w, r, http.StatusUnprocessableEntity, startFormView{}, f)
	} else if err != nil {
		return err
	}
	all := runtime.NewFilledList(filled)
	for _, t := range all.Items {
		if !t.Left {
			f.New++
		}
	}
	f.LeftOut, f.Reason, f.Schedules = all.LeftOut, all.Reason, all.OfSeveral()
	f.More = max(0, len(all.Items)-most)
	f.Ticks = all.Items[:len(all.Items)-f.More]
	return s.showWorkflow(w, r, http.StatusOK, startFormView{}, f)
}

// cancelPage asks whether a run is to be cancelled, where no script asks.
func (s *Server) cancelPage(w http.ResponseWriter, r *http.Request) error {
	run, err := s.findRun(r.Context(), r.PathValue("id"))
	if err != nil {
		return err
	}
	if run.State.Final() {
		return backToRun(w, r)
	}
	s.render(w, r, http.StatusOK, "cancel", page{Title: "Cancel " + run.Workflow, Nav: "runs"}, runView{Run: s.localRun(run)})
	return nil
}

func (s *Server) cancelForm(w http.ResponseWriter, r *http.Request) error {
	if _, err := s.cancel(r.Context(), &idInput{ID: r.PathValue("id")}); err != nil {
		return err
	}
	return backToRun(w, r)
}

func (s *Server) retryForm(w http.ResponseWriter, r *http.Request) error {
	in := &retryInput{ID: r.PathValue("id")}
	if task := r.PostFormValue("task"); task != "" {
		in.Body = &retryBody{Tasks: []string{task}}
	}
	if _, err := s.retry(r.Context(), in); err != nil {
		return err
	}
	return backToRun(w, r)
}

func backToRun(w http.ResponseWriter, r *http.Request) error {
	http.Redirect(w, r, "/runs/"+url.PathEscape(r.PathValue("id")), http.StatusSeeOther)
	return nil
}
