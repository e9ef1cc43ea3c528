package lint

import (
	"strings"
	"testing"
	"time"
)

func TestSchedules(t *testing.T) {
	runCases(t, Options{}, []ruleCase{
		{"a good one", "cron: \"30 4 * * *\"\ntimezone: Europe/Berlin\ntasks: {t: {run: \"true\"}}\n", nil},
		{"a field that is out of range is pointed at", "cron: \"0 24 * * *\"\ntimezone: UTC\ntasks: {t: {run: \"true\"}}\n",
			[]string{"1:10 bad-cron"}},
		{"in a block, after an escape, behind letters of two bytes", "tasks:\n  é:\n    run: \"true\"\n  t:\n    cron: \"0\\x200 32 * *\"\n    run: \"true\"\n",
			[]string{"2:3 bad-name", "5:19 bad-cron"}},
		{"each entry of a list", "timezone: UTC\ncron: [\"0 0 * * *\", \"0 0 * *\", {cron: \"61 * * * *\", timezone: Mars/Base}]\ntasks: {t: {run: \"true\"}}\n",
			[]string{"2:22 bad-cron", "2:40 bad-cron", "2:63 unknown-timezone"}},
		{"a zone within the expression", "cron: \"TZ=Mars/Base 0 2 * * *\"\ntasks: {t: {run: \"true\"}}\n", []string{"1:11 unknown-timezone"}},
		{"the zone of the workflow", "timezone: Europe/Berln\ncron: \"0 2 * * *\"\ntasks: {t: {run: \"true\"}}\n", []string{"1:11 unknown-timezone"}},
		{"a date that no month has", "timezone: UTC\ncron: \"0 0 31 4,6 *\"\ntasks: {t: {run: \"true\"}}\n", []string{"2:12 never-fires"}},
		{"the 29th of February", "timezone: UTC\ncron: \"0 0 29 2 *\"\ntasks: {t: {run: \"true\"}}\n", nil},
		{"both day fields", "timezone: UTC\ncron: \"30 4 7,21 * 3\"\ntasks: {t: {run: \"true\"}}\n", []string{"2:13 day-or-weekday"}},
		{"a step counts as a star", "timezone: UTC\ncron: \"30 4 */2 * 3\"\ntasks: {t: {run: \"true\"}}\n", []string{"2:13 uneven-step"}},
		{"an uneven step in the hours", "timezone: UTC\ncron: \"0  */5 * * *\"\ntasks: {t: {run: \"true\"}}\n", []string{"2:11 uneven-step"}},
		{"a handler has none, so that its zone does not matter", "on_failure: h\ntasks:\n  a: {run: \"true\"}\n  h: {run: \"true\", cron: \"0 1 * * *\"}\n", []string{"4:26 bad-value"}},
		{"nor does that of a task that depends on another", "tasks:\n  a: {run: \"true\"}\n  b: {run: \"true\", depends_on: a, cron: \"0 1 * * *\"}\n", []string{"3:41 bad-value"}},
		{"the zone of the next one does", "on_failure: h\ntasks:\n  h: {run: \"true\", cron: \"0 1 * * *\"}\n  a: {run: \"true\", cron: \"0 1 * * *\"}\n", []string{"3:26 bad-value", "4:26 no-timezone"}},
		{"an even one", "timezone: UTC\ncron: \"0 */6 * * *\"\ntasks: {t: {run: \"true\"}}\n", nil},
	})
}

func TestAZoneIsAskedForOnlyWhereItMatters(t *testing.T) {
	for _, c := range []struct {
		name, cron string
		want       bool
	}{
		{"a time of day", `cron: "30 2 * * *"`, true},
		{"a day of the week", `cron: "30 * * * 1"`, true},
		{"some hours", `cron: "0 */6 * * *"`, true},
		{"once a month", `cron: "@monthly"`, true},
		{"each hour", `cron: "@hourly"`, false},
		{"some minutes", `cron: "*/5 * * * *"`, false},
		{"a zone of its own", `cron: [{cron: "30 4 * * *", timezone: Europe/Berlin}]`, false},
		{"a zone in the expression", `cron: "TZ=UTC 30 2 * * *"`, false},
		{"an interval", `every: 1h`, false},
		{"no expression at all", `cron: "x"`, false},
	} {
		got := strings.Join(check(c.cron+"\ntasks: {t: {run: \"true\"}}\n", Options{}), " ")
		if strings.Contains(got, "no-timezone") != c.want {
			t.Errorf("%s: got %q", c.name, got)
		}
	}
	two := "tasks:\n  a: {run: \"true\", cron: \"0 1 * * *\"}\n  b: {run: \"true\", cron: \"0 2 * * *\"}\n"
	if got := check(two, Options{}); len(got) != 1 {
		t.Errorf("one zone is missing, got %q", got)
	}
}

func TestDSTGap(t *testing.T) {
	text := "timezone: America/New_York\ncron: \"%\"\ntasks: {t: {run: \"true\"}}\n"
	for _, c := range []struct {
		name, cron string
		now        time.Time
		want       string
	}{
		{"a nightly time in the gap", "30 2 * * *", examplesNow, "02:30 on 2026-03-08 does not exist in America/New_York: the clocks are put forward, it fires at 03:00 instead"},
		{"the gap of this year is over, that of the next one is near", "30 2 * * *", time.Date(2026, 6, 1, 0, 0, 0, 0, time.UTC), "02:30 on 2027-03-14"},
		{"a time outside of it", "30 3 * * *", examplesNow, ""},
		{"every hour goes on by elapsed time", "30 * * * *", examplesNow, ""},
		{"never on the day of the gap", "30 2 * 7 *", examplesNow, ""},
	} {
		got := ""
		for _, d := range diagnose(strings.Replace(text, "%", c.cron, 1), Options{Now: c.now}) {
			if d.Rule == "dst-gap" {
				got = d.Message
			}
		}
		if !strings.HasPrefix(got, c.want) || c.want == "" && got != "" {
			t.Errorf("%s: got %q", c.name, got)
		}
	}
}

func TestDSTGapAtMidnightNamesTheSkippedDay(t *testing.T) {
	ds := diagnose("timezone: America/Santiago\ncron: \"@daily\"\ntasks: {t: {run: \"true\"}}\n", Options{})
	if len(ds) == 0 || !strings.Contains(ds[0].Message, "00:00 on 2026-09-06") || !strings.Contains(ds[0].Message, "fires at 01:00") {
		t.Errorf("got\n%s", places(ds))
	}
}

func TestSpanOfValidity(t *testing.T) {
	runCases(t, Options{}, []ruleCase{
		{"it ends before it begins", "valid_from: 2026-02-01\nvalid_until: 2026-01-01\ncron: \"@hourly\"\ntasks: {t: {run: \"true\"}}\n", []string{"2:14 never-fires"}},
		{"it is over", "valid_until: 2025-12-30\ncron: \"@hourly\"\ntasks: {t: {run: \"true\"}}\n", []string{"1:14 never-fires"}},
		{"its last day is not over everywhere", "valid_until: 2025-12-31\ncron: \"@hourly\"\ntasks: {t: {run: \"true\"}}\n", nil},
		{"it is over, and nothing has a schedule", "valid_until: 2025-12-30\ntasks: {t: {run: \"true\"}}\n", nil},
		{"no tick in it", "timezone: UTC\nvalid_from: 2026-02-02\nvalid_until: 2026-02-20\ncron: \"0 0 1 * *\"\ntasks: {t: {run: \"true\"}}\n", []string{"4:7 never-fires"}},
		{"a tick on its first day", "timezone: UTC\nvalid_from: 2026-02-01\nvalid_until: 2026-02-20\ncron: \"0 0 1 * *\"\ntasks: {t: {run: \"true\"}}\n", nil},
		{"a tick on its last day", "timezone: UTC\nvalid_from: 2026-01-20\nvalid_until: 2026-02-01\ncron: \"0 23 1 * *\"\ntasks: {t: {run: \"true\"}}\n", nil},
		{"a schedule of a task", "timezone: UTC\nvalid_from: 2026-02-02\nvalid_until: 2026-02-20\ntasks:\n  t: {run: \"true\", cron: \"0 0 1 * *\"}\n", []string{"5:26 never-fires"}},
	})
}
