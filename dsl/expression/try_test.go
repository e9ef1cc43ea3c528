package expression

import "testing"

func TestWhatSurelyFailsIsAFaultWhereItIsTried(t *testing.T) {
	for _, c := range []struct{ name, code, at, message, hint string }{
		{"a division by zero", "1 / 0", "1 / 0", "division by zero", ""},
		{"one of what is not known yet", "params.n % 0", "params.n % 0", "division by zero", ""},
		{"a zero that has to be worked out", "4 / (2 - 2)", "4 / (2 - 2", "division by zero", ""},
		{"a date that is none", "run.date > date('31.01.2026')", "date('31.01.2026'", `"31.01.2026" is no date`, "write it like 2026-01-31"},
		{"a duration that is none", "duration('soon')", "duration('soon'", `"soon" is no duration: it is no number with a unit`, "write it like 500ms, 10s, 1h30m or 2d"},
		{"a number that is none", "int('three') + params.n", "int('three'", `"three" is no integer`, ""},
		{"a number that is too large", "9223372036854775807 + 1", "9223372036854775807 + 1", "the number is too large", ""},
		{"one that is never asked for", "params.unset ?? int('x')", "int('x'", `"x" is no integer`, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := Compile(c.code, WantText, inTask().Tried())
			e := asError(t, err)
			if e.Kind != Bad || e.Message != c.message || e.Hint != c.hint {
				t.Errorf("got kind %d, %s\n= %s\nwant %s\n= %s", e.Kind, e.Message, e.Hint, c.message, c.hint)
			}
			if at := under(c.code, e); at != c.at {
				t.Errorf("it points at %q, want %q", at, c.at)
			}
			if _, err := Compile(c.code, WantText, inTask()); err != nil {
				t.Errorf("where nothing is tried: %v", err)
			}
		})
	}
}

func TestWhatMayHaveAValueIsNoFaultWhereItIsTried(t *testing.T) {
	for _, code := range []string{
		"json('{}').a ?? 'none'",
		"json('null') ?? 1",
		"int(tasks.load.outputs.rows)",
		"params.n / params.a",
		"len(1..50000)", // a trial costs little: what it cannot tell it lets pass
		"time('2026-03-08 02:30')",
		"addDays(date('2026-02-28'), 1)",
	} {
		if _, err := Compile(code, WantText, inTask().Tried()); err != nil {
			t.Errorf("%s: %v", code, err)
		}
	}
}

func TestAComparisonThatNeverHoldsIsAFault(t *testing.T) {
	trigger, day := "a run is started by manual, schedule, api, after, backfill or workflow", "they go from 1 for Monday to 7 for Sunday"
	for _, c := range []struct{ name, code, at, message, hint string }{
		{"a trigger", "run.trigger == 'scheduled'", "'scheduled'", `no run has the trigger "scheduled"`, `did you mean "schedule"?`},
		{"a trigger like no other", "'cron' == run.trigger", "'cron'", `no run has the trigger "cron"`, trigger},
		{"a trigger in a list", "run.trigger in ['manual', 'cron']", "'cron'", `no run has the trigger "cron"`, trigger},
		{"a state in a list", "tasks.load.state not in ['success', 'failed']", "'success'", `no task has the state "success"`, `did you mean "succeeded"?`},
		{"Sunday as cron has it", "weekday(run.date) == 0", "0", "no day of the week is 0", day},
		{"a day by its name", "weekday(run.date) == 'fri'", "'fri'", `no day of the week is "fri"`, day},
		{"a day in a list", "weekday(run.date) in [6, 8]", "8", "no day of the week is 8", day},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := Compile(c.code, WantBool, inTask())
			if e := asError(t, err); e.Message != c.message || e.Hint != c.hint || under(c.code, e) != c.at {
				t.Errorf("at %q: %s\n= %s", under(c.code, e), e.Message, e.Hint)
			}
		})
	}
	for _, code := range []string{
		"run.trigger == 'backfill'", "weekday(run.date) == 7.0", "weekday(run.date) % 7 == 0", "weekday(run.date) in [1, params.n]",
		"weekday(run.date) - 1 == 0", "(params.unset ?? run.trigger) == 'x'", "-weekday(run.date) == -1", "tasks.load.state != nil",
	} {
		if _, err := Compile(code, WantBool, inTask()); err != nil {
			t.Errorf("%s: %v", code, err)
		}
	}
}

func TestAFaultyNameIsNotHeldAgainstWhatIsDoneWithIt(t *testing.T) {
	for _, code := range []string{"env.HOME / data", "data * 'a'", "-1 + ('a' - nix)"} {
		if faults := Check(code, WantText, inTask()); len(faults) != 1 || faults[0].Kind != UnknownReference {
			t.Errorf("%s: %v", code, faults)
		}
	}
}

func TestAFloatOfAParameterIsShownAsItIsWritten(t *testing.T) {
	values := &Values{Params: map[string]string{"ratio": "3.10"}}
	for text, want := range map[string]string{
		"v${{ params.ratio }}":                        "v3.10",
		"${{ 'v' + string(params.ratio) }}":           "v3.10",
		"${{ params.ratio + 0 }}":                     "3.1",
		"${{ params.ratio > 3.09 ? 1 : 2 }}":          "1",
		"${{ +params.ratio }}, ${{ [params.ratio] }}": "3.1, [3.1]",
	} {
		tpl, faults := CompileTemplate(text, inTask())
		if len(faults) > 0 {
			t.Fatalf("%s: %v", text, faults)
		}
		if got, err := tpl.Text(values); got != want || err != nil {
			t.Errorf("%s is %q, %v, want %q", text, got, err, want)
		}
	}
}
