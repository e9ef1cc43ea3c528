package expression

import (
	"errors"
	"slices"
	"strings"
)

// Kind says what sort of fault an Error is.
type Kind uint8

// The kinds of faults. The first four are found when compiling, the other two
// when evaluating.
const (
	Bad              Kind = iota // syntax, types, or a place where it cannot stand
	UnknownReference             // a parameter, secret, task or field that there is not
	NotUpstream                  // a task that may not be final by then
	ShellSyntax                  // the script around it cannot be read
	Missing                      // a value that this run does not have; `??` and default catch it
	Failed                       // everything else that a value can be unfit for
)

// Rule gives the name of the lint rule that a kind belongs to.
func (k Kind) Rule() string {
	switch k {
	case UnknownReference:
		return "unknown-reference"
	case NotUpstream:
		return "not-upstream"
	case ShellSyntax:
		return "shell-syntax"
	}
	return "bad-expression"
}

// Error is one fault in a text or in what it was evaluated with.
type Error struct {
	Kind    Kind
	Offset  int // in bytes, from the beginning of the text that was given
	Width   int // in bytes
	Message string
	Hint    string // what to do about it; may be empty
}

// Error gives the message without the hint and the place.
func (e *Error) Error() string { return e.Message }

// Errors is all that is wrong with one text, in order of place.
type Errors []*Error

// Err gives nil where there is no error: the list as an error value.
func (es Errors) Err() error {
	if len(es) == 0 {
		return nil
	}
	return es
}

// Error gives one message a line.
func (es Errors) Error() string {
	lines := make([]string, len(es))
	for i, e := range es {
		lines[i] = e.Message
	}
	return strings.Join(lines, "\n")
}

// inOrder sorts faults by place and counts their offsets from further left.
func (es Errors) inOrder(by int) Errors {
	slices.SortStableFunc(es, func(a, b *Error) int { return a.Offset - b.Offset })
	var all Errors
	for _, e := range es {
		if !slices.ContainsFunc(all, e.Repeats) {
			e.Offset += by
			all = append(all, e)
		}
	}
	return all
}

// Repeats tells whether a fault says of a name what another one of the same
// text has said.
func (e *Error) Repeats(o *Error) bool {
	return e.Kind == o.Kind && e.Message == o.Message && (e.Kind == UnknownReference || e.Kind == NotUpstream)
}

// shifted gives an error whose offsets count from further left.
func shifted(err error, by int) error {
	var e *Error
	if by == 0 || !errors.As(err, &e) {
		return err
	}
	moved := *e
	moved.Offset += by
	return &moved
}

// place is a part of an expression, in bytes.
type place struct{ from, to int }

func (p place) bad(message, hint string) *Error { return p.fault(Bad, message, hint) }

func (p place) fault(k Kind, message, hint string) *Error {
	return &Error{Kind: k, Offset: p.from, Width: max(p.to-p.from, 1), Message: message, Hint: hint}
}

// failure is why an operation could not be carried out, before it is known
// where the operation stands.
type failure struct {
	message, hint string
	missing       bool
}

func (f *failure) Error() string { return f.message }

// at gives an error its place, unless it has one already. There must be one.
func (p place) at(err error) error {
	var f *failure
	switch e := err.(type) {
	case *Error:
		return e
	case *failure:
		f = e
	default:
		f = &failure{message: err.Error()}
	}
	if f.missing {
		return p.fault(Missing, f.message, f.hint)
	}
	return p.fault(Failed, f.message, f.hint)
}

// wrap does the same where there may be no error.
func (p place) wrap(err error) error {
	if err == nil {
		return nil
	}
	return p.at(err)
}

// isMissing tells whether evaluation ended for want of a value.
func isMissing(err error) bool {
	e, ok := err.(*Error)
	return ok && e.Kind == Missing
}
