package server

import (
	"strings"
	"testing"
	"time"

	"github.com/ax-scheduler/ax/runtime/reload"
)

func TestSchedulesAreShownInTheZoneOfTheirWorkflow(t *testing.T) {
	file := func(text string) *reload.Loaded {
		return reload.Check("flow.yaml", []byte(text+"tasks:\n  a: {run: x}\n")).Keep()
	}
	east := time.FixedZone("EAST", 3600)
	for _, c := range []struct {
		file *reload.Loaded
		zone *time.Location
		want string
	}{
		{file("timezone: Asia/Tokyo\n"), east, "Asia/Tokyo"}, {file("name: flow\n"), east, "EAST"}, {nil, east, "EAST"}, {nil, nil, "UTC"},
		{nil, time.Local, time.Now().Format("MST")},
	} {
		if zone, name := (&Server{Zone: c.zone}).zoneOf(c.file); name != c.want || zone == nil {
			t.Errorf("the zone is %s, want %s", name, c.want)
		}
	}
	c := newClient(t, flows(t, "name: flow\ncron: 30 2 * * *\ntimezone: Asia/Tokyo\ntasks:\n  a: {run: x}\n"))
	if _, text, _ := c.browse()("GET", "/workflows/flow", nil); !strings.Contains(text, "Asia/Tokyo") {
		t.Error("the page of the workflow does not say its zone")
	}
}

func TestARateIsShownInWholeUnits(t *testing.T) {
	for text, want := range map[string]string{
		"every 7m0s": "every 7m", "every 2h0m0s": "every 2h", "every 1h30m0s": "every 1h30m", "every 5s": "every 5s", "every 1m30s": "every 1m30s", "0 0 * * *": "0 0 * * *",
	} {
		if got := wholeUnits(text); got != want {
			t.Errorf("%q is shown as %q, want %q", text, got, want)
		}
	}
}
