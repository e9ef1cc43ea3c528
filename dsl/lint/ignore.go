package lint

import (
	"bytes"
	"cmp"
	"fmt"
	"iter"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/ax-scheduler/ax/dsl"
)

// ignore is one rule that a comment suppresses:
//
//	# ax-ignore: RULE REASON        in this line, or in the next if it stands alone
//	# ax-ignore-file: RULE REASON   in the whole file, above its first key
//
// Several rules are separated by commas. A comment at the line of a key holds
// for all of the key's value, and so for a whole task at the line of its id. In
// a script a comment of the script does as well, for one line of it, or at the end
// of a command over several lines for all of them.
type ignore struct {
	rule     string
	at       dsl.Pos // of the rule's name in the comment
	from     int32   // where the command begins at whose end it stands, 0 for no such command
	line     int32   // 0 for the whole file, -1 for none
	inScript bool
	effect   *effect // shared by those that say the same
}

// effect is what an ignore suppresses, and whether there was something.
type effect struct{ used bool }

// reach says which findings an ignore suppresses.
type reach struct {
	rule     string
	line     int32
	inScript bool
}

const ignoreWord = "ax-ignore"

// suppress leaves out what comments suppress, and reports comments that
// suppress nothing.
func suppress(f *File, o *Options, found []finding) dsl.Diagnostics {
	ds := make(dsl.Diagnostics, 0, len(found))
	if !bytes.Contains(f.Source.Text, []byte(ignoreWord)) {
		for _, d := range found {
			ds = append(ds, d.Diagnostic)
		}
		return ds
	}
	ignores, bad := ignoresOf(f.Source)
	effects := effectsOf(ignores)
	parents := parentLines(f.Source)
	for _, d := range found {
		hit := false
		use := func(line int32, above bool) {
			for _, inScript := range []bool{false, true} {
				if e := effects[reach{d.Rule, line, inScript}]; e != nil && !(above && inScript) {
					e.used, hit = true, true
				}
			}
		}
		use(0, false)
		use(d.Pos.Line, false)
		for _, line := range []int32{d.Pos.Line, d.head} {
			for ; line > 0 && int(line) < len(parents); line = parents[line] {
				use(line, true)
			}
		}
		if !hit {
			ds = append(ds, d.Diagnostic)
		}
	}
	return append(append(ds, bad...), unused(f, o, ignores)...)
}

// effectsOf gives the ignores their effects, one to those that say the same.
func effectsOf(ignores []ignore) map[reach]*effect {
	effects := map[reach]*effect{}
	for i := range ignores {
		n := &ignores[i]
		r := reach{n.rule, n.line, n.inScript}
		if n.effect = effects[r]; n.effect == nil {
			n.effect = &effect{}
		}
		if !CanIgnore(n.rule) {
			continue
		}
		effects[r] = n.effect
		for ; n.from > 0 && r.line >= n.from; r.line-- {
			effects[r] = n.effect
		}
	}
	return effects
}

// parentLines gives for each line, from 1, the line of the key that it is in the
// value of, 0 for none: the nearest one above that is indented less. The items
// of a list may be indented as much as its key is.
func parentLines(src *dsl.Source) []int32 {
	parents := []int32{0}
	type level struct {
		depth int
		line  int32
	}
	open := []level{{-1, 0}}
	for line := range linesOf(src.Text) {
		number := int32(len(parents))
		content := strings.TrimLeft(strings.TrimPrefix(line, "\ufeff"), " \t")
		if content == "" || content[0] == '#' {
			parents = append(parents, open[len(open)-1].line)
			continue
		}
		depth := 2 * (len(line) - len(content))
		if content == "-" || strings.HasPrefix(content, "- ") {
			depth++
		}
		for open[len(open)-1].depth >= depth {
			open = open[:len(open)-1]
		}
		parents = append(parents, open[len(open)-1].line)
		open = append(open, level{depth, number})
	}
	return parents
}

// linesOf gives the lines of a text without their ends, which are LF, CRLF or a
// lone CR.
func linesOf(text []byte) iter.Seq[string] {
	return func(yield func(string) bool) {
		for more := true; more; {
			end := bytes.IndexAny(text, "\r\n")
			next := end + 1
			if more = end >= 0; !more {
				end, next = len(text), len(text)
			} else if bytes.HasPrefix(text[end:], []byte("\r\n")) {
				next++
			}
			if !yield(string(text[:end])) {
				return
			}
			text = text[next:]
		}
	}
}

// unused reports what suppresses nothing. Where a file has errors that kept
// rules from being tried, or an option that a rule needs is missing, that is
// not known.
func unused(f *File, o *Options, ignores []ignore) (ds dsl.Diagnostics) {
	tried := f.Workflow != nil && f.Plan != nil && !parseErrors(f.Diagnostics)
	for _, n := range ignores {
		_, known := ruleNamed(n.rule)
		message, hint := "", ""
		switch {
		case n.effect.used:
		case !known:
			message = fmt.Sprintf("there is no rule %q to ignore", n.rule)
			hint = cmp.Or(dsl.DidYouMean(dsl.Nearest(n.rule, Names())), "ax lint --explain lists the rules")
		case !CanIgnore(n.rule):
			message, hint = fmt.Sprintf("rule %q cannot be ignored", n.rule), "a workflow that breaks it is not loaded"
		case !tried || !o.tries(f, n.rule):
		default:
			message, hint = fmt.Sprintf("nothing here breaks the rule %q any more", n.rule), "remove the comment"
		}
		if message != "" {
			ds = append(ds, inComment(f.Source, n.at, utf8.RuneCountInString(n.rule), message, hint))
		}
	}
	return ds
}

// tries tells whether a rule has all that it looks at.
func (o *Options) tries(f *File, rule string) bool {
	switch rule {
	case "missing-file", "unused-param":
		return o.Root != nil && f.Dir != ""
	case "dst-gap", "never-fires":
		return !o.Now.IsZero()
	case "workflow-cycle", "unknown-workflow":
		return o.Others != nil
	}
	return true
}

func inComment(src *dsl.Source, at dsl.Pos, width int, message, hint string) dsl.Diagnostic {
	return dsl.Diagnostic{File: src.File, Pos: at, End: dsl.Pos{Line: at.Line, Col: at.Col + int32(max(width, 1))},
		Severity: severityOf("unused-ignore"), Rule: "unused-ignore", Message: message, Hint: hint}
}

// ignoresOf finds the comments, and what is wrong with their form.
func ignoresOf(src *dsl.Source) (list []ignore, bad dsl.Diagnostics) {
	r := &ignoreReader{src: src, head: true}
	for line := range linesOf(src.Text) {
		r.number++
		r.at = src.Offset(dsl.Pos{Line: r.number, Col: 1})
		r.line(strings.TrimPrefix(line, "\ufeff"))
	}
	for _, i := range r.waiting {
		r.list[i].line = -1
	}
	return r.list, r.bad
}

// ignoreReader goes through a file line by line.
type ignoreReader struct {
	src     *dsl.Source
	at      int   // where the present line begins, behind a byte-order mark
	number  int32 // of the present line
	head    bool  // nothing but comments so far
	begun   int32 // where the command of the present line begins
	goesOn  bool  // the line above ends with a backslash
	waiting []int // ignores that stand alone and wait for the line that they mean

	list []ignore
	bad  dsl.Diagnostics
}

func (r *ignoreReader) line(text string) {
	if !r.goesOn {
		r.begun = r.number
	}
	comment := strings.HasPrefix(strings.TrimLeft(text, " \t"), "#") || strings.Contains(text, " #")
	r.goesOn = escaped(text) && !comment
	content := strings.TrimLeft(text, " \t")
	alone := content == "" || content[0] == '#' || r.head && (content[0] == '%' || content == "---")
	if !alone {
		r.settle(len(text)-len(content), content, len(text))
	}
	i := strings.Index(text, ignoreWord)
	if i < 0 {
		return
	}
	before := strings.TrimRight(text[:i], " \t")
	hash := len(before) - 1
	if !strings.HasSuffix(before, "#") || hash > 0 && !strings.ContainsAny(before[hash-1:hash], " \t") {
		return
	}
	if r.isComment(hash, len(text)) {
		inScript := hash > 0 && !r.ofYAML(hash) && r.inBlock(len(text)-len(content), content, len(text))
		r.comment(i, text[i+len(ignoreWord):], alone, inScript)
	}
}

// settle gives the ignores that wait the present line, which has something on
// it. Those in a script wait for no line outside of it.
func (r *ignoreReader) settle(from int, content string, to int) {
	inBlock := len(r.waiting) > 0 && r.inBlock(from, content, to)
	for _, i := range r.waiting {
		r.list[i].line = r.number
		if r.list[i].inScript && !inBlock {
			r.list[i].line = -1
		}
	}
	r.waiting, r.head = nil, false
}

// inBlock tells whether a line that has something on it belongs to a block of
// text: there, a place spans the rest of its line.
func (r *ignoreReader) inBlock(from int, content string, to int) bool {
	return content != "---" && content != "..." && r.src.Span(r.src.Pos(r.at+from)) == r.src.Pos(r.at+to)
}

// isComment tells whether a # begins a comment, by the offsets of it and of the
// end of its line: a comment of YAML, or of a script in a block of text. In
// quotes it does not.
func (r *ignoreReader) isComment(hash, end int) bool {
	if r.ofYAML(hash) {
		return true
	}
	at, to := r.src.Pos(r.at+hash), r.src.Pos(r.at+end)
	if at.Col == 1 {
		return r.src.Span(at) == to
	}
	last := r.src.Text[r.at+end-1] // of a block, or of quotes that end with the line
	return r.src.Span(dsl.Pos{Line: at.Line, Col: at.Col - 1}) == to && last != '"' && last != '\''
}

// ofYAML tells whether a # that is behind a blank is outside of all text: then
// the blank belongs to nothing.
func (r *ignoreReader) ofYAML(hash int) bool {
	at := r.src.Pos(r.at + hash)
	return at.Col > 1 && r.src.Span(dsl.Pos{Line: at.Line, Col: at.Col - 1}) == at
}

// comment reads what stands behind the word, which begins at an offset of the
// line.
func (r *ignoreReader) comment(offset int, rest string, alone, inScript bool) {
	at := r.at + offset
	args, ok := strings.CutPrefix(rest, ":")
	inFile := false
	if !ok {
		args, inFile = strings.CutPrefix(rest, "-file:")
	}
	switch {
	case !ok && !inFile:
		r.say(at, len(ignoreWord), "this comment suppresses nothing", `write "# ax-ignore: RULE REASON" or "# ax-ignore-file: RULE REASON"`)
		return
	case inFile && !r.head:
		r.say(at, len(ignoreWord)+len("-file"), "this comment suppresses nothing: it stands below the first key", "put it above")
		return
	case strings.TrimSpace(args) == "":
		r.say(at, len(ignoreWord), "this comment names no rule", `write "# ax-ignore: RULE REASON"`)
		return
	}
	at += len(ignoreWord) + len(rest) - len(args)
	for more := true; more; {
		blanks := len(args) - len(strings.TrimLeft(args, " \t"))
		word := args[blanks:]
		if n := strings.IndexAny(word, ", \t"); n >= 0 {
			word = word[:n]
		}
		if word == "" {
			return
		}
		rule, last := strings.CutSuffix(word, ":")
		n := ignore{rule: rule, at: r.src.Pos(at + blanks), line: r.number, inScript: inScript}
		if inScript && !alone {
			n.from = r.begun
		}
		if inFile {
			n.line = 0
		} else if alone {
			r.waiting = append(r.waiting, len(r.list))
		}
		r.list = append(r.list, n)
		at += blanks + len(word)
		args, more = strings.CutPrefix(args[blanks+len(word):], ",")
		at, more = at+1, more && !last
	}
}

func (r *ignoreReader) say(at, width int, message, hint string) {
	r.bad = append(r.bad, inComment(r.src, r.src.Pos(at), width, message, hint))
}

// CanIgnore tells whether a comment may suppress a rule: all but the errors
// that keep a workflow from being loaded or run.
func CanIgnore(rule string) bool {
	r, ok := ruleNamed(rule)
	return ok && (r.Severity != dsl.Error || slices.Contains(judgements, rule)) && rule != "unused-ignore"
}

// judgements are errors about workflows that could be loaded all the same.
var judgements = []string{"never-runs", "never-fires", "shell-syntax", "unknown-workflow", "workflow-cycle"}
