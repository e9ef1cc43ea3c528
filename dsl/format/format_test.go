package format

import (
	"bytes"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
	"gopkg.in/yaml.v3"
	"pgregory.net/rapid"

	"github.com/ax-scheduler/ax/dsl"
)

type tester interface {
	Helper()
	Fatalf(string, ...any)
}

// placeless makes workflows comparable: of places it leaves whether there is one.
func placeless(v reflect.Value) {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			placeless(v.Elem())
		}
	case reflect.Slice:
		for i := range v.Len() {
			placeless(v.Index(i))
		}
	case reflect.Struct:
		if p, ok := v.Addr().Interface().(*dsl.Pos); ok {
			if p.Written() {
				*p = dsl.Pos{Line: 1, Col: 1}
			}
			return
		}
		for i := range v.NumField() {
			placeless(v.Field(i))
		}
	}
}

// meaning gives what a text declares, and what is wrong with it.
func meaning(text []byte) (*dsl.Workflow, []string) {
	w, ds := dsl.Parse("w.yaml", text)
	if w != nil {
		w.Source = nil
		placeless(reflect.ValueOf(w).Elem())
	}
	var wrong []string
	for _, d := range ds {
		wrong = append(wrong, d.Rule)
	}
	slices.Sort(wrong)
	return w, wrong
}

// comments gives all comments of a text, those of scripts in blocks included,
// by another way than the formatter's.
func comments(text []byte) (all []string) {
	text = bytes.TrimPrefix(text, []byte("\ufeff"))
	src := dsl.NewSource("w.yaml", text)
	for i, c := range text {
		if c != '#' || i > 0 && !strings.ContainsRune(" \t\n\r", rune(text[i-1])) {
			continue
		}
		end := i
		for end < len(text) && text[end] != '\n' && text[end] != '\r' {
			end++
		}
		if src.Span(src.Pos(i)) == src.Pos(end) {
			all = append(all, strings.TrimRight(string(text[i:end]), " \t"))
		}
	}
	slices.Sort(all)
	return all
}

// check holds the laws of formatting against a text that can be read. It gives
// the result, and whether the text was laid out at all.
func check(t tester, text []byte) (out []byte, laidOut bool) {
	t.Helper()
	out, ds := Format("w.yaml", text)
	if len(ds) > 0 {
		t.Fatalf("refused: %v", ds)
	}
	fail := func(law string, more ...any) {
		t.Helper()
		t.Fatalf("%s\n--- before\n%s\n--- after\n%s\n--- %s", law, text, out, fmt.Sprint(more...))
	}
	wf, wrong := meaning(text)
	after, wrongAfter := meaning(out)
	switch {
	case !reflect.DeepEqual(wf, after):
		fail("the workflow is another")
	case !slices.Equal(wrong, wrongAfter):
		fail("the mistakes are others", wrong, wrongAfter)
	}
	if before, after := comments(text), comments(out); !slices.Equal(before, after) {
		fail("the comments are others", fmt.Sprintf("%q\n%q", before, after))
	}
	again, _ := Format("w.yaml", out)
	if !bytes.Equal(out, again) {
		fail("it changes when formatted again", "\n"+string(again))
	}
	_, laidOut = layOut("w.yaml", text)
	return out, laidOut
}

func TestAnyFileKeepsItsMeaningAndItsComments(t *testing.T) {
	all, done := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		text := []byte((&author{T: t}).file())
		if _, root, ds := dsl.Tree("w.yaml", text); len(ds) > 0 || root != nil && root.Kind != yaml.MappingNode {
			t.Skip("no map")
		}
		all++
		if _, ok := check(t, text); !ok {
			t.Fatalf("not laid out:\n%s", text)
		}
		done++
	})
	if done < all*9/10 {
		t.Errorf("only %d of %d files were laid out", done, all)
	}
}

// fenced finds the blocks of YAML in a page of the manual.
var fenced = regexp.MustCompile("(?ms)^```ya?ml[^\n]*\n(.*?)^```$")

// repository gives every YAML text of the project by its place.
func repository(t *testing.T) map[string][]byte {
	t.Helper()
	texts := map[string][]byte{}
	root := filepath.Join("..", "..")
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			if err == nil && path != root && strings.HasPrefix(d.Name(), ".") {
				return fs.SkipDir
			}
			return err
		}
		ext := filepath.Ext(path)
		if !slices.Contains([]string{".yaml", ".yml", ".md", ".txtar"}, ext) {
			return nil
		}
		text, err := os.ReadFile(path)
		switch ext {
		case ".md":
			for i, block := range fenced.FindAllSubmatch(text, -1) {
				texts[fmt.Sprintf("%s.%d.yaml", path, i+1)] = block[1]
			}
		case ".txtar":
			for _, f := range txtar.Parse(text).Files {
				texts[path+"/"+f.Name] = f.Data
			}
		default:
			texts[path] = text
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return texts
}

func TestAllFilesOfTheRepository(t *testing.T) {
	done := 0
	for path, text := range repository(t) {
		if _, root, ds := dsl.Tree(path, text); len(ds) == 0 && root != nil {
			t.Run(path, func(t *testing.T) {
				if _, ok := check(t, text); ok {
					done++
				}
			})
		}
	}
	if done < 60 {
		t.Errorf("only %d files were laid out", done)
	}
}

func TestFilesThatHaveNothingToLayOut(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"nothing", "", ""},
		{"blank lines", "\n\n", ""},
		{"comments", "\n# a  \r\n\n\n#b", "# a\n\n#b\n"},
		{"brackets around everything", "{name: x,  tasks: {t: {run: x}}}  \r\n", "{name: x,  tasks: {t: {run: x}}}  \r\n"},
		{"a list", "-   a\n", "-   a\n"},
		{"an odd key", "? name\n:   x\ntimeout:  5m\n", "? name\n:   x\ntimeout:  5m\n"},
		{"two byte-order marks", "\ufeff\ufeffname:  x\n", "\ufeff\ufeffname:  x\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if out, _ := check(t, []byte(c.text)); string(out) != c.want {
				t.Errorf("got %q, want %q", out, c.want)
			}
		})
	}
}

func TestSyntaxErrorsAreRefused(t *testing.T) {
	for text, rule := range map[string]string{"a: [": "syntax", "a: \xff": "syntax", "a: b\n---\nc: d\n": "several-documents", strings.Repeat(" ", dsl.MaxSize+1): "too-large"} {
		if out, ds := Format("w.yaml", []byte(text)); out != nil || len(ds) != 1 || ds[0].Rule != rule {
			t.Errorf("%.20q gives %d bytes and %v, want %s", text, len(out), ds, rule)
		}
	}
}

func FuzzFormat(f *testing.F) {
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(files) == 0 {
		f.Fatalf("no seeds: %v", err)
	}
	for _, file := range files {
		archive, err := txtar.ParseFile(file)
		if err != nil {
			f.Fatal(err)
		}
		for _, part := range archive.Files {
			f.Add(part.Data)
		}
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		if _, _, ds := dsl.Tree("w.yaml", text); len(ds) == 0 {
			check(t, text)
		}
	})
}

func TestAnyTextIsRefusedOrKeepsItsMeaning(t *testing.T) {
	pieces := []string{
		"a", "tasks", "t", "run", "cron", "every", "depends_on", "env", "x-a", "<<", "${{ a }}", "~",
		": ", ":", "- ", "-", "? ", "?", "\n", "\n", "\n  ", "\n  ", "\n    ", "\r\n", "\r", "\t", " ", "[", "]", "{", "}", ", ", "'", "\"", "\\", "|\n", ">\n", "|2-\n", "|+\n",
		"&a ", "*a", "*a : ", "!!str ", "# c", " # d\n", "---\n", "...\n", "%", "é", "漢", "😀", "\u2028", "\u0085", "\ufeff",
	}
	rapid.Check(t, func(t *rapid.T) {
		text := []byte(strings.Join(rapid.SliceOfN(rapid.SampledFrom(pieces), 0, 30).Draw(t, "text"), ""))
		if _, _, ds := dsl.Tree("w.yaml", text); len(ds) == 0 {
			check(t, text)
		} else if out, refused := Format("w.yaml", text); out != nil || len(refused) == 0 {
			t.Fatalf("not refused: %q", text)
		}
	})
}

func TestAnyChangeOfAGoodFileIsRefusedOrKeepsItsMeaning(t *testing.T) {
	good, err := os.ReadFile(filepath.Join("..", "testdata", "full.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	rapid.Check(t, func(t *rapid.T) {
		at := rapid.IntRange(0, len(good)-1).Draw(t, "at")
		gone := rapid.IntRange(0, min(30, len(good)-at)).Draw(t, "gone")
		put := rapid.SampledFrom([]string{"", " ", "\n", "\n  ", "\t", "'", ":", "[", "}", "*retry", "&retry", "# c", "\n# c\n", "|", "? ", "- "}).Draw(t, "put")
		text := []byte(string(good[:at]) + put + string(good[at+gone:]))
		if _, _, ds := dsl.Tree("w.yaml", text); len(ds) == 0 {
			check(t, text)
		}
	})
}

var update = flag.Bool("update", false, "write what comes out into testdata/layout.txtar")

// The cases are pairs: what a file is before and after. In them ⏎ stands for
// a file that does not end its last line.
func TestLayout(t *testing.T) {
	path := filepath.Join("testdata", "layout.txtar")
	archive, err := txtar.ParseFile(path)
	if err != nil {
		t.Fatal(err)
	}
	want, seen := map[string][]byte{}, &txtar.Archive{Comment: archive.Comment}
	for _, f := range archive.Files {
		want[f.Name] = f.Data
	}
	for _, f := range archive.Files {
		name, ok := strings.CutSuffix(f.Name, "/before")
		if !ok {
			continue
		}
		t.Run(name, func(t *testing.T) {
			text := f.Data
			if cut, ok := bytes.CutSuffix(text, []byte("⏎\n")); ok {
				text = cut
			}
			out, ok := check(t, text)
			if !ok {
				t.Error("not laid out")
			}
			seen.Files = append(seen.Files, f, txtar.File{Name: name + "/after", Data: out})
			if !*update && string(out) != string(want[name+"/after"]) {
				t.Errorf("got\n%s\nwant\n%s", out, want[name+"/after"])
			}
		})
	}
	if *update && !t.Failed() {
		if err := os.WriteFile(path, txtar.Format(seen), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func TestNoCommentForTheFileMovesAcrossItsFirstKey(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"one that was below it", "tasks: {t: {run: x}}\n# ax-ignore-file: no-timeout\nname: a\n", "tasks: {t: {run: x}}\n# ax-ignore-file: no-timeout\nname: a\n"},
		{"one below it, behind words", "tasks: {t: {run: x}}\n# note # ax-ignore-file: no-timeout\nname: a\n", "tasks: {t: {run: x}}\n# note # ax-ignore-file: no-timeout\nname: a\n"},
		{"one below it, where another key can be first", "tasks: {t: {run: x}}\n# ax-ignore-file: no-timeout\nname: a\ntimezone: UTC\n",
			"timezone: UTC\n# ax-ignore-file: no-timeout\nname: a\ntasks: {t: {run: x}}\n"},
		{"one above it, behind a comment for the key", "# ax-ignore: no-timeout\n# ax-ignore-file: no-timezone\ntasks: {t: {run: x}}\nname: a\n",
			"# ax-ignore: no-timeout\n# ax-ignore-file: no-timezone\ntasks: {t: {run: x}}\nname: a\n"},
		{"an ordinary one goes with its key", "tasks: {t: {run: x}}\n# what it is\nname: a\n", "# what it is\nname: a\ntasks: {t: {run: x}}\n"},
	} {
		out, ok := check(t, []byte(c.text))
		if !ok || tight(out) != c.want {
			t.Errorf("%s: got\n%s", c.name, out)
		}
	}
}

// tight gives a text without its blank lines.
func tight(text []byte) string { return strings.ReplaceAll(string(text), "\n\n", "\n") }
