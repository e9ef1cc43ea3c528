package dsl

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"gopkg.in/yaml.v3"
)

// val is the value of a key, with what messages about it need.
type val struct {
	p    *parser
	what string     // what the key names, if it is no word of the language: "task "
	name *yaml.Node // the node of the key; nil for the root
	at   *yaml.Node // the node that stands there, perhaps an alias
	node *yaml.Node // what it stands for; nil if it cannot be read
	item bool       // it is one of a list
	each bool       // a mistake in an entry of it is that entry's own; see Workflow.Unread
}

// value prepares the value of a key for reading.
func (p *parser) value(name, at *yaml.Node) val {
	v := val{p: p, name: name, at: at, node: at}
	if at.Kind == yaml.AliasNode {
		v.node = at.Alias
	}
	if !p.spend(1, at) || v.node.Style&yaml.TaggedStyle != 0 && !p.knownTag(v.node) {
		v.node = nil
	}
	return v
}

// knownTag refuses explicit tags, but for those that say what is there anyway.
func (p *parser) knownTag(n *yaml.Node) bool {
	switch {
	case n.Kind == yaml.ScalarNode && n.Tag == "!!str", n.Kind == yaml.MappingNode && n.Tag == "!!map",
		n.Kind == yaml.SequenceNode && n.Tag == "!!seq":
		return true
	}
	p.add("wrong-type", begins(n), fmt.Sprintf("tag %s means nothing here", quote(n.Tag)),
		"remove it: the key decides what its value is")
	return false
}

// itemAt prepares an item of a list for reading.
func (v val) itemAt(at *yaml.Node) val {
	i := v.p.value(v.name, at)
	i.what, i.item = v.what, true
	return i
}

// place is where to point at for what a mapping lacks: its key, or itself.
func (v val) place() Pos {
	if v.name == nil || v.item {
		return v.pos()
	}
	return v.p.pos(v.name)
}

// label names the value in a message.
func (v val) label() string {
	if v.name == nil {
		return v.what
	}
	return v.what + quote(v.p.text(v.name))
}

func (v val) pos() Pos { return v.p.pos(v.node) }

// bad reports a value that has the right type, but cannot be.
func (v val) bad(message, hint string) {
	v.p.add("bad-value", v.pos(), message, cmp.Or(v.straight(), hint))
}

func (v val) straight() string {
	if v.node.Kind != yaml.ScalarNode {
		return ""
	}
	return straight(v.node.Value)
}

// wrongType reports a value of another type. Where it came by an alias, the
// place of use is at fault; several uses of one value are one mistake still.
func (v val) wrongType(expected string) { v.wrongTypeHint(expected, "") }

func (v val) wrongTypeHint(expected, hint string) {
	if v.p.trial {
		v.p.faults++
		return
	}
	message := fmt.Sprintf("expected %s for %s, got %s", expected, v.label(), v.p.describe(v.node))
	hint = cmp.Or(v.straight(), hint)
	at := v.p.pos(v.at)
	if isNull(v.node) {
		message = v.label() + " has no value"
		if hint == "" {
			hint = "expected " + expected
		}
		if v.name != nil && v.node.Value == "" {
			at = v.p.pos(v.name)
		}
	}
	v.p.addOnce(mistake{rule: "wrong-type", at: v.pos()}, at, message, hint)
}

// describe says what a node is.
func (p *parser) describe(n *yaml.Node) string {
	switch {
	case n.Kind == yaml.MappingNode:
		return "a map"
	case n.Kind == yaml.SequenceNode:
		return "a list"
	case isNull(n):
		return "nothing"
	}
	return quote(p.text(n))
}

// isNull tells whether a value was left out, or written as null or ~.
func isNull(n *yaml.Node) bool { return n.Kind == yaml.ScalarNode && n.Tag == "!!null" }

// isPlain tells whether a scalar is written without quotes, tag or block.
func isPlain(n *yaml.Node) bool { return n.Kind == yaml.ScalarNode && n.Style == 0 }

// scalar gives the text of a scalar exactly as written. It is false, and the
// fault reported, for a list or a map, and where nothing is written at all.
func (v val) scalar(expected string) (Value[string], bool) {
	switch {
	case v.node == nil:
		return Value[string]{}, false
	case !v.isScalar():
		v.wrongType(expected)
		return Value[string]{}, false
	}
	return Value[string]{v.p.text(v.node), v.pos()}, true
}

// isScalar tells whether there is a scalar and something in it.
func (v val) isScalar() bool {
	return v.node != nil && v.node.Kind == yaml.ScalarNode && !isNull(v.node)
}

// quoteHint says how to write the empty text, or an expression that YAML takes
// for a map.
func (v val) quoteHint() string {
	switch n := v.node; {
	case isNull(n) && n.Value != "":
		return fmt.Sprintf("leave it out, or write %q if it is text", n.Value)
	case n.Kind == yaml.ScalarNode:
		return `write "" for an empty text`
	case n.Kind == yaml.MappingNode && n.Style&yaml.FlowStyle != 0:
		return "put it into quotes if it is text"
	}
	return ""
}

// str reads any text.
func (v val) str() Value[string] { return v.strAs("a text") }

func (v val) strAs(expected string) Value[string] {
	if v.node != nil && !v.isScalar() {
		v.wrongTypeHint(expected, v.quoteHint())
		return Value[string]{}
	}
	s, ok := v.scalar(expected)
	if !ok {
		return Value[string]{}
	}
	if i := strings.IndexByte(s.V, 0); i >= 0 {
		v.p.inScalar("bad-value", s.Pos, i, 1, v.label()+" holds a NUL character", "no program can be given one")
		return Value[string]{}
	}
	if strings.Contains(s.V, "${{") {
		if _, at := Expressions(s.V); at >= 0 && v.p.cutByComment(s) {
			return Value[string]{}
		} else if at >= 0 {
			v.p.inScalar("bad-expression", s.Pos, at, 3, `"${{" has no "}}"`, "close the expression")
		}
	}
	return s
}

// cutByComment reports an expression whose end YAML took for a comment.
func (p *parser) cutByComment(s Value[string]) bool {
	from, to, ok := p.src.CommentBehind(s.Pos)
	if !ok {
		return false
	}
	if _, at := Expressions(s.V + " " + string(p.src.Text[from:to])); at >= 0 {
		return false
	}
	if d := p.src.CommentTaken("bad-expression", from, to); p.isNew(mistake{rule: d.Rule, at: d.Pos}) {
		p.ds = append(p.ds, d)
	}
	return true
}

// inScalar reports an error at an offset of a scalar's value, once.
func (p *parser) inScalar(rule string, scalar Pos, offset, width int, message, hint string) {
	d := p.src.DiagnosticInScalar(rule, Error, scalar, offset, width, message, hint)
	if p.isNew(mistake{rule: rule, at: d.Pos}) {
		p.ds = append(p.ds, d)
	}
}

// filled reads a text that is not blank.
func (v val) filled() Value[string] {
	s := v.str()
	if s.Set() && strings.TrimSpace(s.V) == "" {
		v.bad(v.label()+" is empty", "")
		return Value[string]{}
	}
	return s
}

// items gives the items of a list; false, and the fault reported, if there is
// no list.
func (v val) items(expected string) ([]*yaml.Node, bool) {
	if v.node == nil {
		return nil, false
	}
	if v.node.Kind != yaml.SequenceNode {
		hint := ""
		if v.node.Kind == yaml.ScalarNode && !isNull(v.node) {
			_, hint = AsList(v.p.text(v.node))
		}
		v.wrongTypeHint(expected, hint)
		return nil, false
	}
	return v.node.Content, true
}

// AsList gives the names in a text that was perhaps meant to be a list, such as
// "a, b", "a b" or "[a, b]", and the hint that says how to write it.
func AsList(text string) (names []string, hint string) {
	names = strings.FieldsFunc(strings.Trim(text, "[] "), func(r rune) bool { return r == ',' || r == ' ' })
	return names, "write [" + clip(strings.Join(names, ", "), 40) + "]"
}

// list reads a list of values of one kind; those that could not be read are
// left out.
func list[T any](v val, expected string, read func(val) Value[T]) (all []Value[T]) {
	items, _ := v.items(expected)
	for _, n := range items {
		if x := read(v.itemAt(n)); x.Set() {
			all = append(all, x)
		}
	}
	return all
}

// oneOrList reads a scalar or a list of them.
func oneOrList(v val, expected string, read func(val) Value[string]) []Value[string] {
	if v.node == nil || v.node.Kind == yaml.SequenceNode {
		return list(v, expected, read)
	}
	if !v.isScalar() {
		v.wrongType(expected)
		return nil
	}
	if x := read(v); x.Set() {
		return []Value[string]{x}
	}
	return nil
}

// boolean reads true or false, in the forms of YAML 1.2. Within quotes they
// mean the same, for no other reading is possible; yes, on and 1 do not.
func (v val) boolean() Value[bool] {
	s, ok := v.scalar("true or false")
	if !ok {
		return Value[bool]{}
	}
	switch s.V {
	case "true", "True", "TRUE":
		return Value[bool]{true, s.Pos}
	case "false", "False", "FALSE":
		return Value[bool]{false, s.Pos}
	}
	hint := ""
	switch strings.ToLower(s.V) {
	case "on", "yes", "y", "1", "true":
		hint = "write true"
	case "off", "no", "n", "0", "false":
		hint = "write false"
	}
	v.wrongTypeHint("true or false", hint)
	return Value[bool]{}
}

// integer reads a decimal integer of a range. Leading zeros mean nothing, and
// quotes neither.
func (v val) integer(low, high int) Value[int] {
	s, ok := v.scalar("an integer")
	if !ok {
		return Value[int]{}
	}
	if !isInteger(s.V) {
		v.wrongTypeHint("an integer", integerHint(s.V))
		return Value[int]{}
	}
	n, err := strconv.Atoi(s.V)
	if err == nil && n >= low && n <= high {
		return Value[int]{n, s.Pos}
	}
	allowed := fmt.Sprintf("from %d to %d", low, high)
	if high == maxInt && n < low {
		allowed = fmt.Sprintf("at least %d", low)
	}
	v.bad(fmt.Sprintf("%s is %s, but must be %s", v.label(), clip(s.V, 40), allowed), "")
	return Value[int]{}
}

// maxInt is the largest integer of the language: it fits everywhere.
const maxInt = 1<<31 - 1

func isInteger(text string) bool {
	digits := strings.TrimPrefix(text, "-")
	return digits != "" && strings.Trim(digits, "0123456789") == ""
}

func integerHint(text string) string {
	if strings.ContainsAny(text, "0123456789") {
		return "write it in decimal digits only"
	}
	return ""
}

// choice is a word of a key that allows only some, and what it means.
type choice[T any] struct {
	word string
	v    T
}

// oneOf reads one of some words.
func oneOf[T any](v val, choices []choice[T]) Value[T] {
	words := make([]string, len(choices))
	for i, c := range choices {
		if v.node != nil && v.node.Kind == yaml.ScalarNode && v.node.Value == c.word {
			return Value[T]{c.v, v.pos()}
		}
		words[i] = c.word
	}
	s, ok := v.scalar(either(words))
	if !ok {
		return Value[T]{}
	}
	v.bad(fmt.Sprintf("%s is %s, but must be %s", v.label(), quote(s.V), either(words)), DidYouMean(nearWord(s.V, words)))
	return Value[T]{}
}

// nearWord finds the word that was meant among those that are allowed.
func nearWord(word string, allowed []string) string {
	if near := Nearest(word, allowed); near != "" {
		return near
	}
	for _, same := range foreignWords[strings.ToLower(word)] {
		if slices.Contains(allowed, same) {
			return same
		}
	}
	return ""
}

// words makes choices that mean themselves.
func words(all ...string) []choice[string] {
	choices := make([]choice[string], len(all))
	for i, w := range all {
		choices[i] = choice[string]{w, w}
	}
	return choices
}

// either lists words: a, b or c.
func either(words []string) string {
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	return strings.Join(words[:len(words)-1], ", ") + " or " + words[len(words)-1]
}

// DidYouMean is the hint that suggests a word; empty for no word.
func DidYouMean(word string) string {
	if word == "" {
		return ""
	}
	return "did you mean " + strconv.Quote(word) + "?"
}

// Meant says which of the names that there are a wrong one may stand for: the one
// that is near, else the first of them all.
func Meant(name string, known []string) string {
	const most = 10
	near := Nearest(name, known)
	switch {
	case near != "":
		return DidYouMean(near)
	case len(known) == 0:
		return "there are none"
	case len(known) > most:
		return "there are " + strings.Join(known[:most], ", ") + " and " + strconv.Itoa(len(known)-most) + " more"
	}
	return "there are " + strings.Join(known, ", ")
}

// eitherQuoted lists keys: "a", "b" or "c".
func eitherQuoted(names []string) string {
	quoted := make([]string, len(names))
	for i, n := range names {
		quoted[i] = strconv.Quote(n)
	}
	return either(quoted)
}
