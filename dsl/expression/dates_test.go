package expression

import (
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/ax-scheduler/ax/dsl"
)

// zones have changed their clocks by an hour, by half of one, at midnight, and
// by a whole day.
var zones = []string{"UTC", "America/New_York", "Europe/London", "Australia/Lord_Howe", "America/Sao_Paulo", "America/Santiago",
	"Africa/Cairo", "Asia/Kathmandu", "Pacific/Apia", "Asia/Shanghai", "Africa/Monrovia"}

func TestAWallTimeIsTheFirstInstantThatItNames(t *testing.T) {
	for _, c := range []struct{ name, zone, wall, want string }{
		{"an ordinary time", "America/New_York", "2026-07-01 12:00", "2026-07-01T12:00:00-04:00"},
		{"a time that is skipped", "America/New_York", "2026-03-08 02:30", "2026-03-08T03:00:00-04:00"},
		{"the first that is skipped", "America/New_York", "2026-03-08 02:00", "2026-03-08T03:00:00-04:00"},
		{"the last before the gap", "America/New_York", "2026-03-08 01:59", "2026-03-08T01:59:00-05:00"},
		{"a time that comes twice", "America/New_York", "2026-11-01 01:30", "2026-11-01T01:30:00-04:00"},
		{"the first after that", "America/New_York", "2026-11-01 02:00", "2026-11-01T02:00:00-05:00"},
		{"a midnight that is skipped", "America/Sao_Paulo", "2018-11-04 00:00", "2018-11-04T01:00:00-02:00"},
		{"a midnight that comes twice", "America/Sao_Paulo", "2018-02-17 23:30", "2018-02-17T23:30:00-02:00"},
		{"half an hour that is skipped", "Australia/Lord_Howe", "2026-10-04 02:15", "2026-10-04T02:30:00+11:00"},
		{"half an hour that comes twice", "Australia/Lord_Howe", "2026-04-05 01:45", "2026-04-05T01:45:00+11:00"},
		{"a day that there was not", "Pacific/Apia", "2011-12-30 12:00", "2011-12-31T00:00:00+14:00"},
	} {
		t.Run(c.name, func(t *testing.T) {
			wall, err := time.Parse("2006-01-02 15:04", c.wall)
			if err != nil {
				t.Fatal(err)
			}
			if got := local(wall, zone(t, c.zone)).Format(time.RFC3339); got != c.want {
				t.Errorf("got %s, want %s", got, c.want)
			}
		})
	}
}

// someWall draws a wall time, half of them near a change of clocks.
func someWall(t *rapid.T, z *time.Location) time.Time {
	at := time.Unix(rapid.Int64Range(0, 2_000_000_000).Draw(t, "unix"), 0).In(z)
	if _, end := at.ZoneBounds(); !end.IsZero() && rapid.Bool().Draw(t, "near a change") {
		at = end.Add(time.Duration(rapid.Int64Range(-7200, 7200).Draw(t, "seconds")) * time.Second)
	}
	return reading(at).Add(time.Duration(rapid.Int64Range(-3600, 3600).Draw(t, "off")) * time.Second)
}

func TestLocalGivesAnInstantThatShowsTheWallTimeOrTheEndOfTheGap(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		z, err := time.LoadLocation(rapid.SampledFrom(zones).Draw(t, "zone"))
		if err != nil {
			t.Fatal(err)
		}
		wall := someWall(t, z)
		got := local(wall, z)
		shown := reading(got)
		before := reading(got.Add(-1))
		if !shown.Equal(wall) && !(before.Before(wall) && shown.After(wall)) {
			t.Fatalf("local(%v) shows %v, an instant before %v", wall, shown, before)
		}
		for back := 15 * time.Minute; back <= 26*time.Hour; back += 15 * time.Minute {
			if reading(got.Add(-back)).Equal(wall) {
				t.Fatalf("local(%v) is %v, but %v before it the clocks showed the same", wall, got, back)
			}
		}
	})
}

// TestDaysKeepTheTimeOfDay holds the calendar functions against the calendar
// itself, which knows no zones.
func TestDaysKeepTheTimeOfDay(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		z, err := time.LoadLocation(rapid.SampledFrom(zones).Draw(t, "zone"))
		if err != nil {
			t.Fatal(err)
		}
		m := &machine{values: &Values{Zone: z}, left: budget}
		at := local(someWall(t, z), z)
		n := rapid.IntRange(-400, 400).Draw(t, "days")
		v, err := m.moved(at, 0, n)
		if err != nil {
			t.Fatal(err)
		}
		if want := local(reading(at).AddDate(0, 0, n), z); !v.(time.Time).Equal(want) {
			t.Fatalf("%v and %d days is %v, want %v", at, n, v, want)
		}
		d, err := m.moved(dateOf(at), 0, n)
		if err != nil || d != dateOf(reading(at).AddDate(0, 0, n)) {
			t.Fatalf("%v and %d days is %v, %v", dateOf(at), n, d, err)
		}
		day := midnight(dateOf(at), z)
		if day.After(at) || !midnight(dateOf(day.Add(30*time.Hour)), z).After(at) {
			t.Fatalf("the day of %v begins at %v", at, day)
		}
	})
}

func TestMonthsStayInTheirMonth(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		from := dateOf(time.Unix(rapid.Int64Range(-2_000_000_000, 4_000_000_000).Draw(t, "unix"), 0).UTC())
		n := rapid.IntRange(-500, 500).Draw(t, "months")
		got, err := moveDate(from, n, 0)
		if err != nil {
			t.Fatal(err)
		}
		if months := (got.Year-from.Year)*12 + int(got.Month-from.Month); months != n {
			t.Fatalf("%v and %d months is %v", from, n, got)
		}
		last := time.Date(got.Year, got.Month+1, 0, 0, 0, 0, 0, time.UTC).Day()
		if got.Day != min(from.Day, last) {
			t.Fatalf("%v and %d months is %v", from, n, got)
		}
	})
}

func TestADateOutOfTheEraIsAnError(t *testing.T) {
	for _, c := range []struct {
		from         dsl.Date
		months, days int
	}{
		{dsl.Date{Year: 9999, Month: 12, Day: 31}, 0, 1}, {dsl.Date{Year: 1, Month: 1, Day: 1}, -1, 0},
		{dsl.Date{Year: 2026, Month: 1, Day: 1}, 0, -1 << 63}, {dsl.Date{Year: 2026, Month: 1, Day: 1}, 1<<63 - 1, 0},
	} {
		if got, err := moveDate(c.from, c.months, c.days); err == nil {
			t.Errorf("%v and %d months and %d days is %v", c.from, c.months, c.days, got)
		}
	}
}

// TestLayoutsMeanWhatDateMakesOfThem compares with the command of GNU, where
// there is one.
func TestLayoutsMeanWhatDateMakesOfThem(t *testing.T) {
	if out, err := exec.Command("date", "--version").Output(); err != nil || !strings.Contains(string(out), "GNU") {
		t.Skip("no GNU date")
	}
	var letters []byte
	for c := range directives {
		if c != 'n' && c != 't' {
			letters = append(letters, c)
		}
	}
	slices.Sort(letters)
	layout := "%" + strings.Join(strings.Split(string(letters), ""), "|%")
	var seconds strings.Builder
	var times []time.Time
	for i := range int64(300) {
		at := time.Unix(i*7_777_777, 0)
		times = append(times, at)
		fmt.Fprintf(&seconds, "@%d\n", at.Unix())
	}
	for _, name := range []string{"UTC", "America/New_York", "Asia/Kathmandu"} {
		cmd := exec.Command("date", "-f", "-", "+"+layout)
		cmd.Env = []string{"TZ=" + name, "LC_ALL=C"}
		cmd.Stdin = strings.NewReader(seconds.String())
		out, err := cmd.Output()
		if err != nil {
			t.Fatal(err)
		}
		lines := strings.Split(strings.TrimSuffix(string(out), "\n"), "\n")
		if len(lines) != len(times) {
			t.Fatalf("date printed %d lines, want %d", len(lines), len(times))
		}
		for i, at := range times {
			got, err := strftime(at.In(zone(t, name)), layout)
			if got != lines[i] || err != nil {
				t.Fatalf("%s at %d: got\n%s, %v, want\n%s", name, at.Unix(), got, err, lines[i])
			}
		}
	}
}
