package dsl

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"
)

// unknownKey reports the i-th of the keys and values of a mapping, which is no key that it has, and gives the one
// that was probably meant.
func (p *parser) unknownKey(v val, pairs []*yaml.Node, i int, s section, likely func() []string) unknownKey {
	k, value := pairs[i], pairs[i+1]
	u := unknownKey{key: k, value: value, clear: true}
	if p.trial {
		p.faults++
		return u
	}
	name, hint := p.text(k), ""
	if word := wordOf(name); p.lacksColon(k, value) && slices.Contains(s.names(), word) && !strings.HasPrefix(name[len(word):], ":") {
		u.meant, hint = word, "write "+clip(word+": "+strings.TrimLeft(name[len(word):], "= "), 40)
	} else if text, first := p.cutByComma(v, pairs, i); text != "" && Nearest(name, s.names()) == "" {
		if !first {
			return u
		}
		hint = "a comma ends the text before it: put the whole into quotes, " + quote(text)
	} else {
		u.meant, hint, u.clear = p.suggest(name, s, likely)
	}
	p.add("unknown-key", p.pos(k), fmt.Sprintf("unknown key %s in %s", quote(name), p.where(v)), hint)
	return u
}

// cutByComma tells whether a key within braces is a part of the text before it,
// which a comma has ended: {run: echo a, b}. It gives the whole text, and
// whether the key is the first such part of it; no text where it is none.
func (p *parser) cutByComma(v val, pairs []*yaml.Node, i int) (text string, first bool) {
	const most = 32 // parts that are looked at on either side
	part := func(i int) bool { return p.lacksColon(pairs[i], pairs[i+1]) }
	if v.node.Style&yaml.FlowStyle == 0 || !part(i) {
		return "", false
	}
	from, to := i-2, i+2
	for from > max(i-2*most, 0) && part(from) {
		from -= 2
	}
	if from < 0 || !isPlain(pairs[from+1]) || isNull(pairs[from+1]) {
		return "", false
	}
	for to < min(i+2*most, len(pairs)) && part(to) {
		to += 2
	}
	text = p.text(pairs[from+1])
	for j := from + 2; j < to; j += 2 {
		text += ", " + p.text(pairs[j])
	}
	return text, from == i-2
}

// wordOf gives the word that a text begins with.
func wordOf(text string) string {
	i := 0
	for i < len(text) && isWord("_"+text[i:i+1], "") {
		i++
	}
	return text[:i]
}

// where names the mapping that a value is, with the task that it belongs to.
func (p *parser) where(v val) string {
	if p.task != "" && v.what == "" && v.name != nil {
		return v.label() + " of " + p.task
	}
	return v.label()
}

// suggest finds what an unknown key was meant to be: a word of another tool, a
// key of another mapping, or a slip of the pen.
// Where several keys are equally near, the first of likely is meant.
func (p *parser) suggest(name string, s section, likely func() []string) (meant, hint string, clear bool) {
	names := s.names()
	if before, after, ok := strings.Cut(name, ":"); ok && slices.Contains(names, before) {
		return before, fmt.Sprintf("put a blank after the colon: %s: %s", before, clip(after, 40)), true
	}
	near := Nearest(name, names)
	if near != "" && sameWord(strings.TrimSpace(name), near) {
		return near, DidYouMean(near), true
	}
	if near != "" {
		near = Nearest(name, likely())
	}
	if word, advice := inOtherTools(name, names); advice != "" {
		return word, advice, true
	}
	if meant, title := p.elsewhere(name, s); title != "" {
		return cmp.Or(meant, near), fmt.Sprintf("%q is a key of %s", name, title), true
	}
	switch {
	case near != "":
		return near, DidYouMean(near), true
	case strings.HasPrefix(name, "x-"):
		return "", "keys that begin with x- stand at the top of the file", true
	case len(names) <= 8:
		return "", "allowed are " + strings.Join(names[:len(names)-1], ", ") + " and " + names[len(names)-1], false
	}
	return "", "", false
}

// elsewhere finds the mapping that has a key which another one has not: before
// all others one that belongs into that other one, whose key is what was meant
// then.
func (p *parser) elsewhere(name string, s section) (meant, title string) {
	for _, other := range p.tables {
		if other.title() == s.title() || !slices.Contains(other.names(), name) {
			continue
		}
		if inner := strings.Trim(other.title(), `"`); slices.Contains(s.names(), inner) {
			return inner, other.title()
		}
		if title == "" {
			title = other.title()
		}
	}
	return "", title
}

// Keys gives the keys of every mapping that has a fixed set of them, by the
// name that diagnostics call the mapping: for documentation, completion and
// the schema to agree with the parser. Keys stand in the order of the language.
func Keys() map[string][]string {
	keys := map[string][]string{}
	for _, s := range tables() {
		keys[s.title()] = s.names()
	}
	return keys
}
