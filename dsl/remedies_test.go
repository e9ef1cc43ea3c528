package dsl

import "testing"

func TestTheHelpShowsTheFormThatWasMeant(t *testing.T) {
	for _, c := range []struct{ name, text, rule, hint string }{
		{"a cron expression that begins with a step", "cron: */15 4 * * *\ntasks: {a: {run: ls}}", "syntax", `put the text into quotes: cron: "*/15 4 * * *"`},
		{"one that begins with a star", "tasks:\n  a:\n    cron: * 4 * * * # nightly\n    run: ls", "syntax", `put the text into quotes: cron: "* 4 * * *"`},
		{"an alias that there is not", "env: *base\ntasks: {a: {run: ls}}", "syntax", "mark a value above with &base, or put the text into quotes if it is no alias"},
		{"parameters in a list", "params:\n  - region\ntasks: {a: {run: ls}}", "wrong-type", "write each as NAME: DEFAULT, or as NAME: {type: string, required: true}"},
		{"a secret as its value", "secrets: {API_TOKEN: s3cret}\ntasks: {a: {run: ls}}", "wrong-type", "say where the value is, it does not belong here: API_TOKEN: {env: API_TOKEN}"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, ds := Parse("nightly.yaml", []byte(c.text))
			if len(ds) != 1 || ds[0].Rule != c.rule || ds[0].Hint != c.hint {
				t.Errorf("got %v\nwant %s (%s)", ds, c.rule, c.hint)
			}
		})
	}
}
