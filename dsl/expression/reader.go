package expression

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/ax-scheduler/ax/dsl"
)

// Reader reads scripts one after another and keeps its buffers. It remembers the
// last one: what is compiled right after it was read is not read again. The zero
// value is of use, by one goroutine at a time.
type Reader struct {
	parsers map[syntax.LangVariant]*syntax.Parser

	text   string // that was read last
	list   []dsl.Expression
	lang   syntax.LangVariant
	tree   Tree
	shared bool // the tree is as good for a survey

	other Tree          // of what is read for a survey
	stack []syntax.Node // of a surveyor

	of    variety // that known is of
	known map[string]*Program
}

// variety is what an expression may mean different things in, but for what is
// some task's own.
type variety struct {
	*declared
	early, try bool
}

// compileAt is the function of this name, but compiles once what means the same
// in every task of a workflow.
func (r *Reader) compileAt(e dsl.Expression, scope *Scope) (*Program, Errors) {
	if of := (variety{scope.declared, scope.early, scope.try}); r.of != of {
		r.of, r.known = of, map[string]*Program{}
	}
	if p := r.known[e.Text]; p != nil && scope.offersAll(p.refs) {
		return p.moved(e.Offset), nil
	}
	p, faults := compileAt(e, scope)
	if len(faults) == 0 && !slices.ContainsFunc(p.refs, ofTask) {
		r.known[e.Text] = p.moved(-e.Offset)
	}
	return p, faults
}

// moved gives the program of the same expression elsewhere in a text.
func (p *Program) moved(by int) *Program {
	q := *p
	q.by += by
	return &q
}

// ofTask tells whether a name means something else from task to task.
func ofTask(r Reference) bool { return slices.Contains(roots[4:], r.Root()) }

func (s *Scope) offersAll(refs []Reference) bool {
	return !slices.ContainsFunc(refs, func(r Reference) bool { return !s.offers(r.Root()) })
}

// Parser gives the parser of a language; it keeps comments.
func (r *Reader) Parser(lang syntax.LangVariant) *syntax.Parser {
	p := r.parsers[lang]
	if p == nil {
		if r.parsers == nil {
			r.parsers = map[syntax.LangVariant]*syntax.Parser{}
		}
		p = syntax.NewParser(syntax.Variant(lang), syntax.KeepComments(true))
		r.parsers[lang] = p
	}
	return p
}

// Read reads a script in which each expression counts as a word of underscores
// that is as long: plain is its text with these words. The tree, which begins
// with the *syntax.File, holds until the next call. The error is the parser's.
func (r *Reader) Read(lang syntax.LangVariant, text string) (plain string, t Tree, err error) {
	list, unclosed := dsl.Expressions(text)
	r.text, r.list, r.lang, r.shared = text, list, lang, false
	plain = masked(text, list, "_", '_')
	if len(list) > 0 && unclosed < 0 && apart(text, list) {
		if file, err := r.parse(lang, masked(text, list, strange, '_')); err == nil {
			r.shared = true
			r.tree = NewTree(r.tree, file)
			r.tree.unmask()
			return plain, r.tree, nil
		}
	}
	file, err := r.parse(lang, plain)
	if err != nil {
		return plain, nil, err
	}
	r.tree = NewTree(r.tree, file)
	return plain, r.tree, nil
}

// split is the function of this name.
func (r *Reader) split(text string) ([]dsl.Expression, *Error) {
	if r.shared && text == r.text {
		return r.list, nil
	}
	return split(text)
}

func (r *Reader) parse(lang syntax.LangVariant, text string) (*syntax.File, error) {
	return r.Parser(lang).Parse(strings.NewReader(text), "")
}

// apart tells whether each expression of a script stands so that a word of any
// characters in its place is the same to the parser, provided that it can read
// it at all: nothing beside it makes a name of the word, and no word of the shell
// wants one.
func apart(text string, list []dsl.Expression) bool {
	for _, e := range list {
		if e.Start > 0 && strings.IndexByte(" \t\n\"'/:,-.=%@", text[e.Start-1]) < 0 ||
			e.End < len(text) && strings.IndexByte(" \t\n\"'/:,-.%@;)", text[e.End]) < 0 {
			return false
		}
	}
	return !declaring(text) && !strings.Contains(text, strange)
}

// unmask makes underscores of the strange characters.
func (t Tree) unmask() {
	for _, b := range t {
		switch n := b.Node.(type) {
		case *syntax.Lit:
			n.Value = unmasked(n.Value)
		case *syntax.SglQuoted:
			n.Value = unmasked(n.Value)
		}
	}
}

func unmasked(text string) string {
	return strings.ReplaceAll(text, strange, "___"[:len(strange)])
}

// treeFor gives the tree of a script for a survey. Where only an expression makes
// it unreadable, the fault is the expression's.
func (r *Reader) treeFor(lang syntax.LangVariant, text string, list []dsl.Expression) (Tree, *Error) {
	if r.shared && lang == r.lang && text == r.text {
		return r.tree, nil
	}
	file, err := r.parse(lang, masked(text, list, strange, 'x'))
	if err == nil {
		r.other = NewTree(r.other, file)
		return r.other, nil
	}
	if _, plain := r.parse(lang, masked(text, list, "x", 'x')); plain != nil {
		return nil, shellFault(plain, text)
	}
	at, _, _ := shellError(err)
	guilty := list[0]
	for _, e := range list {
		if e.Start <= at {
			guilty = e
		}
	}
	return nil, place{guilty.Start, guilty.End}.bad("an expression cannot stand here", viaEnv)
}
