package workflows

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

type quake struct {
	ID        string    `json:"id"`
	Time      time.Time `json:"time"`
	Magnitude float64   `json:"magnitude"`
	Type      string    `json:"type"`
	Place     string    `json:"place"`
	Longitude float64   `json:"longitude"`
	Latitude  float64   `json:"latitude"`
	Depth     float64   `json:"depth_km"`
}

// summary is the file summary.json.
type summary struct {
	Date        string         `json:"date"`
	Events      int            `json:"events"`
	Earthquakes int            `json:"earthquakes"`
	ByMagnitude map[string]int `json:"by_magnitude"`
	ByHour      []int          `json:"by_hour"`
	Strongest   []quake        `json:"strongest"`
}

func quakes(t *testing.T) (all []quake) {
	t.Helper()
	number := func(text string) float64 {
		x, err := strconv.ParseFloat(text, 64)
		if err != nil {
			t.Fatal(err)
		}
		return x
	}
	for _, r := range records(t, "data/quakes.tsv", '\t') {
		at, err := time.Parse(time.RFC3339, r[0])
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, quake{r[7], at, number(r[1]), r[2], r[3], number(r[4]), number(r[5]), number(r[6])})
	}
	return all
}

// summaryOf works out what the pipeline should say of a day.
func summaryOf(all []quake, date string) summary {
	s := summary{Date: date, ByMagnitude: map[string]int{}, ByHour: make([]int, 24)}
	least, most := math.Inf(1), math.Inf(-1)
	for _, q := range all {
		if q.Time.Format(time.DateOnly) != date {
			continue
		}
		s.Events++
		if q.Type == "earthquake" {
			s.Earthquakes++
		}
		s.ByHour[q.Time.Hour()]++
		m := math.Floor(q.Magnitude)
		s.ByMagnitude[fmt.Sprint(m)]++
		least, most = min(least, m), max(most, m)
		s.Strongest = append(s.Strongest, q)
	}
	for m := least; m <= most; m++ {
		s.ByMagnitude[fmt.Sprint(m)] += 0 // a magnitude in between that no event had is shown as well
	}
	slices.SortStableFunc(s.Strongest, func(a, b quake) int {
		return cmp.Or(cmp.Compare(b.Magnitude, a.Magnitude), a.Time.Compare(b.Time), cmp.Compare(a.ID, b.ID))
	})
	s.Strongest = s.Strongest[:min(5, len(s.Strongest))]
	return s
}

// eventsByDay is what the source counts for each UTC day.
var eventsByDay = map[string]int{
	"2018-01-31": 198, "2018-02-01": 231, "2018-02-02": 242, "2018-02-03": 259,
	"2018-02-04": 301, "2018-02-05": 249, "2018-02-06": 213, "2018-02-07": 14,
}

func TestQuakeDataHasEveryEventOnceOldestFirst(t *testing.T) {
	all, seen, days := quakes(t), map[string]bool{}, map[string]int{}
	for i, q := range all {
		if seen[q.ID] {
			t.Errorf("event %q comes twice", q.ID)
		}
		seen[q.ID] = true
		days[q.Time.Format(time.DateOnly)]++
		if i > 0 && q.Time.Before(all[i-1].Time) {
			t.Errorf("event %q is older than the one before it", q.ID)
		}
	}
	if !reflect.DeepEqual(days, eventsByDay) {
		t.Errorf("events by day are %v, want %v", days, eventsByDay)
	}
}

func TestQuakesOfEachDayAreThoseOfTheData(t *testing.T) {
	all := quakes(t)
	for date, events := range eventsByDay {
		t.Run(date, func(t *testing.T) {
			r := runPipeline(t, "quakes-nightly.yaml", date)
			succeed(t, r)
			var got summary
			if err := json.Unmarshal([]byte(read(t, r.artifacts, "summary.json")), &got); err != nil {
				t.Fatal(err)
			}
			want := summaryOf(all, date)
			if !reflect.DeepEqual(got, want) || got.Events != events {
				t.Errorf("summary.json says\n%+v\nwant\n%+v", got, want)
			}
			wantOutputs(t, r, "pick", map[string]string{"events": strconv.Itoa(want.Events), "earthquakes": strconv.Itoa(want.Earthquakes)})
			wantOutputs(t, r, "strongest", map[string]string{"place": want.Strongest[0].Place,
				"magnitude": strconv.FormatFloat(want.Strongest[0].Magnitude, 'f', -1, 64)})
			wantQuakeReport(t, r, want)
		})
	}
}

// wantQuakeReport looks for each line of the report, and for the whole report in the log.
func wantQuakeReport(t *testing.T, r result, s summary) {
	t.Helper()
	report := read(t, r.artifacts, "report.txt")
	wantInLog(t, r, "report", report)
	lines := []string{fmt.Sprintf("%d events on %s (UTC), %d of them earthquakes", s.Events, s.Date, s.Earthquakes)}
	most := 0
	for _, n := range s.ByMagnitude {
		most = max(most, n)
	}
	for m, n := range s.ByMagnitude {
		lines = append(lines, chartLine(m, n, most))
	}
	for h, n := range s.ByHour {
		lines = append(lines, chartLine(fmt.Sprintf("%02d", h), n, slices.Max(s.ByHour)))
	}
	for _, q := range s.Strongest {
		lines = append(lines, fmt.Sprintf("  %4.1f  %s  %s, %.0f km deep", q.Magnitude, q.Time.Format(time.TimeOnly), q.Place, q.Depth))
	}
	for _, line := range lines {
		if !strings.Contains("\n"+report, "\n"+line+"\n") {
			t.Errorf("no line %q in the report:\n%s", line, report)
		}
	}
}

// chartLine draws a bar of at most fifty marks, rounded up.
func chartLine(label string, n, most int) string {
	line := fmt.Sprintf("  %3s %5d", label, n)
	if n > 0 {
		line += " " + strings.Repeat("#", (50*n+most-1)/most)
	}
	return line
}

func TestQuakesOfADayWithoutDataFailAndSayWhichDaysThereAre(t *testing.T) {
	for _, date := range []string{"2018-01-30", "2018-02-08", "2026-01-02"} {
		r := runPipeline(t, "quakes-nightly.yaml", date)
		wantStates(t, r, map[string]string{"pick": "failed", "which_days": "succeeded"})
		wantInLog(t, r, "pick", "no events on "+date+" in data/quakes.tsv")
		wantInLog(t, r, "which_days", date, "no events on", "ax run workflows/quakes-nightly.yaml --scheduled-for 2018-02-03T03:00:00Z")
		for day, events := range eventsByDay {
			wantInLog(t, r, "which_days", fmt.Sprintf("  %s %5d\n", day, events))
		}
	}
}

func TestQuakesRefuseADamagedFile(t *testing.T) {
	const row = "2018-01-31T02:00:15.660Z\t1.35\tearthquake\t20km NNE of Lima, Montana\t-112.5183333\t44.8181667\t-2.15\tmb80279649\n"
	for name, c := range map[string]struct{ old, new, want string }{
		"a header that changed":           {"depth_km", "depth", "the header has changed"},
		"a row with a field too few":      {row, "2018-01-31T02:00:15.660Z\t1.35\n", "line 3 of data/quakes.tsv is not an event"},
		"a word where a number should be": {"\t1.35\t", "\tnull\t", "line 3 of data/quakes.tsv is not an event"},
		"a depth that is missing":         {"\t-2.15\t", "\t\t", "line 3 of data/quakes.tsv is not an event"},
		"a time of another shape":         {"2018-01-31T02:00:15.660Z", "1517364015660", "line 3 of data/quakes.tsv is not an event"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := unpack(t)
			edit(t, filepath.Join(dir, "data", "quakes.tsv"), c.old, c.new)
			r := runPipeline(t, filepath.Join(dir, "quakes-nightly.yaml"), "2018-02-03")
			wantStates(t, r, map[string]string{"pick": "failed", "which_days": "succeeded"})
			wantInLog(t, r, "pick", c.want)
		})
	}
}

func TestQuakesWithOddPlacesAndMagnitudesBelowZeroGiveGoodJSON(t *testing.T) {
	dir := unpack(t)
	const place = `5km of "Öræfi" \ south`
	edit(t, filepath.Join(dir, "data", "quakes.tsv"), "depth_km\tid\n", "depth_km\tid\n"+
		"2018-01-01T00:00:00.000Z\t-1.5\tquarry blast\there\t-16.7\t64\t0.1\tx1\n"+
		"2018-01-01T00:00:01.000Z\t-0.0\tquarry blast\t"+place+"\t-16.7\t64\t0.1\tx2\n"+
		"2018-01-01T00:00:02.000Z\t-0.3\tquarry blast\tthere\t-16.7\t64\t0.1\tx3\n")
	r := runPipeline(t, filepath.Join(dir, "quakes-nightly.yaml"), "2018-01-01")
	succeed(t, r)
	var got summary
	if err := json.Unmarshal([]byte(read(t, r.artifacts, "summary.json")), &got); err != nil {
		t.Fatal(err)
	}
	if want := map[string]int{"-2": 1, "-1": 1, "0": 1}; got.Events != 3 || got.Earthquakes != 0 || !maps.Equal(got.ByMagnitude, want) {
		t.Errorf("summary.json says %+v, want 3 events, 0 earthquakes, %v", got, want)
	}
	if s := got.Strongest; len(s) != 3 || s[0].ID != "x2" || s[0].Place != place || s[1].ID != "x3" || s[2].ID != "x1" {
		t.Errorf("strongest are %+v, want x2 at %q, x3, x1", got.Strongest, place)
	}
}
