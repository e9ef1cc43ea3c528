package lint

import (
	"bytes"
	"fmt"
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
// for all of the key's value. In a script a comment of the script does as well.
type ignore struct {
	rule string
	at   dsl.Pos // of the rule's name in the comment
	line int32   // 0 for the whole file
	used bool
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
	byLine := map[int32][]*ignore{}
	for i := range ignores {
		if n := &ignores[i]; CanIgnore(n.rule) {
			byLine[n.line] = append(byLine[n.line], n)
		}
	}
	for _, d := range found {
		hit := false
		for _, line := range []int32{0, d.Pos.Line, d.head} {
			for _, n := range byLine[line] {
				if n.rule == d.Rule {
					n.used, hit = true, true
				}
			}
		}
		if !hit {
			ds = append(ds, d.Diagnostic)
		}
	}
	return append(append(ds, bad...), unused(f, o, ignores)...)
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
		case n.used:
		case !known:
			message, hint = fmt.Sprintf("there is no rule %q to ignore", n.rule), "ax lint --explain lists the rules"
			if near := dsl.Nearest(n.rule, Names()); near != "" {
				hint = fmt.Sprintf("did you mean %q?", near)
			}
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
	case "dst-gap":
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
	for _, line := range bytes.Split(src.Text, []byte("\n")) {
		r.line(line)
		r.at += len(line) + 1
		r.number++
	}
	return r.list, r.bad
}

// ignoreReader goes through a file line by line.
type ignoreReader struct {
	src     *dsl.Source
	at      int   // where the present line begins
	number  int32 // of the present line, from 0
	head    bool  // nothing but comments so far
	waiting []int // ignores that stand alone and wait for the line that they mean

	list []ignore
	bad  dsl.Diagnostics
}

func (r *ignoreReader) line(line []byte) {
	text := strings.TrimPrefix(strings.TrimRight(string(line), "\r"), "\ufeff")
	content := strings.TrimLeft(text, " \t")
	alone := content == "" || content[0] == '#' || r.head && (content[0] == '%' || content == "---")
	if !alone {
		for _, i := range r.waiting {
			r.list[i].line = r.number + 1
		}
		r.waiting, r.head = nil, false
	}
	from := len(string(line)) - len(strings.TrimPrefix(string(line), "\ufeff"))
	i := strings.Index(text, ignoreWord)
	if i < 0 {
		return
	}
	before := strings.TrimRight(text[:i], " \t")
	hash := len(before) - 1
	if !strings.HasSuffix(before, "#") || hash > 0 && !strings.ContainsAny(before[hash-1:hash], " \t") || !r.isComment(from+hash, from+len(text)) {
		return
	}
	r.comment(from+i, text[i+len(ignoreWord):], alone)
}

// isComment tells whether a # begins a comment, by the offsets of it and of the
// end of its line: a comment of YAML, or of a script in a block of text. In
// quotes it does not.
func (r *ignoreReader) isComment(hash, end int) bool {
	at, to := r.src.Pos(r.at+hash), r.src.Pos(r.at+end)
	if at.Col == 1 {
		return r.src.Span(at) == to
	}
	switch before := (dsl.Pos{Line: at.Line, Col: at.Col - 1}); r.src.Span(before) {
	case at: // the blank before it belongs to nothing
		return true
	case to: // of a block, or of quotes that end with the line
		last := r.src.Text[r.at+end-1]
		return last != '"' && last != '\''
	}
	return false
}

// comment reads what stands behind the word, which begins at an offset of the
// line.
func (r *ignoreReader) comment(offset int, rest string, alone bool) {
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
		n := ignore{rule: rule, at: r.src.Pos(at + blanks), line: r.number + 1}
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
