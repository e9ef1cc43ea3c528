package server

import (
	"bufio"
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
)

// events opens the stream and gives a function for its next event, as kind, id
// and data.
func (c *client) events(query string, headers ...string) func() (kind, id, data string) {
	c.t.Helper()
	ctx, stop := context.WithCancel(c.t.Context())
	c.t.Cleanup(stop)
	r, err := http.NewRequestWithContext(ctx, "GET", c.base+"/api/v1/events"+query, nil)
	if err != nil {
		c.t.Fatal(err)
	}
	for _, h := range headers {
		name, value, _ := strings.Cut(h, ": ")
		r.Header.Set(name, value)
	}
	a, err := http.DefaultClient.Do(r)
	if err != nil {
		c.t.Fatal(err)
	}
	c.t.Cleanup(func() { _ = a.Body.Close() })
	if kind := a.Header.Get("Content-Type"); a.StatusCode != 200 || kind != "text/event-stream" {
		c.t.Fatalf("events answered %d %q", a.StatusCode, kind)
	}
	lines := bufio.NewScanner(a.Body)
	lines.Buffer(nil, 1<<20)
	return func() (kind, id, data string) {
		c.t.Helper()
		for lines.Scan() {
			name, value, _ := strings.Cut(lines.Text(), ": ")
			switch name {
			case "event":
				kind = value
			case "id":
				id = value
			case "data":
				data = value
			case "":
				if kind != "" {
					return kind, id, data
				}
			}
		}
		c.t.Fatalf("the stream has ended: %v", lines.Err())
		return
	}
}

func TestWhatHappensIsToldAsItHappensAndAfterwards(t *testing.T) {
	c := newClient(t)
	next := c.events("?workflow=flow")
	id := c.started("flow", "{}")
	var ids []string
	for {
		kind, eventID, data := next()
		if kind != "run" || !strings.Contains(data, `"id":"`+id+`"`) {
			t.Fatalf("got the event %s %s", kind, data)
		}
		ids = append(ids, eventID)
		if strings.Contains(data, `"state":"succeeded"`) && strings.Contains(data, `"finished_at":"`) && strings.Contains(data, `{"run":{"id":"`+id+`","workflow":"flow"`) {
			if run, _, _ := strings.Cut(data, `"tasks":`); strings.Contains(run, `"state":"succeeded"`) {
				break
			}
		}
	}
	// Who has seen the first event is told of all the others, in order.
	again := c.events("?run="+id, "Last-Event-ID: "+ids[0])
	var seen []string
	for len(seen) < len(ids)-1 {
		_, eventID, _ := again()
		seen = append(seen, eventID)
	}
	if !slices.Equal(seen, ids[1:]) {
		t.Errorf("after %s came %v, want %v", ids[0], seen, ids[1:])
	}
	// Who comes from another server, or from nowhere, begins anew.
	for _, last := range []string{"OTHER-1", "nonsense", ids[0] + "9999999"} {
		if kind, _, _ := c.events("", "Last-Event-ID: "+last)(); kind != "reset" {
			t.Errorf("after %q came %q", last, kind)
		}
	}
	// Others' runs are not told.
	other := c.events("?run=other&since=" + ids[0])
	c.ended(c.started("flow", "{}"))
	c.catalogChanges()
	if kind, _, _ := other(); kind != "workflows" {
		t.Errorf("somebody who asked for one run was told of %q", kind)
	}
}

func TestAClientThatIsTooSlowIsCutOffAndMissesNothing(t *testing.T) {
	var h hub
	_, slow, leave := h.join("")
	defer leave()
	before := h.now()
	for i := range hubBuffer + 1 {
		h.publish(event{kind: "run", run: fmt.Sprint(i)})
	}
	got := 0
	for range slow { // ends, since it was closed
		got++
	}
	if got != hubBuffer {
		t.Errorf("it got %d events, want the %d that there was room for", got, hubBuffer)
	}
	missed, _, leaveAgain := h.join(before)
	defer leaveAgain()
	if len(missed) != hubBuffer+1 || missed[hubBuffer].run != fmt.Sprint(hubBuffer) {
		t.Errorf("it is told of %d events afterwards", len(missed))
	}
	for range 2 * hubKeeps {
		h.publish(event{kind: "run"})
	}
	if missed, _, leave := h.join(before); len(missed) != 1 || missed[0].kind != "reset" {
		t.Errorf("what is not kept any more gave %d events", len(missed))
	} else {
		leave()
	}
}
