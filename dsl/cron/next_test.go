package cron

import (
	"math"
	"slices"
	"testing"
	"time"
)

func instant(t testing.TB, text string) time.Time {
	t.Helper()
	at, err := time.Parse(time.RFC3339Nano, text)
	if err != nil {
		t.Fatal(err)
	}
	return at
}

func TestNext(t *testing.T) {
	for _, c := range []struct {
		name, text, zone, after string
		want                    []string
	}{
		{"a fixed time in a gap fires at the end of the gap", "30 2 * * *", "Europe/Berlin", "2027-03-26T12:00:00Z",
			[]string{"2027-03-27T01:30:00Z", "2027-03-28T01:00:00Z", "2027-03-29T00:30:00Z"}},
		{"the same in New York", "30 2 * * *", "America/New_York", "2027-03-13T12:00:00Z",
			[]string{"2027-03-14T07:00:00Z", "2027-03-15T06:30:00Z"}},
		{"a time at the end of a gap is not moved", "0 3 * * *", "Europe/Berlin", "2027-03-27T12:00:00Z",
			[]string{"2027-03-28T01:00:00Z", "2027-03-29T01:00:00Z"}},
		{"a time at the beginning of a gap is in it", "0 2 * * *", "Europe/Berlin", "2027-03-27T12:00:00Z",
			[]string{"2027-03-28T01:00:00Z", "2027-03-29T00:00:00Z"}},
		{"two times in a gap are one", "0,30 2 * * *", "Europe/Berlin", "2027-03-27T12:00:00Z",
			[]string{"2027-03-28T01:00:00Z", "2027-03-29T00:00:00Z", "2027-03-29T00:30:00Z"}},
		{"a time in a gap and one at its end are one", "0 2,3 * * *", "Europe/Berlin", "2027-03-27T12:00:00Z",
			[]string{"2027-03-28T01:00:00Z", "2027-03-29T00:00:00Z"}},
		{"a weekly time in a gap is not put off by a week", "15 2 * * 0", "Europe/Berlin", "2027-03-22T00:00:00Z",
			[]string{"2027-03-28T01:00:00Z", "2027-04-04T00:15:00Z"}},
		{"a yearly time in a gap is not put off by a year", "30 2 8 3 *", "America/New_York", "2026-01-01T00:00:00Z",
			[]string{"2026-03-08T07:00:00Z", "2027-03-08T07:30:00Z"}},
		{"the end of the gap counts from within the second before", "30 2 * * *", "Europe/Berlin", "2027-03-28T00:59:59.999Z",
			[]string{"2027-03-28T01:00:00Z"}},
		{"after the end of the gap it is over", "30 2 * * *", "Europe/Berlin", "2027-03-28T01:00:00Z",
			[]string{"2027-03-29T00:30:00Z"}},
		{"a fixed time in an overlap fires once, the first time", "30 2 * * *", "Europe/Berlin", "2027-10-30T12:00:00Z",
			[]string{"2027-10-31T00:30:00Z", "2027-11-01T01:30:00Z"}},
		{"between the two it does not fire again", "30 2 * * *", "Europe/Berlin", "2027-10-31T00:45:00Z",
			[]string{"2027-11-01T01:30:00Z"}},
		{"a time at the beginning of an overlap fires the first time", "0 2 * * *", "Europe/Berlin", "2027-10-30T12:00:00Z",
			[]string{"2027-10-31T00:00:00Z", "2027-11-01T01:00:00Z"}},
		{"a time at the end of an overlap fires after both", "0 3 * * *", "Europe/Berlin", "2027-10-30T12:00:00Z",
			[]string{"2027-10-31T02:00:00Z"}},
		{"a list of hours is fixed", "30 1,2,3 * * *", "Europe/Berlin", "2027-10-30T12:00:00Z",
			[]string{"2027-10-30T23:30:00Z", "2027-10-31T00:30:00Z", "2027-10-31T02:30:00Z"}},
		{"an hourly one misses no hour over a gap", "0 * * * *", "Europe/Berlin", "2027-03-27T23:30:00Z",
			[]string{"2027-03-28T00:00:00Z", "2027-03-28T01:00:00Z", "2027-03-28T02:00:00Z"}},
		{"nor over an overlap", "30 * * * *", "Europe/Berlin", "2027-10-30T23:00:00Z",
			[]string{"2027-10-30T23:30:00Z", "2027-10-31T00:30:00Z", "2027-10-31T01:30:00Z", "2027-10-31T02:30:00Z"}},
		{"a step goes on evenly over a gap", "*/30 * * * *", "Europe/Berlin", "2027-03-28T00:00:00Z",
			[]string{"2027-03-28T00:30:00Z", "2027-03-28T01:00:00Z", "2027-03-28T01:30:00Z"}},
		{"steps within a repeated hour fire in both halves", "*/30 2 * * *", "Europe/Berlin", "2027-10-30T12:00:00Z",
			[]string{"2027-10-31T00:00:00Z", "2027-10-31T00:30:00Z", "2027-10-31T01:00:00Z", "2027-10-31T01:30:00Z", "2027-11-01T01:00:00Z"}},
		{"steps within a skipped hour are skipped", "*/30 2 * * *", "Europe/Berlin", "2027-03-27T12:00:00Z",
			[]string{"2027-03-29T00:00:00Z"}},
		{"where midnight is skipped the day begins at one", "0 0 * * *", "America/Santiago", "2026-09-04T12:00:00Z",
			[]string{"2026-09-05T04:00:00Z", "2026-09-06T04:00:00Z", "2026-09-07T03:00:00Z"}},
		{"a midnight skipped in Cairo", "0 0 30 4 *", "Africa/Cairo", "2027-04-01T00:00:00Z", []string{"2027-04-29T22:00:00Z"}},
		{"right after a midnight skipped in Cairo", "15 1 30 4 *", "Africa/Cairo", "2027-04-28T00:00:00Z", []string{"2027-04-29T22:15:00Z"}},
		{"where midnight comes twice", "0 0 * * *", "America/Havana", "2026-10-31T12:00:00Z",
			[]string{"2026-11-01T04:00:00Z", "2026-11-02T05:00:00Z"}},
		{"an hour repeated over midnight", "30 23 * * *", "America/Santiago", "2026-04-04T12:00:00Z",
			[]string{"2026-04-05T02:30:00Z", "2026-04-06T03:30:00Z"}},
		{"an overlap that begins a minute after midnight", "*/30 * * * *", "America/St_Johns", "2010-11-07T01:55:00Z",
			[]string{"2010-11-07T02:00:00Z", "2010-11-07T02:30:00Z", "2010-11-07T03:00:00Z", "2010-11-07T03:30:00Z", "2010-11-07T04:00:00Z"}},
		{"a gap of half an hour", "15 2 * * *", "Australia/Lord_Howe", "2026-10-02T20:00:00Z",
			[]string{"2026-10-03T15:30:00Z", "2026-10-04T15:15:00Z"}},
		{"an overlap of half an hour", "45 1 * * *", "Australia/Lord_Howe", "2026-04-04T00:00:00Z",
			[]string{"2026-04-04T14:45:00Z", "2026-04-05T15:15:00Z"}},
		{"later on a day of a change of half an hour", "20 10 * * *", "Australia/Lord_Howe", "2010-04-03T12:00:00Z",
			[]string{"2010-04-03T23:50:00Z"}},
		{"a zone moved by half an hour for good", "0 3 * * *", "America/Caracas", "2007-12-08T12:00:00Z",
			[]string{"2007-12-09T07:30:00Z", "2007-12-10T07:30:00Z"}},
		{"an offset of three quarters of an hour", "30 9 * * *", "Pacific/Chatham", "2026-07-01T00:00:00Z", []string{"2026-07-01T20:45:00Z"}},
		{"hourly with an offset of three quarters", "0 * * * *", "Asia/Kathmandu", "2026-09-04T12:00:00Z",
			[]string{"2026-09-04T12:15:00Z", "2026-09-04T13:15:00Z"}},
		{"what a missing day held fires when it is over", "30 9 * * *", "Pacific/Apia", "2011-12-29T12:00:00Z",
			[]string{"2011-12-29T19:30:00Z", "2011-12-30T10:00:00Z", "2011-12-30T19:30:00Z"}},
		{"a missing Friday", "0 9 * * fri", "Pacific/Apia", "2011-12-24T12:00:00Z", []string{"2011-12-30T10:00:00Z", "2012-01-05T19:00:00Z"}},
		{"every six hours over a missing day", "0 */6 * * *", "Pacific/Apia", "2011-12-30T03:00:00Z",
			[]string{"2011-12-30T04:00:00Z", "2011-12-30T10:00:00Z", "2011-12-30T16:00:00Z"}},
		{"a gap of 44 minutes and 30 seconds that holds midnight", "0 0 * * *", "Africa/Monrovia", "1972-01-05T12:00:00Z",
			[]string{"1972-01-06T00:44:30Z", "1972-01-07T00:44:30Z", "1972-01-08T00:00:00Z"}},
		{"no change of the clock at all", "30 2 * * *", "Asia/Shanghai", "2026-05-11T00:00:00Z",
			[]string{"2026-05-11T18:30:00Z", "2026-05-12T18:30:00Z"}},
		{"leap days over the year 2100", "0 0 29 2 *", "UTC", "2096-02-29T00:00:00Z",
			[]string{"2104-02-29T00:00:00Z", "2108-02-29T00:00:00Z"}},
		{"leap days on a weekend", "0 0 29 2 */6", "Europe/Berlin", "2026-01-01T00:00:00Z",
			[]string{"2032-02-28T23:00:00Z", "2048-02-28T23:00:00Z", "2060-02-28T23:00:00Z"}},
		{"leap days with a step, in a zone", "*/20 3 29 2 *", "America/New_York", "2096-02-29T09:00:00Z",
			[]string{"2104-02-29T08:00:00Z", "2104-02-29T08:20:00Z"}},
		{"from winter to a step in summer", "*/20 3 1 7 *", "America/New_York", "2026-01-05T00:00:00Z",
			[]string{"2026-07-01T07:00:00Z", "2026-07-01T07:20:00Z", "2026-07-01T07:40:00Z", "2027-07-01T07:00:00Z"}},
		{"from summer to a step in winter", "*/20 3 1 1 *", "America/New_York", "2026-06-05T00:00:00Z",
			[]string{"2027-01-01T08:00:00Z"}},
		{"one date or one weekday", "30 4 7,21 * 3", "UTC", "2026-06-01T00:00:00Z",
			[]string{"2026-06-03T04:30:00Z", "2026-06-07T04:30:00Z", "2026-06-10T04:30:00Z", "2026-06-17T04:30:00Z", "2026-06-21T04:30:00Z"}},
		{"a star with a step is a star: both", "0 0 */10 * 3", "UTC", "2026-06-02T00:00:00Z",
			[]string{"2026-07-01T00:00:00Z", "2026-10-21T00:00:00Z", "2026-11-11T00:00:00Z"}},
		{"also in the weekday field", "0 0 13 * */5", "UTC", "2026-01-01T00:00:00Z",
			[]string{"2026-02-13T00:00:00Z", "2026-03-13T00:00:00Z", "2026-09-13T00:00:00Z"}},
		{"a whole range is no star: either", "0 0 1-31 * 1", "UTC", "2026-06-02T00:00:00Z", []string{"2026-06-03T00:00:00Z"}},
		{"strictly after", "30 6 * * *", "UTC", "2026-05-11T06:30:00Z", []string{"2026-05-12T06:30:00Z"}},
		{"a nanosecond before", "30 6 * * *", "UTC", "2026-05-11T06:29:59.999999999Z", []string{"2026-05-11T06:30:00Z"}},
		{"on the last day of a leap year far ahead", "30 2 * * *", "Europe/Warsaw", "2040-12-30T12:00:00Z",
			[]string{"2040-12-31T01:30:00Z", "2041-01-01T01:30:00Z"}},
		{"the same with a step", "0 */12 1 * *", "Europe/Warsaw", "2040-12-31T12:00:00Z",
			[]string{"2040-12-31T23:00:00Z", "2041-01-01T11:00:00Z"}},
		{"before the era", "0 0 1 1 *", "UTC", "0000-01-01T00:00:00Z", []string{"0002-01-01T00:00:00Z"}},
		{"the last one of the era", "59 23 * * *", "UTC", "9999-12-31T00:00:00Z", []string{"9999-12-31T23:59:00Z", ""}},
		{"none left in the era in the east", "*/5 * * * *", "Asia/Shanghai", "9999-12-31T23:58:00Z", []string{""}},
		{"none left in the era in the west", "59 23 * * *", "America/New_York", "9999-12-31T12:00:00Z", []string{""}},
		{"an impossible date", "30 2 30 2 *", "Europe/Berlin", "2026-01-01T00:00:00Z", []string{""}},
		{"impossible dates with a step", "*/5 2 31 4,6,9,11 *", "Europe/Berlin", "2026-01-01T00:00:00Z", []string{""}},
	} {
		t.Run(c.name, func(t *testing.T) {
			e, loc, at := mustParse(t, c.text), mustZone(t, c.zone), instant(t, c.after)
			for _, want := range c.want {
				next := e.Next(at, loc)
				if got := shown(next); got != want {
					t.Fatalf("%q in %s after %s: got %q, want %q", c.text, c.zone, at.UTC().Format(time.RFC3339Nano), got, want)
				}
				if want == "" {
					break
				}
				if prev := e.Prev(next, loc); !prev.Equal(next) {
					t.Errorf("the last fire at %q is %q", want, shown(prev))
				}
				if next.Location() != loc {
					t.Errorf("%q is in the zone %v, want %v", want, next.Location(), loc)
				}
				at = next
			}
		})
	}
}

// shown is RFC 3339 in UTC, empty for the zero time.
func shown(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339Nano)
}

func TestPrev(t *testing.T) {
	for _, c := range []struct{ name, text, zone, at, want string }{
		{"a fire itself", "30 6 * * *", "UTC", "2026-05-11T06:30:00Z", "2026-05-11T06:30:00Z"},
		{"a nanosecond before a fire", "30 6 * * *", "UTC", "2026-05-11T06:29:59.999999999Z", "2026-05-10T06:30:00Z"},
		{"within a second", "30 6 * * *", "UTC", "2026-05-11T06:30:00.5Z", "2026-05-11T06:30:00Z"},
		{"at the end of a gap", "30 2 * * *", "Europe/Berlin", "2027-03-28T01:00:00Z", "2027-03-28T01:00:00Z"},
		{"just before the end of a gap", "30 2 * * *", "Europe/Berlin", "2027-03-28T00:59:59Z", "2027-03-27T01:30:00Z"},
		{"where the clock shows the skipped time's hour no more", "30 2 * * *", "Europe/Berlin", "2027-03-28T20:00:00Z", "2027-03-28T01:00:00Z"},
		{"between the two times in an overlap", "30 2 * * *", "Europe/Berlin", "2027-10-31T01:10:00Z", "2027-10-31T00:30:00Z"},
		{"after the second time in an overlap", "30 2 * * *", "Europe/Berlin", "2027-10-31T01:40:00Z", "2027-10-31T00:30:00Z"},
		{"the second half of an overlap, hourly", "30 * * * *", "Europe/Berlin", "2027-10-31T01:40:00Z", "2027-10-31T01:30:00Z"},
		{"over a missing day", "30 9 * * *", "Pacific/Apia", "2011-12-30T12:00:00Z", "2011-12-30T10:00:00Z"},
		{"a leap day before 2104", "0 0 29 2 *", "UTC", "2104-02-28T00:00:00Z", "2096-02-29T00:00:00Z"},
		{"a leap day with a step, in a zone", "*/20 3 29 2 *", "America/New_York", "2104-02-28T00:00:00Z", "2096-02-29T08:40:00Z"},
		{"from summer back to a step in winter", "*/20 3 1 1 *", "America/New_York", "2026-07-05T00:00:00Z", "2026-01-01T08:40:00Z"},
		{"from winter back to a step in summer", "*/20 3 1 7 *", "America/New_York", "2027-01-05T00:00:00Z", "2026-07-01T07:40:00Z"},
		{"the last of a month", "59 23 31 * *", "UTC", "2026-07-30T00:00:00Z", "2026-05-31T23:59:00Z"},
		{"the first of the era", "0 0 * * *", "UTC", "0001-01-02T00:00:00Z", "0001-01-02T00:00:00Z"},
		{"none in the era yet in the west", "*/5 2 31 12 *", "America/New_York", "0001-01-01T06:00:00Z", ""},
		{"none in the era with a step", "*/5 0 31 12 *", "America/New_York", "0001-06-01T00:00:00Z", ""},
		{"the first of the era with a step", "*/5 0 1 1 *", "America/New_York", "0001-06-01T00:00:00Z", "0001-01-01T05:51:02Z"},
		{"before the era", "* * * * *", "UTC", "0000-12-31T00:00:00Z", ""},
		{"none in the era in the west", "*/5 * * * *", "Etc/GMT+8", "0001-01-01T00:03:00Z", ""},
		{"an impossible date", "30 2 30 2 *", "Europe/Berlin", "2026-01-01T00:00:00Z", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := shown(mustParse(t, c.text).Prev(instant(t, c.at), mustZone(t, c.zone))); got != c.want {
				t.Errorf("%q in %s at %s: got %q, want %q", c.text, c.zone, c.at, got, c.want)
			}
		})
	}
}

func TestAnHourlyExpressionGoesOnHourlyThroughAWholeYear(t *testing.T) {
	for _, zone := range []string{"UTC", "Europe/Berlin", "America/New_York", "America/Santiago", "Africa/Cairo", "America/Havana", "Asia/Kathmandu"} {
		e, loc := mustParse(t, "0 * * * *"), mustZone(t, zone)
		at := e.Next(instant(t, "2026-01-01T00:00:00Z"), loc)
		for range 366 * 24 {
			next := e.Next(at, loc)
			if next.Sub(at) != time.Hour {
				t.Fatalf("%s: %v follows %v", zone, next, at)
			}
			at = next
		}
	}
}

func TestInstantsFarFromTheEraFindItOrNothing(t *testing.T) {
	for _, zone := range []string{"UTC", "Asia/Shanghai", "America/New_York"} {
		loc := mustZone(t, zone)
		for _, text := range []string{"* * * * *", "30 2 * * *", "*/7 3 29 2 *", "30 2 30 2 *"} {
			e := mustParse(t, text)
			for _, far := range []time.Time{time.Unix(math.MaxInt64, 0), time.Date(12000, 1, 1, 0, 0, 0, 0, time.UTC)} {
				if got := e.Next(far, loc); !got.IsZero() {
					t.Errorf("%q in %s: after %v comes %v", text, zone, far, got)
				}
				if got := e.Prev(far, loc); e.Satisfiable() && (got.Year() < 9996 || got.Year() > 9999) || !got.Equal(e.Prev(got, loc)) {
					t.Errorf("%q in %s: before %v comes %v", text, zone, far, got)
				}
				if gap, ok := e.DSTGap(loc, far, 10); ok {
					t.Errorf("%q in %s: from %v on there is %v", text, zone, far, gap)
				}
			}
			for _, far := range []time.Time{time.Unix(math.MinInt64, 0), time.Date(-12000, 1, 1, 0, 0, 0, 0, time.UTC)} {
				if got := e.Prev(far, loc); !got.IsZero() {
					t.Errorf("%q in %s: before %v comes %v", text, zone, far, got)
				}
				if got := e.Next(far, loc); e.Satisfiable() && (got.Year() < 1 || got.Year() > 4) {
					t.Errorf("%q in %s: after %v comes %v", text, zone, far, got)
				}
			}
		}
	}
}

func TestANilZoneIsUTC(t *testing.T) {
	e, from := mustParse(t, "30 2 * * *"), instant(t, "2026-05-11T12:00:00Z")
	if got, want := shown(e.Next(from, nil)), "2026-05-12T02:30:00Z"; got != want {
		t.Errorf("Next is %s, want %s", got, want)
	}
}

func TestDSTGap(t *testing.T) {
	for _, c := range []struct {
		name, text, zone, from string
		years                  int
		skipped, fires         string // empty if there is no gap
	}{
		{"a daily time", "30 2 * * *", "Europe/Berlin", "2026-06-01T00:00:00Z", 1, "2027-03-28 02:30", "2027-03-28T01:00:00Z"},
		{"the beginning of the gap", "0 2 * * *", "Europe/Berlin", "2026-06-01T00:00:00Z", 1, "2027-03-28 02:00", "2027-03-28T01:00:00Z"},
		{"the first of several", "15,45 2 * * *", "Europe/Berlin", "2026-06-01T00:00:00Z", 1, "2027-03-28 02:15", "2027-03-28T01:00:00Z"},
		{"midnight in Santiago", "0 0 * * *", "America/Santiago", "2026-06-01T00:00:00Z", 1, "2026-09-06 00:00", "2026-09-06T04:00:00Z"},
		{"half an hour", "15 2 * * *", "Australia/Lord_Howe", "2026-06-01T00:00:00Z", 1, "2026-10-04 02:15", "2026-10-03T15:30:00Z"},
		{"a missing day", "30 9 * * *", "Pacific/Apia", "2011-12-30T09:59:59Z", 1, "2011-12-30 09:30", "2011-12-30T10:00:00Z"},
		{"at the change itself it is over", "30 9 * * *", "Pacific/Apia", "2011-12-30T10:00:00Z", 1, "", ""},
		{"the end of the gap", "0 3 * * *", "Europe/Berlin", "2026-06-01T00:00:00Z", 20, "", ""},
		{"a repeated time", "30 2 * 10 *", "Europe/Berlin", "2026-06-01T00:00:00Z", 20, "", ""},
		{"months without a change", "30 2 * 1-2 *", "Europe/Berlin", "2026-06-01T00:00:00Z", 20, "", ""},
		{"an hourly one", "30 * * * *", "Europe/Berlin", "2026-06-01T00:00:00Z", 20, "", ""},
		{"steps in the skipped hour", "*/30 2 * * *", "Europe/Berlin", "2026-06-01T00:00:00Z", 20, "", ""},
		{"an impossible date", "30 2 30 2 *", "Europe/Berlin", "2026-06-01T00:00:00Z", 20, "", ""},
		{"a zone without changes", "30 2 * * *", "Asia/Shanghai", "2026-06-01T00:00:00Z", 20, "", ""},
		{"too few years", "30 2 28 3 *", "Europe/Berlin", "2027-03-28T02:00:00Z", 1, "", ""},
		{"a gap at the end of the span", "30 2 28 3 *", "Europe/Berlin", "2026-03-28T01:00:00Z", 1, "2027-03-28 02:30", "2027-03-28T01:00:00Z"},
		{"a gap a second after the span", "30 2 28 3 *", "Europe/Berlin", "2026-03-28T00:59:59Z", 1, "", ""},
		{"no years", "30 2 * * *", "Europe/Berlin", "2026-06-01T00:00:00Z", 0, "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			loc := mustZone(t, c.zone)
			gap, ok := mustParse(t, c.text).DSTGap(loc, instant(t, c.from), c.years)
			if c.fires == "" {
				if ok || gap != (Gap{}) {
					t.Errorf("found %v", gap)
				}
				return
			}
			if got := gap.Skipped.Format("2006-01-02 15:04"); !ok || got != c.skipped || shown(gap.Fires) != c.fires || gap.Fires.Location() != loc {
				t.Errorf("got %s, firing at %s, %t, want %s, firing at %s", got, shown(gap.Fires), ok, c.skipped, c.fires)
			}
		})
	}
}

// The day of New York's gap is 8 to 14 March, and falls on the 8th in years such as 2026 and 2037.
func TestDSTGapLooksForTheYearInWhichADateMeetsTheChange(t *testing.T) {
	loc := mustZone(t, "America/New_York")
	e := mustParse(t, "30 2 8 3 *")
	if gap, ok := e.DSTGap(loc, instant(t, "2026-06-01T00:00:00Z"), 5); ok {
		t.Errorf("within five years: %v", gap)
	}
	gap, ok := e.DSTGap(loc, instant(t, "2026-06-01T00:00:00Z"), 12)
	if !ok || gap.Fires.Year() != 2037 || gap.Fires.Day() != 8 {
		t.Errorf("within twelve years: %v, %t", gap, ok)
	}
}

func TestTheMasksOfTheWholeFieldsMatchEveryMinute(t *testing.T) {
	e := mustParse(t, "* * * * *")
	at := instant(t, "2028-02-28T23:58:00Z")
	var got []string
	for range 3 {
		at = e.Next(at, time.UTC)
		got = append(got, shown(at))
	}
	want := []string{"2028-02-28T23:59:00Z", "2028-02-29T00:00:00Z", "2028-02-29T00:01:00Z"}
	if !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}
