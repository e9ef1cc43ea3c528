package workflows

import (
	"encoding/csv"
	"encoding/xml"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// weather is a day, in tenths of a degree, a millimetre and a metre a second: whole numbers, so that sums are exact.
type weather struct {
	date                  string
	rain, high, low, wind int
}

func seattle(t *testing.T) (days []weather) {
	t.Helper()
	tenths := func(text string) int {
		x, err := strconv.ParseFloat(text, 64)
		if err != nil {
			t.Fatal(err)
		}
		return int(math.Round(10 * x))
	}
	for _, r := range records(t, "data/seattle-weather.csv", ',') {
		days = append(days, weather{r[0], tenths(r[1]), tenths(r[2]), tenths(r[3]), tenths(r[4])})
	}
	return days
}

// span is what a row of months.csv says of a month or a year.
type span struct {
	days, rain, wet, wind int
	sumHigh, sumLow       int
	highest, lowest       weather
}

// spanOf adds up the days whose date begins with prefix.
func spanOf(days []weather, prefix string) (s span) {
	for _, d := range days {
		if !strings.HasPrefix(d.date, prefix) {
			continue
		}
		if s.days++; s.days == 1 {
			s.highest, s.lowest = d, d
		}
		s.rain += d.rain
		s.sumHigh += d.high
		s.sumLow += d.low
		s.wind = max(s.wind, d.wind)
		if d.rain >= 10 {
			s.wet++
		}
		if d.high > s.highest.high {
			s.highest = d
		}
		if d.low < s.lowest.low {
			s.lowest = d
		}
	}
	return s
}

func tenth(n int) string { return strconv.FormatFloat(float64(n)/10, 'f', 1, 64) }

// spans gives the prefixes of the rows of months.csv: twelve months and their year, four times.
func spans() (prefixes []string) {
	for year := 2012; year <= 2015; year++ {
		for month := 1; month <= 12; month++ {
			prefixes = append(prefixes, fmt.Sprintf("%d-%02d", year, month))
		}
		prefixes = append(prefixes, strconv.Itoa(year))
	}
	return prefixes
}

func TestSeattleMonthsAndYearsAreThoseOfTheData(t *testing.T) {
	r := runPipeline(t, "seattle-weather.yaml", "2026-01-02")
	succeed(t, r)
	rows, err := csv.NewReader(strings.NewReader(read(t, r.artifacts, "months.csv"))).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	prefixes, days := spans(), seattle(t)
	if len(rows) != 1+len(prefixes) {
		t.Fatalf("months.csv has %d rows, want %d", len(rows), 1+len(prefixes))
	}
	for i, prefix := range prefixes {
		row, s := rows[1+i], spanOf(days, prefix)
		want := []string{prefix, strconv.Itoa(s.days), row[2], row[3], tenth(s.highest.high), s.highest.date,
			tenth(s.lowest.low), s.lowest.date, tenth(s.rain), strconv.Itoa(s.wet), tenth(s.wind)}
		if got, want := strings.Join(row, ","), strings.Join(want, ","); got != want {
			t.Errorf("months.csv says %s, want %s", got, want)
		}
		wantMean(t, prefix+" mean_high", row[2], s.sumHigh, s.days)
		wantMean(t, prefix+" mean_low", row[3], s.sumLow, s.days)
	}
}

// wantMean allows what rounding to two places may change: half of the last place.
func wantMean(t *testing.T, what, got string, sum, n int) {
	t.Helper()
	x, err := strconv.ParseFloat(got, 64)
	if want := float64(sum) / 10 / float64(n); err != nil || math.Abs(x-want) > 0.005+1e-9 {
		t.Errorf("%s is %q, want %f", what, got, want)
	}
}

func TestSeattleOutputsAreThoseOfTheData(t *testing.T) {
	r := runPipeline(t, "seattle-weather.yaml", "2026-01-02")
	succeed(t, r)
	days := seattle(t)
	extremes := func(s span) map[string]string {
		return map[string]string{"days": strconv.Itoa(s.days), "highest": tenth(s.highest.high), "highest_on": s.highest.date,
			"lowest": tenth(s.lowest.low), "lowest_on": s.lowest.date}
	}
	all := extremes(spanOf(days, ""))
	wettest := 0
	for _, prefix := range spans() {
		s := spanOf(days, prefix)
		if len(prefix) == len("2012") {
			year := extremes(s)
			year["precipitation"] = tenth(s.rain)
			wantOutputs(t, r, "year_"+prefix, year)
		} else if s.rain > wettest {
			wettest = s.rain
			all["wettest_month"], all["wettest_mm"] = prefix, tenth(s.rain)
		}
	}
	wantOutputs(t, r, "report", all)
	wantOutputs(t, r, "check", map[string]string{"rows": strconv.Itoa(len(days)), "last_day": days[len(days)-1].date})
	wantOutputs(t, r, "split", map[string]string{"years": "2012 2013 2014 2015"})
}

func wantOutputs(t *testing.T, r result, id string, want map[string]string) {
	t.Helper()
	if got := r.outputs[id]; fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("outputs of %q are %v, want %v", id, got, want)
	}
}

func TestSeattleReportShowsTheFiguresInTheLogToo(t *testing.T) {
	r := runPipeline(t, "seattle-weather.yaml", "2026-01-02")
	succeed(t, r)
	report := read(t, r.artifacts, "report.txt")
	wantInLog(t, r, "report", report)
	days := seattle(t)
	for year := 2012; year <= 2015; year++ {
		s := spanOf(days, strconv.Itoa(year))
		for _, want := range []string{tenth(s.highest.high) + " on " + s.highest.date, tenth(s.lowest.low) + " on " + s.lowest.date} {
			if !strings.Contains(report, want) {
				t.Errorf("no %q in the report", want)
			}
		}
	}
	wantRain(t, report, days)
	wantColumns(t, report, days)
}

// wantRain looks for the bar of each month of the year: fifty marks for the wettest, rounded up.
func wantRain(t *testing.T, report string, days []weather) {
	t.Helper()
	var rain [12]int
	for _, d := range days {
		month, err := strconv.Atoi(d.date[5:7])
		if err != nil {
			t.Fatal(err)
		}
		rain[month-1] += d.rain
	}
	most := slices.Max(rain[:])
	for i, sum := range rain {
		line := fmt.Sprintf("\n %s %6.1f %s\n", time.Month(i + 1).String()[:3], float64(sum)/40, strings.Repeat("#", (50*sum+most-1)/most))
		if !strings.Contains(report, line) {
			t.Errorf("no line %q in the report", line)
		}
	}
}

// wantColumns reads the picture of temperatures back: the marks of each month must span its lowest to its highest, the
// heavier ones its mean low to its mean high.
func wantColumns(t *testing.T, report string, days []weather) {
	t.Helper()
	_, picture, _ := strings.Cut(report, "highest\n\n") // the end of the legend
	lines := strings.Split(picture, "\n")[:20]
	const margin = 6 // letters before the first month
	for i, month := range spans() {
		if len(month) == len("2012") {
			continue
		}
		s := spanOf(days, month)
		n := 10 * float64(s.days)
		wantSpan(t, month+" from lowest to highest", lines, margin+i, "#:", float64(s.lowest.low)/10, float64(s.highest.high)/10)
		wantSpan(t, month+" from mean low to mean high", lines, margin+i, "#", float64(s.sumLow)/n, float64(s.sumHigh)/n)
	}
}

// wantSpan compares what a column of marks covers with the temperatures low to high.
func wantSpan(t *testing.T, what string, lines []string, column int, marks string, low, high float64) {
	t.Helper()
	const top, step = 40, 2.5 // degrees: of the first line, and from line to line
	first, last := -1, -1
	for n, line := range lines {
		if column < len(line) && strings.ContainsRune(marks, rune(line[column])) {
			if last = n; first < 0 {
				first = n
			}
		}
	}
	bottom, ceiling := top-step*float64(last+1), top-step*float64(first)
	if low < bottom || low > bottom+step || high > ceiling || high < ceiling-step {
		t.Errorf("%s is drawn from %.1f to %.1f, want %.2f to %.2f", what, bottom, ceiling, low, high)
	}
}

func TestSeattlePictureHasABarForEachMonth(t *testing.T) {
	r := runPipeline(t, "seattle-weather.yaml", "2026-01-02")
	succeed(t, r)
	titles, d := 0, xml.NewDecoder(strings.NewReader(read(t, r.artifacts, "temperature.svg")))
	for {
		token, err := d.Token()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if e, ok := token.(xml.StartElement); ok && e.Name.Local == "title" {
			titles++
		}
	}
	if titles != 48 {
		t.Errorf("%d months drawn, want 48", titles)
	}
}

func TestSeattleRefusesADamagedFile(t *testing.T) {
	const row = "2013-06-15,0.0,25.6,10.0,2.9,sun\n"
	for name, c := range map[string]struct{ old, new, want string }{
		"a header that changed":            {"temp_max", "tmax", `the header has changed: date,precipitation,tmax,`},
		"a day that is missing":            {row, "", `line 533: date is "2013-06-16", want 2013-06-15`},
		"a day that comes twice":           {row, row + row, `line 534: date is "2013-06-15", want 2013-06-16`},
		"a day that no calendar has":       {"2013-06-15", "2013-06-31", `line 533: date is "2013-06-31", want 2013-06-15`},
		"a month that no calendar has":     {"2013-06-15", "2013-13-15", `line 533: date is "2013-13-15", want 2013-06-15`},
		"a row with a field too few":       {row, "2013-06-15,0.0,25.6,10.0,sun\n", "line 533: want 6 fields, got 5"},
		"a word where a number should be":  {row, "2013-06-15,0.0,warm,10.0,2.9,sun\n", `line 533: temp_max is "warm"`},
		"a value beyond what can be":       {row, "2013-06-15,0.0,222.0,10.0,2.9,sun\n", `temp_max is "222.0", want a number from -40 to 50`},
		"a high below the low":             {row, "2013-06-15,0.0,9.9,10.0,2.9,sun\n", "temp_max 9.9 is below temp_min 10.0"},
		"an unknown kind of weather":       {row, "2013-06-15,0.0,25.6,10.0,2.9,frogs\n", `weather is "frogs"`},
		"a last day that is missing":       {"2015-12-31,0.0,5.6,-2.1,3.5,sun\n", "", "want 1461 rows, got 1460"},
		"a last line that is cut off":      {"-2.1,3.5,sun\n", "-2.1,3.5,su", `line 1462: weather is "su"`},
		"a leap day in a year without one": {"2013-03-01", "2013-02-29", `date is "2013-02-29", want 2013-03-01`},
	} {
		t.Run(name, func(t *testing.T) {
			dir := unpack(t)
			edit(t, filepath.Join(dir, "data", "seattle-weather.csv"), c.old, c.new)
			r := runPipeline(t, filepath.Join(dir, "seattle-weather.yaml"), "2026-01-02")
			wantStates(t, r, map[string]string{"fetch": "succeeded", "check": "failed", "alert": "succeeded"})
			wantInLog(t, r, "check", c.want, "problem(s) in data/seattle-weather.csv: mend the file")
			wantInLog(t, r, "alert", "task check failed (exit)", "ax logs "+r.id+" check", "ax retry "+r.id)
		})
	}
}

func TestSeattleWithoutItsFileFailsAtTheFirstTask(t *testing.T) {
	dir := unpack(t)
	edit(t, filepath.Join(dir, "seattle-weather.yaml"), "SOURCE: data/", "SOURCE: nowhere/")
	r := runPipeline(t, filepath.Join(dir, "seattle-weather.yaml"), "2026-01-02")
	wantStates(t, r, map[string]string{"fetch": "failed", "alert": "succeeded"})
	wantInLog(t, r, "fetch", "nowhere/seattle-weather.csv")
}

func TestSeattleWithoutOneYearHasNoReport(t *testing.T) {
	dir := unpack(t)
	edit(t, filepath.Join(dir, "scripts", "seattle-year.sh"), "year=$1\n", "year=$1\n[ $year != 2014 ]\n")
	r := runPipeline(t, filepath.Join(dir, "seattle-weather.yaml"), "2026-01-02")
	wantStates(t, r, map[string]string{"fetch": "succeeded", "check": "succeeded", "split": "succeeded", "year_2012": "succeeded",
		"year_2013": "succeeded", "year_2014": "failed", "year_2015": "succeeded", "alert": "succeeded"})
	wantInLog(t, r, "alert", "task year_2014 failed")
}

func TestSeattleWithoutItsPictureStillSucceeds(t *testing.T) {
	dir := unpack(t)
	edit(t, filepath.Join(dir, "scripts", "seattle-picture.awk"), "BEGIN {\n", "BEGIN {\n  exit 1\n")
	r := runPipeline(t, filepath.Join(dir, "seattle-weather.yaml"), "2026-01-02")
	if r.state != "succeeded" || r.states["picture"] != "failed" || r.states["report"] != "succeeded" {
		t.Errorf("the run is %q with %v, want it succeeded in spite of the picture", r.state, r.states)
	}
}
