package lint

import (
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/ax-scheduler/ax/dsl"
)

// where the files of tests are said to lie.
const testDir = "/srv/workflows"

// diskOf makes a file system that has some files below testDir.
func diskOf(files ...string) fs.FS {
	root := fstest.MapFS{testDir[1:] + "/nightly.yaml": {}}
	for i := 0; i < len(files); i += 2 {
		name := files[i]
		if !strings.HasPrefix(name, "/") {
			name = path.Join(testDir, name)
		}
		root[name[1:]] = &fstest.MapFile{Data: []byte(files[i+1]), Mode: 0o755}
	}
	return root
}

// check gives what is reported about one file, a line for each: its place, its
// rule. Remarks on timeouts are left out, lest every case needs one.
func check(text string, o Options) []string {
	var said []string
	for _, d := range diagnose(text, o) {
		if d.Rule != "no-timeout" {
			said = append(said, fmt.Sprintf("%d:%d %s", d.Pos.Line, d.Pos.Col, d.Rule))
		}
	}
	return said
}

func diagnose(text string, o Options) dsl.Diagnostics {
	if o.Now.IsZero() {
		o.Now = examplesNow
	}
	return Check([]*File{Parse("nightly.yaml", []byte(text), testDir, testDir)}, o)
}

// ruleCase is one file and what is to be said of it.
type ruleCase struct {
	name string
	text string
	want []string
}

func runCases(t *testing.T, o Options, cases []ruleCase) {
	t.Helper()
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			if got := check(c.text, o); !slices.Equal(got, c.want) {
				t.Errorf("want %q, got\n%sof\n%s", c.want, places(diagnose(c.text, o)), c.text)
			}
		})
	}
}

func TestTheSameFilesGiveTheSameAnswerInAnyOrder(t *testing.T) {
	var files []*File
	for i := range 20 {
		text := fmt.Sprintf("name: w%d\ncron: \"0 2 30 2 *\"\ntasks:\n  a: {run: \"a | | b\", depends_on: b}\n  b: {workflow: {name: nobody%d}}\n", i/2, i)
		files = append(files, Parse(fmt.Sprintf("f%02d.yaml", i), []byte(text), "", "x"))
	}
	want := places(Check(files, Options{}))
	slices.Reverse(files)
	if got := places(Check(files, Options{})); got != want {
		t.Errorf("in another order:\n%s\nwant\n%s", got, want)
	}
	if n := strings.Count(want, "duplicate-workflow"); n != 10 {
		t.Errorf("%d names are taken, want 10", n)
	}
}

func TestABadFileHidesNoOther(t *testing.T) {
	files := []*File{
		Parse("a.yaml", []byte("tasks:\n\tx"), "", ""),
		Parse("b.yaml", []byte("tasks: {t: {run: \"fi\"}}"), "", ""),
	}
	got := Check(files, Options{})
	if len(got) != 2 || got[0].Rule != "syntax" || got[1].Rule != "shell-syntax" {
		t.Errorf("got\n%s", places(got))
	}
}

func TestWhatCouldNotBeReadIsNotMissingAsWell(t *testing.T) {
	runCases(t, Options{}, []ruleCase{
		{"a mistyped key", `
parms: {region: cn}
cron: "30 2 * * *"
tasks:
  t: {run: "echo ${{ params.region }}", timout: 5m}
`, []string{"2:1 unknown-key", "3:7 no-timezone", "5:41 unknown-key"}},
		{"a task that could not be read, and a script that is wrong all the same", `
tasks:
  a: {runn: x}
  b: {run: "if"}
`, []string{"3:7 unknown-key", "4:13 shell-syntax"}},
	})
}

func TestADisabledTaskIsCheckedToo(t *testing.T) {
	runCases(t, Options{}, []ruleCase{
		{"its script, its schedule", `
timezone: UTC
tasks:
  t: {run: "fi", cron: "0 25 * * *", disabled: true}
`, []string{"4:13 shell-syntax", "4:27 bad-cron"}},
	})
}

func TestWhatTasksShareIsReportedOnce(t *testing.T) {
	runCases(t, Options{}, []ruleCase{
		{"by an alias", `
x-script: &s "a | | b"
tasks:
  a: {run: *s}
  b: {run: *s}
`, []string{"2:17 shell-syntax"}},
		{"by defaults", `
defaults: {env: {A: "${{ params.x }}"}}
tasks:
  a: {run: "true"}
  b: {run: "true"}
`, []string{"2:26 unknown-reference"}},
	})
}
