package docs_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// page is one file of the manual.
type page struct {
	path   string
	lines  []string
	blocks []block
}

// block is one fenced block of a page.
type block struct {
	page    *page
	line    int    // of the opening fence, from 1
	info    string // what stands behind the fence
	heading string // of the section that it is in
	lead    string // the line of text above it, if nothing else stands between
	text    string
	behind  *block // the block that follows with nothing in between
}

func (b *block) place() string { return fmt.Sprintf("%s:%d", b.page.path, b.line) }

// manual reads all pages.
func manual(t testing.TB) []*page {
	t.Helper()
	paths, err := filepath.Glob("*.md")
	if err != nil {
		t.Fatal(err)
	}
	more, err := filepath.Glob("*/*.md")
	if err != nil {
		t.Fatal(err)
	}
	var pages []*page
	for _, path := range slices.Concat([]string{"../README.md"}, paths, more) {
		pages = append(pages, readPage(t, path))
	}
	return pages
}

func readPage(t testing.TB, path string) *page {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	p := &page{path: filepath.ToSlash(path), lines: strings.Split(string(text), "\n")}
	heading, lead, open := "", "", -1
	for i, line := range p.lines {
		switch fence, isFence := strings.CutPrefix(line, "```"); {
		case isFence && open < 0:
			open = i
			p.blocks = append(p.blocks, block{page: p, line: i + 1, info: fence, heading: heading, lead: lead})
		case isFence:
			p.blocks[len(p.blocks)-1].text = strings.Join(p.lines[open+1:i], "\n") + "\n"
			lead, open = "", -1
		case open >= 0 || strings.TrimSpace(line) == "":
		case strings.HasPrefix(line, "#"):
			heading, lead = strings.TrimSpace(strings.TrimLeft(line, "#")), ""
		default:
			lead = line
		}
	}
	if open >= 0 {
		t.Fatalf("%s:%d: the block has no end", path, open+1)
	}
	for i := 1; i < len(p.blocks); i++ {
		if b := &p.blocks[i]; b.lead == "" && b.heading == p.blocks[i-1].heading {
			p.blocks[i-1].behind = b
		}
	}
	return p
}

// isWorkflow tells whether a block is a whole workflow.
func (b *block) isWorkflow() bool {
	return b.info == "yaml" && (strings.HasPrefix(b.text, "tasks:") || strings.Contains(b.text, "\ntasks:"))
}

var namedFile = regexp.MustCompile("`?([A-Za-z0-9_./-]+\\.[a-z]+)`?:$")

// file gives the name of the file that a block stands for, if the text above it
// says one.
func (b *block) file() string {
	if m := namedFile.FindStringSubmatch(b.lead); m != nil {
		return m[1]
	}
	return ""
}

// beside gives the blocks before this one, in its section, that are files.
func (b *block) beside() map[string]string {
	files := map[string]string{}
	for i := range b.page.blocks {
		o := &b.page.blocks[i]
		if o.heading == b.heading && o.line < b.line && o.file() != "" {
			files[o.file()] = o.text
		}
	}
	return files
}

// triggered finds what a workflow follows in an example.
var triggered = regexp.MustCompile(`^# \S+\.yaml, after "ax trigger (\S+)"$`)

// command is what the first line of a block asks for.
type command struct {
	env    []string
	name   string // run, next, lint or trigger
	file   string // of trigger the workflow's name
	params map[string]string
	flags  map[string]string // the others, with their values
}

// command gives what the first line of a block asks for; nil for nothing.
func (b *block) command(t testing.TB) *command {
	t.Helper()
	first, _, _ := strings.Cut(b.text, "\n")
	words := strings.Fields(strings.TrimPrefix(first, "#"))
	at := slices.Index(words, "ax")
	switch {
	case b.info == "yaml" && strings.HasSuffix(first, ".yaml, run by the program of embedding.md"):
		return &command{name: "run", file: strings.TrimSuffix(words[0], ",")}
	case b.info == "yaml" && triggered.MatchString(first):
		return &command{name: "trigger", file: triggered.FindStringSubmatch(first)[1]}
	case b.info != "yaml", !strings.HasPrefix(first, "# "), at < 0, at+2 >= len(words), at > 0 && !strings.Contains(words[at-1], "="):
		return nil
	case !slices.Contains([]string{"run", "next", "lint"}, words[at+1]):
		return nil
	}
	c := &command{env: words[:at], name: words[at+1], file: words[at+2], params: map[string]string{}, flags: map[string]string{}}
	for rest := words[at+3:]; len(rest) > 0; rest = rest[2:] {
		if len(rest) == 1 {
			t.Fatalf("%s: flag %s has no value", b.place(), rest[0])
		}
		if rest[0] == "-p" {
			name, value, _ := strings.Cut(rest[1], "=")
			c.params[name] = value
			continue
		}
		c.flags[rest[0]] = rest[1]
	}
	return c
}

// only refuses flags that the tests know nothing of.
func (c *command) only(t testing.TB, b *block, flags ...string) {
	t.Helper()
	for flag := range c.flags {
		if !slices.Contains(flags, flag) {
			t.Fatalf("%s: ax %s: the tests know no %s", b.place(), c.name, flag)
		}
	}
}

func TestABlockIsReadWithWhatStandsAroundIt(t *testing.T) {
	path := filepath.Join(t.TempDir(), "p.md")
	text := "# One\n\nThis is `a.txt`:\n\n```text\nx\n```\n\n```yaml\n# A=1 ax run f.yaml -p n=v --only a\ntasks: {}\n```\n\n```text\ny\n```\n\n## Two\n\n```yaml\n# ax is a word\ntasks: {}\n```\n"
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	p := readPage(t, path)
	if len(p.blocks) != 4 {
		t.Fatalf("%d blocks", len(p.blocks))
	}
	b := &p.blocks[1]
	c := b.command(t)
	if c == nil || c.name != "run" || c.file != "f.yaml" || c.env[0] != "A=1" || c.params["n"] != "v" || c.flags["--only"] != "a" {
		t.Errorf("the command is %+v", c)
	}
	if b.beside()["a.txt"] != "x\n" || b.behind == nil || b.behind.text != "y\n" || !b.isWorkflow() || b.heading != "One" {
		t.Errorf("the block is %+v", b)
	}
	if last := &p.blocks[3]; last.command(t) != nil || last.behind != nil || len(last.beside()) > 0 || p.blocks[2].behind != nil {
		t.Errorf("the last block is %+v", last)
	}
}
