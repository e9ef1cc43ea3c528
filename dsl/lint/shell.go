package lint

import (
	"errors"
	"path"
	"regexp"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/ax-scheduler/ax/dsl"
	"github.com/ax-scheduler/ax/dsl/expression"
)

// script is what a task's `run` says, if it is for a shell that can be read.
type script struct {
	text     string // expressions overwritten by a word of the same length
	tree     expression.Tree
	strict   bool // a variable that is not set ends it
	pipefail bool // the shell itself is told to notice failures within a pipe
}

// dialect tells which language a shell's scripts are in; false for what is
// neither sh nor bash.
func dialect(s dsl.Shell) (syntax.LangVariant, bool) {
	switch expression.ShellOf(s.Argv) {
	case expression.Sh:
		if len(s.Argv) > 0 && path.Base(s.Argv[0]) == "ash" { // it has some of what bash has
			return syntax.LangBash, true
		}
		return syntax.LangPOSIX, true
	case expression.Bash:
		return syntax.LangBash, true
	}
	return 0, false
}

// script reports what is wrong with the script of a task: shell-syntax,
// bash-only and unseen-failure, and with the files it begins with, missing-file.
func (p *pass) script(t *dsl.Task) {
	p.unreadable = false
	if t.Kind != dsl.KindRun || !t.Run.Set() {
		return
	}
	p.cutOff(t)
	p.alteredPython(t)
	s := p.parse(t, true)
	if !p.unreadable {
		p.unset(t, s)
	}
	if s == nil {
		return
	}
	p.asksBySetting(t, s)
	p.altered(t, s)
	p.optionForCommand(t, s)
	lang, _ := dialect(t.Shell)
	p.refused(t, s, lang)
	if lang == syntax.LangPOSIX {
		p.bashisms(t, s)
	}
	p.unseenFailures(t, s)
	if p.whole {
		p.scriptFiles(t, s)
	}
}

// parse reads the script of a task; nil if it is for another shell or cannot be
// read, which is reported if told to.
func (p *pass) parse(t *dsl.Task, tell bool) *script {
	lang, ok := dialect(t.Shell)
	if !ok {
		return nil
	}
	s := &script{}
	var err error
	s.text, s.tree, err = p.scripts.Read(lang, t.Run.V)
	s.pipefail = slices.Equal(t.Shell.Argv, []string{"bash"}) || strings.Contains(strings.Join(t.Shell.Argv, " "), "pipefail")
	s.strict = (len(t.Shell.Argv) == 0 || slices.Equal(t.Shell.Argv, []string{"sh"})) && !strings.Contains(s.text, "set +")
	if err == nil {
		return s
	}
	if tell && !p.parserMayErr(lang, s.text) {
		p.unreadable = true
		p.badSyntax(t, lang, s, err)
	}
	return nil
}

// parserMayErr tells whether a script that could not be read may be right all
// the same: a subshell at the beginning of a command substitution or of another
// subshell is taken for arithmetic, and so is the key of an associative array.
func (p *pass) parserMayErr(lang syntax.LangVariant, text string) bool {
	if lang == syntax.LangBash && (strings.Contains(text, "declare -A") || strings.Contains(text, "local -A") || strings.Contains(text, "typeset -A")) {
		return true
	}
	if !strings.Contains(text, "((") {
		return false
	}
	apart := strings.ReplaceAll(text, "((", "( (")
	apart = surelyArithmetic.ReplaceAllString(apart, "$$(($1))")
	_, err := p.scripts.Parser(lang).Parse(strings.NewReader(apart), "")
	return err == nil
}

// surelyArithmetic is what has no parentheses of commands, and no variable that
// may be an operator unless an operator follows that nothing follows.
var surelyArithmetic = regexp.MustCompile("\\$\\( \\(([^()$`]*|[^()`]*[-+*/%]\\s*)\\)\\)")

// overwritten replaces each expression by a word of the same length, so that
// places stay what they are.
func overwritten(text string) string {
	if !strings.Contains(text, "${{") {
		return text
	}
	list, _ := dsl.Expressions(text)
	b := []byte(text)
	for _, e := range list {
		for i := e.Start; i < e.End; i++ {
			b[i] = '_'
		}
	}
	return string(b)
}

// badSyntax reports the place at which a script could not be read: of one for
// sh that bash can read, what only bash has.
func (p *pass) badSyntax(t *dsl.Task, lang syntax.LangVariant, s *script, err error) {
	if p.joinedBadly(t, lang, s) || p.dollarMissing(t, err) {
		return
	}
	if lang == syntax.LangPOSIX {
		file, _ := p.scripts.Parser(syntax.LangBash).Parse(strings.NewReader(s.text), "") // as far as it can be read
		s.tree = expression.NewTree(nil, file)
		found := bashismsOf(s, p.definedFor(t))
		if i := slices.IndexFunc(found, func(b bashism) bool { return b.does == "" }); i >= 0 {
			p.needsBash(t, found[i])
			return
		}
	}
	var dialect syntax.LangError
	var fault syntax.ParseError
	switch {
	case errors.As(err, &dialect):
		p.within("shell-syntax", t.Run, int(dialect.Pos.Offset()), 1, `set "shell: bash", or write it another way`,
			"the script uses %s, which bash has and sh does not", dialect.Feature)
	case errors.As(err, &fault):
		message, hint := explained(fault.Text, s.text, int(fault.Pos.Offset()))
		if h := otherInterpreter(t.Run.V); h != "" {
			hint = h
		}
		from, width := int(fault.Pos.Offset()), 1
		if quote, ok := strings.CutPrefix(fault.Text, "reached EOF without closing quote `"); ok {
			from, width = openQuote(overwritten(t.Run.V), quote[0], from)
		}
		if open := strings.LastIndex(s.text[:min(from+len("${"), len(s.text))], "${"); open >= 0 && strings.HasSuffix(message, "` is not closed") {
			from, width = open, len(message)-len("`` is not closed")
		}
		p.within("shell-syntax", t.Run, from, width, hint, "the script cannot be read: %s", message)
	}
}

// optionForCommand reports a line that begins with an option: the line above
// should have ended with a backslash.
func (p *pass) optionForCommand(t *dsl.Task, s *script) {
	s.tree.Walk(func(n syntax.Node) bool {
		c, ok := n.(*syntax.CallExpr)
		if !ok || len(c.Args) == 0 || !strings.HasPrefix(c.Args[0].Lit(), "-") {
			return true
		}
		from, to := int(c.Args[0].Pos().Offset()), int(c.Args[0].End().Offset())
		if from == 0 || strings.TrimRight(s.text[:from], " \t") == "" || !strings.HasSuffix(strings.TrimRight(s.text[:from], " \t"), "\n") {
			return true
		}
		hint := "end the line above with a backslash"
		if p.Source.IsFolded(t.Run.Pos) {
			hint = "indent its lines alike: YAML joins no line that is indented more than the others"
		}
		p.within("shell-syntax", t.Run, from, to-from, hint, "%q is no command, and stands in a line of its own", c.Args[0].Lit())
		return false
	})
}

// openQuote gives where the quote is that is not closed. The parser notices at
// the last one of the script, since what is outside of quotes and what is within
// them changed places. If one line alone has an odd number of them, it is there.
func openQuote(text string, quote byte, last int) (from, width int) {
	from, width = last, 1
	odd, at := 0, 0
	for line := range strings.Lines(text) {
		n, first := 0, -1
		for i := 0; i < len(line); i++ {
			switch {
			case line[i] == '\\' && quote != '\'':
				i++
			case line[i] == quote:
				if n++; first < 0 {
					first = i
				}
			}
		}
		if n%2 == 1 {
			odd++
			from, width = at+first, len(strings.TrimRight(line, "\n"))-first
		}
		at += len(line)
	}
	if odd != 1 {
		return last, 1
	}
	return from, width
}

// shortExpression is an expression with a brace too few on each side.
var shortExpression = regexp.MustCompile(`\$\{\s*((?:params|run|env|secrets|tasks)\.[\w.-]+|item)\s*\}`)

// dollarMissing reports an expression in a script that lacks braces, where that
// may be why it could not be read.
func (p *pass) dollarMissing(t *dsl.Task, err error) bool {
	at := len(t.Run.V)
	var dialect syntax.LangError
	var fault syntax.ParseError
	if errors.As(err, &dialect) {
		at = int(dialect.Pos.Offset())
	} else if errors.As(err, &fault) {
		at = int(fault.Pos.Offset())
	}
	m := shortExpression.FindStringSubmatchIndex(t.Run.V)
	if m == nil || m[0] > at || m[2] == m[0]+len("${") && t.Run.V[m[2]:m[3]] == "item" {
		return false
	}
	p.within("shell-syntax", t.Run, m[0], m[1]-m[0], "an expression has two braces: ${{ "+t.Run.V[m[2]:m[3]]+" }}",
		"the script cannot be read: `%s` is no variable of the shell", t.Run.V[m[0]:m[1]])
	return true
}

// A variable whose brace is not closed, behind a fault and before one.
var unclosed = regexp.MustCompile(`^\$\{\w+`)
var openBrace = regexp.MustCompile(`\$\{\w+$`)

// loopHead is the beginning of a loop, up to what follows its name and its words.
var loopHead = regexp.MustCompile(`^for\s+\S+(?:\s+in\b[^;\n]*)?`)

// explained puts the words of the shell parser about an offset of a script into
// better ones where it has odd ones.
func explained(text, script string, at int) (message, hint string) {
	open := openBrace.FindString(script[:min(at, len(script))])
	if strings.HasPrefix(text, "reached EOF without matching `${`") {
		open = unclosed.FindString(script[min(at, len(script)):])
	}
	switch {
	case open != "":
		return "`" + open + "` is not closed", "write " + open + "}"
	case strings.HasPrefix(text, "not a valid test operator: `]`"):
		return "one bracket does not close `[[`", "close it by ]], or begin it with ["
	case strings.HasPrefix(text, "`for foo"):
		_, rest, _ := strings.Cut(text[1:], "`")
		head := strings.TrimSpace(loopHead.FindString(script[min(at, len(script)):]))
		if head == "for in" {
			return "`for` must be followed by a name", "write for NAME in WORDS; do … done"
		}
		return "`" + head + "`" + rest, ""
	case strings.HasPrefix(text, "`for` must be followed by a literal"):
		return "`for` must be followed by a name", "write for NAME in WORDS; do … done, with no $ before the name"
	case strings.Contains(text, "`foo(`"):
		return "unexpected `(`", "put it into quotes if it is text"
	case strings.HasPrefix(text, "unclosed here-document"):
		return text, "the closing word stands alone in its line, with no blanks around it"
	case strings.HasPrefix(text, "reached EOF without closing quote"):
		return strings.Replace(text, "reached EOF without closing quote", "there is no closing quote", 1), "close it, or escape it"
	case strings.Contains(text, "can only be used to end"):
		return text, "before it, a word such as `then` or `do` may be missing"
	case strings.HasPrefix(text, "a command can only contain words and redirects; encountered"):
		return strings.Replace(text, "a command can only contain words and redirects; encountered", "unexpected", 1), "put it into quotes if it is text"
	}
	return text, ""
}

// otherInterpreter gives the hint for a script whose first line asks for
// something else than the shell that gets it.
func otherInterpreter(text string) string {
	line, _, _ := strings.Cut(text, "\n")
	words := strings.Fields(strings.TrimPrefix(line, "#!"))
	if !strings.HasPrefix(line, "#!") || len(words) == 0 {
		return ""
	}
	name := path.Base(words[0])
	if name == "env" && len(words) > 1 {
		name = words[1]
	}
	switch name {
	case "sh", "bash", "dash", "env":
		return ""
	}
	return "the first line of a script does not choose its shell: set \"shell: " + name + "\""
}
