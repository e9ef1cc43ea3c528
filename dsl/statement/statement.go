// Package statement takes a text of SQL apart: into its statements, and in each
// the places where a value is to be bound.
//
// It knows how SQL is written, not what it means: no database, no values.
package statement

import (
	"strings"

	"github.com/ax-scheduler/ax/dsl"
)

// Dialect says whose SQL a text is.
type Dialect uint8

// The dialects. Any is for a text whose database is not known yet.
const (
	Any Dialect = iota
	SQLite
	Postgres
)

// DialectOf gives the dialect of a database as `db` names it.
func DialectOf(db string) Dialect {
	switch {
	case strings.HasPrefix(db, "sqlite:"):
		return SQLite
	case strings.HasPrefix(db, "postgres://"), strings.HasPrefix(db, "postgresql://"):
		return Postgres
	}
	return Any
}

// Statement is one statement of a text, by byte offsets: without the blanks and
// comments before it, and without its semicolon.
type Statement struct {
	Start, End int
	Words      []string // its keywords and names outside of brackets, in capitals; at most 64
	Marks      []Mark   // in order
}

// Mark is a place where a value is bound.
type Mark struct {
	Start, End int
	Name       string // of :name; empty for a ${{ … }}
}

// Fault is a place where no value can be bound.
type Fault struct {
	Offset, Width int
	Message, Hint string
}

// Verb gives the word that says what the statement does: its first, or behind
// the tables of a WITH the first that is one.
func (s *Statement) Verb() string {
	if len(s.Words) == 0 {
		return ""
	}
	if s.Words[0] != "WITH" {
		return s.Words[0]
	}
	for _, w := range s.Words[1:] {
		switch w {
		case "SELECT", "VALUES", "INSERT", "UPDATE", "DELETE", "REPLACE", "MERGE":
			return w
		}
	}
	return "WITH"
}

// Begins tells whether the statement begins with these words.
func (s *Statement) Begins(words ...string) bool {
	if len(s.Words) < len(words) {
		return false
	}
	for i, w := range words {
		if s.Words[i] != w {
			return false
		}
	}
	return true
}

// Split takes a text apart. Where expressions is set, each ${{ … }} is a place
// for a value; in a comment it is nothing. Faults are in order; what is not
// closed goes to the end of the text, for the database to complain of.
func Split(text string, d Dialect, expressions bool) ([]Statement, []Fault) {
	l := &lexer{text: text, dialect: d}
	if expressions {
		l.expressions, _ = dsl.Expressions(text)
	}
	for l.at < len(text) {
		l.step()
	}
	l.end()
	return l.statements, l.faults
}

// mostWords is how many words of a statement are kept.
const mostWords = 64

// lexer reads a text from left to right.
type lexer struct {
	text        string
	dialect     Dialect
	expressions []dsl.Expression // those that are still ahead
	at          int

	statements []Statement
	faults     []Fault
	now        *Statement // nil between statements
	last       int        // where the last thing in it ends
	brackets   int
	blocks     int // BEGIN and CASE of a body that are not closed
}

// begin makes sure that there is a statement.
func (l *lexer) begin() *Statement {
	if l.now == nil {
		l.now = &Statement{Start: l.at}
		l.brackets, l.blocks = 0, 0
	}
	return l.now
}

// end closes the statement that is open, if one is.
func (l *lexer) end() {
	if l.now != nil {
		l.now.End = l.last
		l.statements = append(l.statements, *l.now)
		l.now = nil
	}
}

// to moves on within a statement.
func (l *lexer) to(at int) {
	l.at = min(at, len(l.text))
	l.last = l.at
}

func (l *lexer) rest() string { return l.text[l.at:] }

// step reads one thing.
func (l *lexer) step() {
	rest, c := l.rest(), l.text[l.at]
	switch {
	case c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f':
		l.at++
	case strings.HasPrefix(rest, "--"):
		l.at += lengthTo(rest, "\n")
	case strings.HasPrefix(rest, "/*"):
		l.at += l.comment(rest)
	case l.expression(false):
	case c == ';':
		if l.brackets > 0 || l.blocks > 0 {
			l.to(l.at + 1)
			return
		}
		l.end()
		l.at++
	case isLetter(c):
		l.word()
	default:
		l.begin()
		l.sign(rest, c)
	}
}

// sign reads what is neither blank nor a word.
func (l *lexer) sign(rest string, c byte) {
	switch {
	case c == '\'', c == '"', c == '`' && l.dialect != Postgres:
		l.quoted(c, false)
	case c == '[' && l.dialect == SQLite:
		l.quoted(']', false)
	case c == '$' && l.dialect != SQLite && dollarTag(rest) != "":
		tag := dollarTag(rest)
		l.until(l.at+len(tag), tag)
	case c == '(' || c == '[':
		l.brackets++
		l.to(l.at + 1)
	case c == ')' || c == ']':
		l.brackets = max(0, l.brackets-1)
		l.to(l.at + 1)
	case strings.HasPrefix(rest, "::"), strings.HasPrefix(rest, ":="):
		l.to(l.at + 2)
	case c == ':' && len(rest) > 1 && isLetter(rest[1]):
		n := 1 + wordLength(rest[1:])
		l.now.Marks = append(l.now.Marks, Mark{l.at, l.at + n, rest[1:n]})
		l.to(l.at + n)
	case l.foreign(rest, c):
	case isDigit(c):
		l.to(l.at + wordLength(rest)) // so that the e of 1e5 is no word
	default:
		l.to(l.at + 1)
	}
}

// foreign reports placeholders that nothing would be bound to.
func (l *lexer) foreign(rest string, c byte) bool {
	n := 1 + wordLength(rest[1:])
	switch {
	case c == '$' && n > 1 && (l.dialect != Any || isDigit(rest[1])):
	case l.dialect == SQLite && (c == '?' || c == '@' && n > 1):
	default:
		return false
	}
	l.faults = append(l.faults, Fault{l.at, n, "the placeholder " + rest[:n] + " has no value", `write :name, and give "name" in "params"`})
	l.to(l.at + n)
	return true
}

// word reads a keyword or a name. An E before a quote belongs to the text.
func (l *lexer) word() {
	s, n := l.begin(), wordLength(l.rest())
	w := strings.ToUpper(l.rest()[:n])
	l.to(l.at + n)
	if w == "E" && l.dialect != SQLite && l.at < len(l.text) && l.text[l.at] == '\'' {
		l.quoted('\'', true)
		return
	}
	if l.brackets == 0 && len(s.Words) < mostWords {
		s.Words = append(s.Words, w)
	}
	if !s.hasBody() {
		return
	}
	switch w {
	case "BEGIN", "CASE":
		l.blocks++
	case "END":
		l.blocks = max(0, l.blocks-1)
	}
}

// hasBody tells whether semicolons may stand between a BEGIN and an END of the
// statement.
func (s *Statement) hasBody() bool {
	if !s.Begins("CREATE") {
		return false
	}
	for _, w := range s.Words[1:min(len(s.Words), 5)] {
		if w == "TRIGGER" || w == "FUNCTION" || w == "PROCEDURE" {
			return true
		}
	}
	return false
}

// expression reads a ${{ … }}. Within quotes it is a fault.
func (l *lexer) expression(quoted bool) bool {
	for len(l.expressions) > 0 && l.expressions[0].Start < l.at {
		l.expressions = l.expressions[1:]
	}
	if len(l.expressions) == 0 || l.expressions[0].Start != l.at {
		return false
	}
	e := l.expressions[0]
	if quoted {
		l.faults = append(l.faults, Fault{e.Start, e.End - e.Start, "an expression within quotes is not a value of its own",
			"take it out of them: it is bound as one value, and || joins it to a text"})
	} else {
		s := l.begin()
		s.Marks = append(s.Marks, Mark{Start: e.Start, End: e.End})
	}
	l.to(e.End)
	return true
}

// quoted reads a text or a name up to the closing sign, which is doubled to
// stand for itself.
func (l *lexer) quoted(closing byte, backslash bool) {
	l.to(l.at + 1)
	for l.at < len(l.text) {
		c := l.text[l.at]
		switch {
		case l.expression(true):
		case backslash && c == '\\':
			l.to(l.at + 2)
		case c == closing && closing != ']' && strings.HasPrefix(l.text[l.at+1:], string(closing)):
			l.to(l.at + 2)
		case c == closing:
			l.to(l.at + 1)
			return
		default:
			l.to(l.at + 1)
		}
	}
}

// until reads up to a closing tag.
func (l *lexer) until(from int, tag string) {
	end := from + lengthTo(l.text[from:], tag)
	for l.to(from); l.at < end; {
		if !l.expression(true) {
			l.to(l.at + 1)
		}
	}
}

// comment gives the length of a comment in brackets; PostgreSQL nests them.
func (l *lexer) comment(rest string) int {
	if l.dialect != Postgres {
		return 2 + lengthTo(rest[2:], "*/")
	}
	depth := 0
	for i := 0; i < len(rest); {
		switch {
		case strings.HasPrefix(rest[i:], "/*"):
			depth++
			i += 2
		case strings.HasPrefix(rest[i:], "*/"):
			i += 2
			if depth--; depth == 0 {
				return i
			}
		default:
			i++
		}
	}
	return len(rest)
}

// lengthTo gives how much of a text there is up to the end of a part; all of it
// where it does not have the part.
func lengthTo(text, part string) int {
	if i := strings.Index(text, part); i >= 0 {
		return i + len(part)
	}
	return len(text)
}

// dollarTag gives the $tag$ that a text begins with.
func dollarTag(text string) string {
	n := 1
	for n < len(text) && (isLetter(text[n]) || isDigit(text[n])) {
		n++
	}
	if n < len(text) && text[n] == '$' && (n == 1 || !isDigit(text[1])) {
		return text[:n+1]
	}
	return ""
}

func isLetter(c byte) bool { return c == '_' || c|' ' >= 'a' && c|' ' <= 'z' || c >= 0x80 }
func isDigit(c byte) bool  { return c >= '0' && c <= '9' }

// wordLength gives how many bytes of a text belong to one word.
func wordLength(text string) int {
	n := 0
	for n < len(text) && (isLetter(text[n]) || isDigit(text[n])) {
		n++
	}
	return n
}
