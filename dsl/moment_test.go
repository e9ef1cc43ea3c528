package dsl_test

import (
	"testing"
	"time"

	"github.com/ax-scheduler/ax/dsl"
)

func TestAMomentIsReadByTheClockOfTheZone(t *testing.T) {
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ name, text, from, want string }{
		{"RFC 3339 needs no zone", "2026-01-31T08:00:00-05:00", "2026-01-01T00:00:00Z", "2026-01-31T13:00:00Z"},
		{"with a fraction", "2026-01-31T08:00:00.5Z", "2026-01-01T00:00:00Z", "2026-01-31T08:00:00.5Z"},
		{"a day is its beginning", "2026-01-31", "2026-06-01T00:00:00Z", "2026-01-30T23:00:00Z"},
		{"a day and a time of day", "2026-01-31 08:00", "2026-06-01T00:00:00Z", "2026-01-31T07:00:00Z"},
		{"with seconds and T", "2026-01-31T08:00:30", "2026-06-01T00:00:00Z", "2026-01-31T07:00:30Z"},
		{"a time of day that is to come", "08:00", "2026-01-31T05:00:00Z", "2026-01-31T07:00:00Z"},
		{"a time of day that is now", "08:00", "2026-01-31T07:00:00Z", "2026-01-31T07:00:00Z"},
		{"a time of day that is over", "08:00", "2026-01-31T07:00:01Z", "2026-02-01T07:00:00Z"},
		{"the day is that of the zone", "00:30", "2026-01-31T23:15:00Z", "2026-01-31T23:30:00Z"},
		{"a time that a change of the clock skips", "2026-03-29 02:30", "2026-01-01T00:00:00Z", "2026-03-29T01:00:00Z"},
		{"a time that it repeats", "2026-10-25 02:30", "2026-01-01T00:00:00Z", "2026-10-25T00:30:00Z"},
		{"the day after is right again", "2026-10-26 02:30", "2026-01-01T00:00:00Z", "2026-10-26T01:30:00Z"},
	} {
		t.Run(c.name, func(t *testing.T) {
			from, err := time.Parse(time.RFC3339, c.from)
			if err != nil {
				t.Fatal(err)
			}
			got, err := dsl.ParseMoment(c.text, berlin, from)
			if err != nil || got.UTC().Format(time.RFC3339Nano) != c.want {
				t.Errorf("got %v, %v, want %s", got.UTC(), err, c.want)
			}
		})
	}
	for _, text := range []string{"", "8", "25:00", "tomorrow", "2026-02-30", "2026-01-31 25:00"} {
		if got, err := dsl.ParseMoment(text, berlin, time.Unix(0, 0)); err == nil {
			t.Errorf("%q is %v", text, got)
		}
	}
}
