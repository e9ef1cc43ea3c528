package dsl

import "testing"

func TestAnotherShapeIsToldWithTheRightOne(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"a dependency with a colon", inTask("depends_on:\n  - a\n  - b:"), "6:9-10 wrong-type: write b, without the colon"},
		{"a condition in a list", inTask("depends_on:\n  - b: failed"), "5:9-10 wrong-type: are a map, not a list: {b: failed}"},
		{"a variable as in a shell", top("env: A=b"), "1:6-9 wrong-type: write {A: b}"},
		{"variables as in a shell", top("env: [A=b, C=d]"), "1:6-16 wrong-type: write {A: b, C: d}"},
		{"variables with blanks and without values", top("env:\n  - A=b c\n  - C="), `2:3-4 wrong-type: write {A: "b c", C: ""}`},
		{"variables as a list of maps", top("env:\n  - A: b\n  - C: d"), "2:3-4 wrong-type: write {A: b, C: d}"},
		{"variables that YAML 1.1 sees line ends in", top("env: \"A=\u2028\""), `1:6-11 wrong-type: write {A: "\u2028"}`},
		{"a task as a list of maps", "tasks:\n  t:\n    - run: x\n    - run: y\n", "3:5-6 wrong-type: without a dash"},
		{"a task as a list of texts", "tasks:\n  t: [x, y]\n", "2:6-12 wrong-type: without a dash"},
		{"a comma in a text in braces", "tasks:\n  t: {run: echo a, b}\n", `2:20-21 unknown-key: put the whole into quotes, "echo a, b"`},
		{"two commas", "tasks:\n  t: {run: echo a, b, c}\n", `2:20-21 unknown-key: "echo a, b, c"`},
		{"a comma, and a key behind it", "tasks:\n  t: {run: echo a, b, timeout: 5m}\n", `2:20-21 unknown-key: "echo a, b"`},
		{"a key without its colon is none", "tasks:\n  t: {run: echo a, retry 2}\n", "2:20-27 unknown-key: write retry: 2"},
		{"a slip of the pen is none", "tasks:\n  t: {run: echo a, disabeld}\n", `2:20-28 unknown-key: did you mean "disabled"?`},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, ds := Parse("f.yaml", []byte(c.text))
			compare(t, ds, []string{c.want})
		})
	}
}
