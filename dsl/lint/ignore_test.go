package lint

import (
	"fmt"
	"strings"
	"testing"
)

func TestIgnore(t *testing.T) {
	runCases(t, Options{}, []ruleCase{
		{"in the line", `
tasks:
  t: {run: get | sort} # ax-ignore: unseen-failure an empty list is fine
`, nil},
		{"in the line above", `
tasks:
  # ax-ignore: unseen-failure
  t: {run: get | sort}
`, nil},
		{"above more comments and blank lines", `
tasks:
  # ax-ignore: unseen-failure an empty list is fine

  # the list
  t: {run: get | sort}
`, nil},
		{"at the key of a block: for all of it", `
tasks:
  t:
    # ax-ignore: unseen-failure
    run: |
      get | sort
      get | sort
`, nil},
		{"in the script: for one line of it", `
tasks:
  t:
    run: |
      # ax-ignore: unseen-failure
      get | sort
      get | sort # ax-ignore: unseen-failure
      get | sort
`, []string{"8:7 unseen-failure"}},
		{"at the end of a command over several lines: for all of it", `
tasks:
  t:
    run: |
      get | sort
      get http://h \
        | uniq \
        | sort # ax-ignore: unseen-failure
      get | sort
`, []string{"5:7 unseen-failure", "9:7 unseen-failure"}},
		{"a comment that ends with a backslash ends its command", `
tasks:
  t:
    run: |
      get | sort # so \
      true # ax-ignore: unseen-failure
`, []string{"5:7 unseen-failure", "6:25 unused-ignore"}},
		{"at the line of a task: for all of it, its script included", `
tasks:
  t: # ax-ignore: unseen-failure an empty list is fine
    run: |
      get | sort

      if true; then
        get | sort
      fi
    timeout: 5m
  u:
    run: get | sort
`, []string{"12:10 unseen-failure"}},
		{"above a task", `
tasks:
  # ax-ignore: unseen-failure an empty list is fine
  t:
    run: get | sort
  u:
    run: get | sort
`, []string{"7:10 unseen-failure"}},
		{"at the line of all tasks", `
tasks: # ax-ignore: unseen-failure the lists may be empty
  t:
    run: get | sort
  u: {run: get | sort}
`, nil},
		{"at the line of another key of the task", `
tasks:
  t:
    timeout: 5m # ax-ignore: unseen-failure
    run: get | sort
`, []string{"4:30 unused-ignore", "5:10 unseen-failure"}},
		{"at the header of a block: for all of it", `
tasks:
  t:
    run: | # ax-ignore: unseen-failure
      true
      get | sort
  u:
    run: >- # ax-ignore: unseen-failure
      true;
      get | sort
`, nil},
		{"at the key of a list that is not indented", `
cron: # ax-ignore: no-timezone
- "0 1 * * *"
- "0 2 * * *"
tasks: {t: {run: "true"}}
`, nil},
		{"at an item of a list", `
cron:
  - cron: "0 1 * * *" # ax-ignore: no-timezone
    params: {}
  - "0 2 1 * 1" # ax-ignore: day-or-weekday
timezone: UTC
tasks: {t: {run: "true"}}
`, []string{"3:36 unused-ignore"}},
		{"at brackets and quotes over several lines", `
tasks:
  t: { # ax-ignore: unseen-failure
    run: get | sort
  }
  u: # ax-ignore: unseen-failure
    run: "true;
      get | sort"
`, nil},
		{"above the first key: for that key", `
# ax-ignore: unseen-failure
name: a
tasks:
  t: {run: get | sort}
`, []string{"2:14 unused-ignore", "5:12 unseen-failure"}},
		{"in the script, above more comments", `
tasks:
  t:
    run: |
      # ax-ignore: unseen-failure

      # the list
      get | sort
`, nil},
		{"at the end of a script: for nothing behind it", `
tasks:
  t:
    run: |
      true
      # ax-ignore: unseen-failure
  u: {run: get | sort}
`, []string{"6:20 unused-ignore", "7:12 unseen-failure"}},
		{"at a line of a script that others are deeper than", `
tasks:
  t:
    run: |
      if true; then # ax-ignore: unseen-failure
        get | sort
      fi
`, []string{"5:34 unused-ignore", "6:9 unseen-failure"}},
		{"at the end of the file: for nothing", `
tasks:
  t:
    run: get | sort
    # ax-ignore: unseen-failure
`, []string{"4:10 unseen-failure", "5:18 unused-ignore"}},
		{"in the file", `
# A list of files.
# ax-ignore-file: unseen-failure, no-timezone the lists may be empty
---
cron: "0 1 * * *"
tasks:
  a: {run: get | sort}
  b: {run: get | sort}
`, nil},
		{"several rules", `
# ax-ignore: no-timezone, day-or-weekday: why not
cron: "0 1 1 * 1"
tasks: {t: {run: "true"}}
`, nil},
		{"several rules, close together", `
# ax-ignore: no-timezone,day-or-weekday why not
cron: "0 1 1 * 1"
tasks: {t: {run: "true"}}
`, nil},
		{"a judgement of the linter, though an error", `
tasks:
  a: {run: "true"}
  b: {run: "true", depends_on: {a: skipped}} # ax-ignore: never-runs for later
`, nil},
		{"an error without which the file is not loaded", `
tasks:
  a: {run: "true", timeout: soon} # ax-ignore: bad-value
`, []string{"3:29 bad-value", "3:48 unused-ignore"}},
		{"another line", `
tasks:
  a: {run: "true"} # ax-ignore: unseen-failure
  b: {run: get | sort}
`, []string{"3:33 unused-ignore", "4:12 unseen-failure"}},
		{"another rule", `
tasks:
  a: {run: get | sort} # ax-ignore: overrun
`, []string{"3:12 unseen-failure", "3:37 unused-ignore"}},
		{"no rule of this name", `
tasks:
  a: {run: get | sort} # ax-ignore: unseen-failures
`, []string{"3:12 unseen-failure", "3:37 unused-ignore"}},
		{"a form that it does not have", `
tasks:
  a: {run: get | sort} # ax-ignore unseen-failure
  b: {run: "true"} # ax-ignore:
`, []string{"3:12 unseen-failure", "3:26 unused-ignore", "4:22 unused-ignore"}},
		{"for the file, but not above it", `
tasks:
  # ax-ignore-file: unseen-failure
  a: {run: get | sort}
`, []string{"3:5 unused-ignore", "4:12 unseen-failure"}},
		{"in quotes it is text", `
description: "a # ax-ignore: overrun"
tasks:
  a: {run: 'echo "# ax-ignore: overrun"'}
`, nil},
		{"in a word it is none", `
tasks:
  a: {run: "true"} # see ax-ignore: overrun
`, nil},
		{"what cannot be tried is not unused", `
# ax-ignore-file: missing-file
tasks:
  a: {run: ./none.sh}
`, nil},
		{"where the file has errors nothing is unused", `
tasks:
  a: {run: "true", depends_on: b} # ax-ignore: redundant-dependency
`, []string{"3:32 unknown-task"}},
	})
}

func TestACommentHoldsWhateverTheLineEndsAre(t *testing.T) {
	text := "# ax-ignore-file: no-timezone\ncron: \"0 1 * * *\"\ntasks:\n  t: # ax-ignore: unseen-failure\n    run: |\n      get | sort\n  u:\n    run: |\n      # ax-ignore: unseen-failure\n      get | sort\n"
	for name, end := range map[string]string{"LF": "\n", "CRLF": "\r\n", "CR": "\r"} {
		for _, mark := range []string{"", "\ufeff"} {
			if got := check(mark+strings.ReplaceAll(text, "\n", end), Options{}); len(got) > 0 {
				t.Errorf("%s, mark %q: got %q", name, mark, got)
			}
		}
	}
}

func TestUnusedIgnoreSuggestsTheRule(t *testing.T) {
	ds := diagnose("timeout: 1h\ntasks: {t: {run: \"true\"}} # ax-ignore: unsen-failure\n", Options{})
	if len(ds) != 1 || ds[0].Hint != `did you mean "unseen-failure"?` || ds[0].End.Col-ds[0].Pos.Col != int32(len("unsen-failure")) {
		t.Errorf("got\n%s", places(ds))
	}
}

func TestWhichRulesCanBeIgnored(t *testing.T) {
	var can []string
	for _, r := range Rules() {
		if CanIgnore(r.Name) && r.Severity.String() == "error" {
			can = append(can, r.Name)
		}
		if r.Severity.String() != "error" && !CanIgnore(r.Name) && r.Name != "unused-ignore" {
			t.Errorf("%s is a %s and cannot be ignored", r.Name, r.Severity)
		}
	}
	if got := fmt.Sprint(can); got != "[never-runs never-fires shell-syntax unknown-workflow workflow-cycle]" {
		t.Errorf("errors that can be ignored: %s", got)
	}
	for _, name := range can {
		if !strings.Contains(Manual(), "`"+name+"`") {
			t.Errorf("the manual does not say that %s can be ignored", name)
		}
	}
}
