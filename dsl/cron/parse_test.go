package cron

import (
	"errors"
	"strings"
	"testing"
	"time"
	"unicode/utf8"
)

func mustParse(t testing.TB, text string) *Expr {
	t.Helper()
	e, err := Parse(text)
	if err != nil {
		t.Fatalf("Parse(%q): %v", text, err)
	}
	return e
}

func mustZone(t testing.TB, name string) *time.Location {
	t.Helper()
	loc, err := LoadZone(name)
	if err != nil {
		t.Fatalf("LoadZone(%q): %v", name, err)
	}
	return loc
}

// set lists the values of a mask.
func set(mask uint64) (values []int) {
	for n := range 64 {
		if mask>>n&1 != 0 {
			values = append(values, n)
		}
	}
	return values
}

func masks(e *Expr) [5]uint64 {
	return [5]uint64{e.minute, uint64(e.hour), uint64(e.dom), uint64(e.month), uint64(e.dow)}
}

func TestParseAcceptsTheSameMeaningInEveryForm(t *testing.T) {
	for _, forms := range [][]string{
		{"0 * * * *", "@hourly", "@HOURLY", "0 */1 * * *", "\t0  *\t* * *\n", "0 0-23/1 * * *"},
		{"0 0 * * *", "@daily", "@midnight", " @daily ", "00 00 * * *", "0-0 0 */1 1-12 0-7"},
		{"0 0 * * 0", "@weekly", "0 0 * * 7", "0 0 * * sun", "0 0 * * SUN", "0 0 * * Sun-sun", "0 0 * * 7-7", "0 0 * * 0,7"},
		{"0 0 1 * *", "@monthly"},
		{"0 0 1 1 *", "@yearly", "@annually", "0 0 1 jan *", "0 0 1 JAN-Jan *"},
		{"0 0 * * 0,5,6", "0 0 * * 5-7", "0 0 * * fri-sun", "0 0 * * FRI-7", "0 0 * * 5,6,0", "0 0 * * 5-7,7"},
		{"0 0 * * 1,3,5,0", "0 0 * * 1-7/2", "0 0 * * mon-sun/2"},
		{"0 0 * * 1,4", "0 0 * * 1-6/3", "0 0 * * 1/3"},
		{"0 0 * * 0-6", "0 0 * * *", "0 0 * * 0-7", "0 0 * * 1-7"},
		{"5,20,35,50 * * * *", "5/15 * * * *", "5-59/15 * * * *", "50,5,35,20,5 * * * *"},
		{"0 0 1,11,21,31 * *", "0 0 */10 * *", "0 0 1/10 * *"},
		{"0 9-17 * 3-5 1-5", "0 9-17 * mar-may mon-fri", "0 09-17 * Mar-May MON-Fri"},
		{"0 0 1 1 *", "TZ=UTC 0 0 1 1 *", "CRON_TZ=Asia/Shanghai\t@yearly"},
	} {
		want := masks(mustParse(t, forms[0]))
		for _, text := range forms[1:] {
			if got := masks(mustParse(t, text)); got != want {
				t.Errorf("Parse(%q) has masks %b, Parse(%q) has %b", text, got, forms[0], want)
			}
		}
	}
}

func TestParseSetsTheValuesThatTheFieldsName(t *testing.T) {
	e := mustParse(t, "7-11/2,59 */7 31,1-3 feb,10-12 tue-thu")
	want := [5][]int{{7, 9, 11, 59}, {0, 7, 14, 21}, {1, 2, 3, 31}, {2, 10, 11, 12}, {2, 3, 4}}
	for i, mask := range masks(e) {
		got := set(mask)
		if len(got) != len(want[i]) {
			t.Errorf("%s: %v, want %v", fields[i].name, got, want[i])
			continue
		}
		for j := range got {
			if got[j] != want[i][j] {
				t.Errorf("%s: %v, want %v", fields[i].name, got, want[i])
				break
			}
		}
	}
}

func TestParseKeepsTheZoneAndTheText(t *testing.T) {
	for _, c := range []struct{ text, zone, shown string }{
		{"  30 \t 6  *   * *  ", "", "30 6 * * *"},
		{"TZ=Europe/Rome   0 2 * * *", "Europe/Rome", "TZ=Europe/Rome 0 2 * * *"},
		{"\tCRON_TZ=UTC\t@daily", "UTC", "CRON_TZ=UTC @daily"},
	} {
		e := mustParse(t, c.text)
		if e.Zone != c.zone || e.String() != c.shown {
			t.Errorf("Parse(%q) has zone %q and text %q, want %q and %q", c.text, e.Zone, e, c.zone, c.shown)
		}
		fallback := time.FixedZone("fallback", 3600)
		want := fallback
		if c.zone != "" {
			want = mustZone(t, c.zone)
		}
		if got := e.Location(fallback); got != want {
			t.Errorf("Parse(%q).Location is %v, want %v", c.text, got, want)
		}
	}
}

// Each case is the text with the part that the error points at in « and », and words that the message and the hint must
// have.
func TestParseRefusesWithThePlaceAndTheRemedy(t *testing.T) {
	nines := strings.Repeat("9", 4000)
	for _, c := range []struct{ name, text, message, hint string }{
		{"empty", "«»", "empty cron expression", "30 2 * * *"},
		{"blank", "« \t »", "empty cron expression", "30 2 * * *"},
		{"four fields", " «* * * *»", "4 fields", "minute, hour, day of month, month, day of week"},
		{"one field", "«5»", "1 field,", "minute, hour"},
		{"seconds", "0 30 6 * * «*»", "6 fields", `write "30 6 * * *"`},
		{"seconds with a step", "*/10 * * * * «*»", "6 fields", "none for seconds"},
		{"a command", "0 2 * * * «/bin/backup  --all» ", "7 fields", "minute, hour"},
		{"a lone comma", "«,» * * * *", "empty entry in the list of the minute field", "comma"},
		{"two commas", "1«,»,2 * * * *", "empty entry", "comma"},
		{"a comma at the end", "1 2«,» * * *", "list of the hour field", "comma"},
		{"a star in a range", "«*-5» * * * *", "minute field", ""},
		{"a plus", "0 «+5» * * *", `bad value "+5" in the hour field, allowed are 0 to 23`, ""},
		{"a minus", "«-5» * * * *", `"-5" in the minute field is not`, ""},
		{"an open range", "0 «5-» * * *", `"5-" in the hour field is not`, ""},
		{"three parts", "1-«2-3» * * * *", "in the minute field", ""},
		{"a step alone", "1,«/5» * * * *", `"/5" in the minute field is not`, ""},
		{"two steps", "*/«2/3» * * * *", "bad step", ""},
		{"no step", "*«/» * * * *", "bad step", ""},
		{"step zero", "0 */«0» * * *", `bad step "0" in the hour field, allowed after "*" are 1 to 24`, ""},
		{"a negative step", "*/«-2» * * * *", "bad step", ""},
		{"a step beyond the field", "*/«100» * * * *", "allowed after \"*\" are 1 to 60", `key "every"`},
		{"a step beyond the range", "5/«100» * * * *", "1 to 55", `key "every"`},
		{"a step beyond a part of the day", "0 2-4/«9» * * *", "allowed after \"2-4\" are 1 to 3", ""},
		{"a step beyond the month", "0 0 */«45» * *", "allowed after \"*\" are 1 to 31", ""},
		{"a huge step", "*/«9223372036854775808» * * * *", "bad step", `key "every"`},
		{"a range backwards", "0 «9-3» * * *", "runs backwards", `write "9-23,0-3"`},
		{"a range of names backwards", "0 0 * * 2,«fri-mon»", "runs backwards", `write "fri-sat,sun-mon"`},
		{"a range to Sunday as 0", "0 0 * * «5-0»", "runs backwards", `write "5-6,0"`},
		{"a month range backwards", "0 0 1 «nov-2» *", "runs backwards", `write "nov-dec,jan-2"`},
		{"minute 60", "«60» * * * *", "allowed are 0 to 59", "write 0"},
		{"hour 24", "* 8-«24» * * *", "allowed are 0 to 23", "write 0 for midnight"},
		{"day 0", "1 1 «0» * *", "day of month field, allowed are 1 to 31", ""},
		{"day 32", "0 0 1,«32» * *", "day of month field, allowed are 1 to 31", ""},
		{"month 0", "0 0 1 «0»/2 *", "allowed are 1 to 12, jan to dec", "from 1"},
		{"month 13", "0 0 1 «13» *", "allowed are 1 to 12, jan to dec", ""},
		{"weekday 8", "5 4 * * «8»", "allowed are 0 to 7, sun to sat", "0 and 7"},
		{"nines", "«" + nines + "» * * * *", "…", ""},
		{"a question mark", "0 0 «?» * 1", "day of month field is not plain cron", `write "*"`},
		{"the last day", "0 0 «L» * *", "day of month field is not plain cron", "28-31"},
		{"the last Friday", "0 0 * * «5L»", "day of week field is not plain cron", "28-31"},
		{"the last Friday by name", "0 0 * * «friL»", "day of week field is not plain cron", "28-31"},
		{"the third day from the end", "0 0 «L-3» * *", "day of month field is not plain cron", "28-31"},
		{"a weekday nearby", "0 0 «15W» * *", "day of month field is not plain cron", "1-5"},
		{"the second Monday", "0 0 * * «1#2»", "day of week field is not plain cron", "nth weekday"},
		{"a hash of Jenkins", "«H/15» 2 * * *", "minute field is not plain cron", `"jitter"`},
		{"a long name of a day", "0 0 * * «Monday»", `bad value "Monday"`, `did you mean "mon"?`},
		{"a near month", "0 0 1 «apl» *", `bad value "apl"`, `did you mean "apr"?`},
		{"no month", "0 0 1 «xyz» *", `bad value "xyz"`, ""},
		{"a day in the month field", "0 0 1 «mon» *", `bad value "mon" in the month field`, "day of week field"},
		{"another script's digits", "«٣» * * * *", "bad value", ""},
		{"a blank that is none", "0«\u00a0»2 * * *", "U+00A0", "plain blank"},
		{"a misspelt name", "\t«@dayly»", `unknown name "@dayly"`, `did you mean "@daily"?`},
		{"no such name", "«@reboot»", "allowed are @hourly @daily", ""},
		{"every", "«@every» 5m", "not a cron expression", `write every: "5m"`},
		{"every alone", "«@every»", "not a cron expression", `every: "5m"`},
		{"a name and more", "@daily «5 *»", `"@daily" stands alone`, "remove"},
		{"an unknown prefix", "«ZONE=UTC» * * * * *", "unknown prefix", "TZ=Zone"},
		{"a zone alone", " «TZ=Europe/Rome» ", "nothing after the zone", "TZ=Europe/Rome 30 2 * * *"},
	} {
		t.Run(c.name, func(t *testing.T) { checkRefusal(t, c.text, c.message, c.hint, BadCron) })
	}
	for _, c := range []struct{ name, text, message, hint string }{
		{"an empty zone", "«CRON_TZ=»", "empty time zone", "UTC"},
		{"an empty zone before fields", "«TZ=» 0 2 * * *", "empty time zone", "UTC"},
		{"no such zone", "TZ=«Mars/Base» 0 2 * * *", `unknown time zone "Mars/Base"`, "IANA"},
		{"a zone twice", " TZ=«TZ=TZ=» * * * * *", "unknown time zone", "IANA"},
		{"a zone of the machine", "TZ=«Local» 0 2 * * *", "every machine", "IANA"},
		{"a path", "TZ=«../../etc/passwd» 0 2 * * *", "path", "IANA"},
		{"a misspelt zone", "CRON_TZ=«Europe/Berln» @daily", "unknown time zone", `did you mean "Europe/Berlin"?`},
	} {
		t.Run(c.name, func(t *testing.T) { checkRefusal(t, c.text, c.message, c.hint, UnknownZone) })
	}
}

func checkRefusal(t *testing.T, marked, message, hint string, kind Kind) {
	t.Helper()
	before, rest, _ := strings.Cut(marked, "«")
	part, after, _ := strings.Cut(rest, "»")
	_, err := Parse(before + part + after)
	var e *Error
	if !errors.As(err, &e) {
		t.Fatalf("gave %v, want an *Error", err)
	}
	if e.Offset != len(before) || e.Width != len(part) {
		t.Errorf("points at %d, %d wide, want %d, %d wide", e.Offset, e.Width, len(before), len(part))
	}
	if e.Kind != kind {
		t.Errorf("is of kind %d, want %d", e.Kind, kind)
	}
	if !strings.Contains(e.Message, message) || e.Error() != e.Message || len(e.Message) > 200 {
		t.Errorf("says %q, want it to have %q", e.Message, message)
	}
	if !strings.Contains(e.Hint, hint) || hint == "" && e.Hint != "" {
		t.Errorf("hints %q, want it to have %q", e.Hint, hint)
	}
}

func FuzzParse(f *testing.F) {
	for _, seed := range []string{
		"", " ", "* * * * *", "TZ=", "TZ=0", "CRON_TZ=UTC", "TZ=TZ=TZ= 0 0 * * *", "TZ=UTC\t@daily", ", * * * *",
		"1,,2 * * * *", "*-5 * * * *", "+5 * * * *", "*/100 * * * *", "5/100 * * * *", "0-59/70 * * * *",
		"*/9223372036854775807 * * * *", "? ? ? ? ?", "0 0 * * 5-7", "0 0 L * 5#3", "@every 1h", "@dayly", "9-3 * * * *",
		"0 0 29 2 */6", "0 0 30 2 *", "\xff\xfe * * * *", "0\u00a00 * * * *", "0 0 1 jan sun", "* * * * * *", "/ 0 0 0 0", "@everY \x9b",
	} {
		f.Add(seed)
	}
	berlin := mustZone(f, "Europe/Berlin")
	from := time.Date(2027, time.March, 27, 12, 0, 0, 0, time.UTC)
	f.Fuzz(func(t *testing.T, text string) {
		e, err := Parse(text)
		if err != nil {
			var bad *Error
			if !errors.As(err, &bad) {
				t.Fatalf("Parse(%q) gave a %T", text, err)
			}
			if bad.Offset < 0 || bad.Width < 0 || bad.Offset+bad.Width > len(text) || bad.Width == 0 && text != "" {
				t.Fatalf("Parse(%q) points at %d, %d wide", text, bad.Offset, bad.Width)
			}
			if !utf8.ValidString(bad.Message) || !utf8.ValidString(bad.Hint) || strings.ContainsAny(bad.Message+bad.Hint, "\n\r\x00") {
				t.Fatalf("Parse(%q) says %q, hint %q", text, bad.Message, bad.Hint)
			}
			return
		}
		again := mustParse(t, e.String())
		if masks(again) != masks(e) || again.Fixed() != e.Fixed() || again.Zone != e.Zone {
			t.Fatalf("Parse(%q) shows itself as %q, which means something else", text, e)
		}
		next := e.Next(from, berlin)
		if next.IsZero() == e.Satisfiable() {
			t.Fatalf("Parse(%q) is satisfiable: %t, yet fires at %v", text, e.Satisfiable(), next)
		}
		if !next.IsZero() && (!next.After(from) || !e.Prev(next, berlin).Equal(next)) {
			t.Fatalf("Parse(%q) fires at %v after %v, last at %v", text, next, from, e.Prev(next, berlin))
		}
	})
}
