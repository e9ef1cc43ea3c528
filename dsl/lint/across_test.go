package lint

import (
	"slices"
	"strings"
	"testing"
)

// several parses files given as name, text, name, text. A name before a slash is
// the folder that the file is loaded from.
func several(files ...string) (list []*File) {
	for i := 0; i < len(files); i += 2 {
		folder, _, _ := strings.Cut(files[i], "/")
		list = append(list, Parse(files[i], []byte(files[i+1]), "", folder))
	}
	return list
}

func said(files []*File, o Options) (all []string) {
	for _, d := range Check(files, o) {
		if d.Rule != "no-timeout" {
			all = append(all, strings.Join(strings.Fields(d.File+" "+d.Rule+": "+d.Message), " "))
		}
	}
	return all
}

const leaf = "tasks: {t: {run: \"true\"}}\n"

func starting(name string) string { return "tasks: {t: {workflow: {name: " + name + "}}}\n" }

func TestAcross(t *testing.T) {
	for _, c := range []struct {
		name  string
		files []*File
		want  []string
	}{
		{"all is well", several("w/a.yaml", starting("b"), "w/b.yaml", leaf, "w/c.yaml", "after: [a, b]\n"+leaf), nil},
		{"one name twice: the first by path counts", several("w/b.yaml", "name: x\n"+leaf, "w/a.yaml", "name: x\n"+leaf, "w/x.yaml", leaf),
			[]string{`w/b.yaml duplicate-workflow: workflow "x" is declared in w/a.yaml already`, `w/x.yaml duplicate-workflow: workflow "x" is declared in w/a.yaml already`}},
		{"one name in two folders", several("v/a.yaml", leaf, "w/a.yaml", leaf), nil},
		{"names that nobody has", several("w/a.yaml", "after: {b: failed}\n"+starting("bb"), "w/bbb.yaml", leaf),
			[]string{`w/a.yaml unknown-workflow: there is no workflow "b"`, `w/a.yaml unknown-workflow: there is no workflow "bb"`}},
		{"a name of another folder", several("v/a.yaml", leaf, "w/b.yaml", starting("a")), []string{`w/b.yaml unknown-workflow: there is no workflow "a"`}},
		{"a file that cannot be read is there all the same", several("w/a.yaml", starting("b"), "w/b.yaml", "tasks:\n\tx"),
			[]string{`w/b.yaml syntax: ` + Check(several("w/b.yaml", "tasks:\n\tx"), Options{})[0].Message}},
		{"a workflow starts itself", several("w/a.yaml", starting("a")), []string{`w/a.yaml workflow-cycle: workflow "a" starts itself without end`}},
		{"a circle of three, and what leads there", several("w/a.yaml", starting("b"), "w/b.yaml", starting("c"), "w/c.yaml", starting("a"), "w/d.yaml", starting("a")),
			[]string{`w/a.yaml workflow-cycle: workflows start each other without end: a -> b -> c -> a`}},
		{"two circles", several("w/a.yaml", starting("b"), "w/b.yaml", starting("a"), "w/c.yaml", starting("d"), "w/d.yaml", starting("c")),
			[]string{`w/a.yaml workflow-cycle: workflows start each other without end: a -> b -> a`, `w/c.yaml workflow-cycle: workflows start each other without end: c -> d -> c`}},
		{"by an end that is waited for", several("w/a.yaml", "after: b\n"+starting("b"), "w/b.yaml", leaf),
			[]string{`w/a.yaml workflow-cycle: workflows start each other without end: a -> b -> a`}},
		{"two ends", several("w/a.yaml", "after: b\n"+leaf, "w/b.yaml", "after: {a: finished}\n"+leaf),
			[]string{`w/b.yaml workflow-cycle: workflows start each other without end: a -> b -> a`}},
		{"a failure that is waited for may not come", several("w/a.yaml", "after: {b: failed}\n"+leaf, "w/b.yaml", "after: a\n"+leaf), nil},
		{"parameters of a child", several("w/a.yaml", "tasks: {t: {workflow: {name: b, params: {zone: x, n: many}}}}\n",
			"w/b.yaml", "params: {region: {required: true}, n: 1}\ntasks: {t: {run: 'echo ${{ params.region }} ${{ params.n }}'}}\n"),
			[]string{`w/a.yaml missing-key: task "t" gives no value to parameter "region", which is required`,
				`w/a.yaml unknown-reference: workflow "b" has no parameter "zone"`, `w/a.yaml bad-value: parameter "n": "many" is no integer`}},
		{"a slip in the name of a parameter that must be given", several("w/a.yaml", "tasks: {t: {workflow: {name: b, params: {totl: 3}}}}\n",
			"w/b.yaml", "params: {total: {type: int, required: true}}\ntasks: {t: {run: 'echo ${{ params.total }}'}}\n"),
			[]string{`w/a.yaml unknown-reference: workflow "b" has no parameter "totl"`}},
	} {
		got := said(c.files, Options{})
		slices.Sort(got)
		slices.Sort(c.want)
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: want\n  %s\ngot\n  %s", c.name, strings.Join(c.want, "\n  "), strings.Join(got, "\n  "))
		}
	}
}

func TestOthersAreAskedForOnceAndOnlyForNamesThatAreNotThere(t *testing.T) {
	asked := 0
	o := Options{Others: func(folder string) []*File {
		if asked++; folder != "w" {
			t.Errorf("asked for the files of %q", folder)
		}
		return several("w/b.yaml", starting("a"), "w/c.yaml", "tasks: {t: {run: \"fi\"}}\n")
	}}
	if got := said(several("w/a.yaml", leaf), o); len(got) > 0 || asked > 0 {
		t.Errorf("without a name: asked %d times, got %q", asked, got)
	}
	got := said(several("w/a.yaml", "after: [nobody, c]\n"+starting("b")), o)
	want := []string{`w/a.yaml unknown-workflow: there is no workflow "nobody"`, `w/a.yaml workflow-cycle: workflows start each other without end: a -> b -> a`}
	if !slices.Equal(got, want) || asked != 1 {
		t.Errorf("asked %d times, got %q", asked, got)
	}
}
