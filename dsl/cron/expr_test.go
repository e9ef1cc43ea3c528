package cron

import "testing"

func TestFixed(t *testing.T) {
	for text, want := range map[string]bool{
		"30 2 * * *":        true,
		"0,30 2,14 * * *":   true,
		"0-59 2-4 * * *":    true,
		"30 2 */2 */3 */2":  true,
		"@daily":            true,
		"@yearly":           true,
		"@hourly":           false,
		"* 2 * * *":         false,
		"30 * * * *":        false,
		"*/30 2 * * *":      false,
		"0-30/30 2 * * *":   false,
		"30/10 2 * * *":     false,
		"30 2-4/2 * * *":    false,
		"5,*/30 2 1 1 *":    false,
		"TZ=UTC 30 2 * * *": true,
	} {
		if got := mustParse(t, text).Fixed(); got != want {
			t.Errorf("%q is fixed: %t, want %t", text, got, want)
		}
	}
}

func TestDayOrWeekday(t *testing.T) {
	for text, want := range map[string]bool{
		"30 4 7,21 * 3":   true,
		"0 0 1-31 * 0-6":  true,
		"0 0 1/2 * 1":     true,
		"0 0 * * 3":       false,
		"0 0 1 * *":       false,
		"0 0 */10 * 3":    false,
		"0 0 13 * */5":    false,
		"0 0 5,*/10 * 3":  false,
		"0 0 */10,5 * 3":  false,
		"0 0 */10 * */2":  false,
		"0 0 1 * */1":     false,
		"@weekly":         false,
		"*/5 */2 1 */2 1": true,
	} {
		if got := mustParse(t, text).DayOrWeekday(); got != want {
			t.Errorf("either day is enough for %q: %t, want %t", text, got, want)
		}
	}
}

func TestSatisfiable(t *testing.T) {
	for text, want := range map[string]bool{
		"30 2 30 2 *":         false,
		"30 2 30,31 2 *":      false,
		"0 0 31 4,6,9,11 *":   false,
		"0 0 31 2-4/2 */2":    false,
		"30 2 29 2 *":         true,
		"0 0 29 2 */6":        true,
		"0 0 30 2 1":          true, // any Monday in February
		"0 0 31 2,3 *":        true,
		"0 0 */31 2 *":        true, // the first
		"0 0 30 2 */3":        false,
		"* * * * *":           true,
		"TZ=UTC 0 0 30 feb *": false,
	} {
		if got := mustParse(t, text).Satisfiable(); got != want {
			t.Errorf("%q is satisfiable: %t, want %t", text, got, want)
		}
	}
}

func TestUnevenStep(t *testing.T) {
	for text, want := range map[string]Uneven{
		"*/25 * * * *":        {"minute", 25, 10},
		"*/7 * * * *":         {"minute", 7, 4},
		"*/45 8-18 * * *":     {"minute", 45, 15},
		"5/25 * * * *":        {"minute", 25, 10},
		"3,0-59/25 * * * *":   {"minute", 25, 10},
		"*/40 23,0 * * *":     {"minute", 40, 20},
		"0 */5 * * *":         {"hour", 5, 4},
		"0 */7 * * mon-fri":   {"hour", 7, 3},
		"0 */7 1 * 1":         {"hour", 7, 3},
		"0 0 */2 * *":         {"day of month", 2, 1},
		"0 0 */10 * *":        {"day of month", 10, 1},
		"0 0 1 */5 *":         {"month", 5, 2},
		"0 0 * * */2":         {"day of week", 2, 1},
		"0 0 * * 1-7/2":       {"day of week", 2, 1},
		"0 0 * * 0-7/3":       {"day of week", 3, 1},
		"*/25 */5 * * *":      {"hour", 5, 4}, // no two of those hours follow each other
		"*/15 * * * *":        {},
		"5/15 * * * *":        {},
		"*/60 * * * *":        {},
		"*/1 */1 */1 */1 */1": {},
		"0-30/7 * * * *":      {},
		"*/25 9 * * *":        {},
		"*/25 9-17/2 * * *":   {},
		"0 9-17/3 * * *":      {},
		"0 */7 1 * *":         {},
		"0 */7 * * 1":         {},
		"0 */6 * * *":         {},
		"0 0 */2 1 *":         {},
		"0 0 1 */3 *":         {},
		"0 0 * * 1-5/2":       {},
		"0 0 * * 0-7":         {},
		"0 0 * * 0-7/7":       {},
		"30 2 * * *":          {},
	} {
		got, ok := mustParse(t, text).UnevenStep()
		if got != want || ok != (want != Uneven{}) {
			t.Errorf("%q: got %+v, %t, want %+v", text, got, ok, want)
		}
	}
}
