package server

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"net/url"
	"reflect"
	"sync/atomic"
	"testing"

	"github.com/ax-scheduler/ax/runtime"
	"github.com/ax-scheduler/ax/store"
)

// wide is a workflow whose runs are told in several parts.
const wide = `
name: flow
tasks:
  list: {run: 'i=0; while [ $i -lt 3 ]; do echo "n$i=$i" >> "$AX_OUTPUT"; i=$((i+1)); done'}
  each: {depends_on: list, foreach: [a, b, c, d], run: 'test "$AX_ITEM" = c || echo "got=<$AX_ITEM>" >> "$AX_OUTPUT"', allow_failure: true}
  bad: {depends_on: list, run: 'exit 3'}
  never: {depends_on: bad, run: 'true'}
`

func TestTheAPITellsOfARunWhatTheReportOfItSays(t *testing.T) {
	var st store.Store
	c := newClient(t, flows(t, wide), func(s *Server) { st = s.Store })
	id := c.started("flow", "{}")
	c.ended(id)
	want, err := runtime.ReadReport(t.Context(), st, id)
	if err != nil {
		t.Fatal(err)
	}
	var got runtime.Report
	c.want(200, "GET", "/api/v1/runs/"+id, "", &got)
	if !reflect.DeepEqual(got, want) {
		t.Errorf("the API says %+v, the report %+v", got, want)
	}
	if out := got.Tasks[1].Outputs["got"]; out != `["<a>","<b>",null,"<d>"]` {
		t.Errorf("the outputs of the instances are %s", out)
	}
	for _, limit := range []int{1, 3, 1000, 5000} {
		var joined []runtime.TaskReport
		for cursor := ""; ; {
			var part struct {
				Items []runtime.TaskReport
				Next  string `json:"next_cursor"`
			}
			c.want(200, "GET", fmt.Sprintf("/api/v1/runs/%s/tasks?limit=%d&cursor=%s", id, limit, url.QueryEscape(cursor)), "", &part)
			joined = append(joined, part.Items...)
			if cursor = part.Next; cursor == "" {
				break
			}
		}
		if !reflect.DeepEqual(joined, want.Tasks) {
			t.Errorf("in parts of %d the tasks are %+v", limit, joined)
		}
	}
	var skipped struct{ Items []runtime.TaskReport }
	c.want(200, "GET", "/api/v1/runs/"+id+"/tasks?state=skipped", "", &skipped)
	if len(skipped.Items) != 1 || skipped.Items[0].ID != "never" {
		t.Errorf("the skipped tasks are %+v", skipped.Items)
	}
	for path, code := range map[string]int{
		"/tasks?cursor=x": 400, "/tasks?cursor=1": 400, "/tasks?cursor=1+2+3": 400, "/tasks?cursor=-2+0": 400, "/tasks?cursor=0+-2": 400, "/tasks?state=happy": 400,
	} {
		c.want(code, "GET", "/api/v1/runs/"+id+path, "", nil)
	}
	c.want(404, "GET", "/api/v1/runs/nope/tasks", "", nil)
}

func TestARunOfManyTasksIsToldInParts(t *testing.T) {
	counter, handler := large(t, &store.Memory{}, 100, 100)
	for path, tasks := range map[string]int{"/api/v1/runs/w000002": largeTasks, "/api/v1/runs/e000002": largeItems + 3} {
		w := httptest.NewRecorder()
		counter.most.Store(0)
		handler.ServeHTTP(w, httptest.NewRequest("GET", path, nil))
		var rep runtime.Report
		if err := json.Unmarshal(w.Body.Bytes(), &rep); err != nil || w.Code != http.StatusOK {
			t.Fatalf("%s answered %d, %v", path, w.Code, err)
		}
		if most := counter.most.Load(); len(rep.Tasks) != tasks || most > reportPart {
			t.Errorf("%s has %d tasks, which were read up to %d at a time; want %d, up to %d", path, len(rep.Tasks), most, tasks, reportPart)
		}
	}
}

// failing is a store that reads parts of a run only so often.
type failing struct {
	store.Store
	left atomic.Int64
}

func (f *failing) TasksAt(ctx context.Context, id string, places []store.Place) ([]store.Task, error) {
	if f.left.Add(-1) < 0 {
		return nil, errors.New("the disk cannot be read")
	}
	return f.Store.TasksAt(ctx, id, places)
}

func TestARunThatCannotBeReadToItsEndIsNotTakenForWhole(t *testing.T) {
	disk := &failing{Store: &store.Memory{}}
	_, handler := large(t, disk, 100, 100)
	srv := httptest.NewUnstartedServer(handler)
	srv.Config.ErrorLog = log.New(io.Discard, "", 0)
	srv.Start()
	defer srv.Close()
	for _, c := range []struct {
		reads  int64
		status int
		whole  bool
	}{{0, 500, true}, {3, 200, false}, {largeTasks / reportPart, 200, true}} {
		disk.left.Store(c.reads)
		answer, err := srv.Client().Get(srv.URL + "/api/v1/runs/w000002")
		if err != nil {
			t.Fatal(err)
		}
		_, err = io.ReadAll(answer.Body)
		_ = answer.Body.Close()
		if answer.StatusCode != c.status || (err == nil) != c.whole {
			t.Errorf("after %d parts the answer is %d and ends with %v", c.reads, answer.StatusCode, err)
		}
	}
}
