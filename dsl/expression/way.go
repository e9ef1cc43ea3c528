package expression

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// way goes from a piece of plain text up to the command that it belongs to.
type way struct {
	*surveyor
	at        int  // place in the stack
	quoted    bool // within double quotes, or a here-document
	expansion bool // within the second part of ${name:-…}
}

// up gives the form, or a message and a hint why there is none. It knows what
// is good; everything else is refused.
func (w *way) up() (form, string, string) {
	for w.at--; w.at >= 0; w.at-- {
		done, message, hint := w.step(w.stack[w.at], w.stack[w.at+1])
		switch {
		case message != "":
			return unknown, message, hint
		case done && w.quoted:
			return quoted, "", ""
		case done:
			return bare, "", ""
		}
	}
	return unknown, "an expression cannot stand here", viaEnv
}

const (
	asNumber   = "the shell would compute the value"
	asPattern  = "the shell would take the value for a pattern"
	asName     = "the shell would take the value for a name"
	asCode     = "the value would be read as shell code"
	nestQuotes = "quotes within quotes around an expression"
)

// step judges one node on the way and the part of it that the way came from.
func (w *way) step(n, child syntax.Node) (done bool, message, hint string) {
	switch n := n.(type) {
	case *syntax.Word:
		return false, "", ""
	case *syntax.DblQuoted:
		switch {
		case n.Dollar:
			return false, `an expression within $"…" would be translated`, `remove the "$"`
		case w.expansion && w.quoted:
			return false, nestQuotes, viaAssign
		}
		w.quoted = true
		return false, "", ""
	case *syntax.ParamExp:
		return w.parameter(n, child)
	case *syntax.CallExpr:
		message, hint = w.argument(n, child)
		return true, message, hint
	case *syntax.Assign:
		return w.assignment(n, child)
	case *syntax.ArrayElem:
		if child == syntax.Node(n.Value) {
			return true, "", ""
		}
		return false, asNumber, viaEnv
	case *syntax.Redirect:
		return w.redirect(n, child)
	case *syntax.CaseClause, *syntax.CaseItem, *syntax.ParenTest, *syntax.TestClause:
		return true, "", ""
	case *syntax.WordIter:
		if child == syntax.Node(n.Name) {
			return false, asName, ""
		}
		return true, "", ""
	case *syntax.UnaryTest:
		if n.Op == syntax.TsVarSet || n.Op == syntax.TsRefVar {
			return false, asName, viaEnv
		}
		return true, "", ""
	case *syntax.BinaryTest:
		if slices.Contains(numeric, n.Op) {
			return false, asNumber, "write [ … ] instead of [[ … ]]"
		}
		return true, "", ""
	case *syntax.ArithmExp, *syntax.ArithmCmd, *syntax.BinaryArithm, *syntax.UnaryArithm, *syntax.ParenArithm,
		*syntax.CStyleLoop, *syntax.LetClause:
		return false, asNumber, viaAssign
	case *syntax.ExtGlob:
		return false, asPattern, viaEnv
	case *syntax.FuncDecl, *syntax.CoprocClause:
		return false, asName, ""
	}
	return false, "an expression cannot stand here", viaEnv
}

// numeric are the tests of [[ ]] whose sides bash computes.
var numeric = []syntax.BinTestOperator{syntax.TsEql, syntax.TsNeq, syntax.TsLeq, syntax.TsGeq, syntax.TsLss, syntax.TsGtr}

// parameter judges ${name op word}. Of := the result would be split.
func (w *way) parameter(n *syntax.ParamExp, child syntax.Node) (bool, string, string) {
	if n.Exp == nil || child != syntax.Node(n.Exp.Word) {
		switch {
		case child == syntax.Node(n.Param):
			return false, asName, ""
		case n.Repl != nil:
			return false, asPattern, viaAssign
		}
		return false, asNumber, viaAssign
	}
	switch n.Exp.Op {
	case syntax.AlternateUnset, syntax.AlternateUnsetOrNull, syntax.DefaultUnset, syntax.DefaultUnsetOrNull,
		syntax.ErrorUnset, syntax.ErrorUnsetOrNull:
		w.expansion = true
		return false, "", ""
	case syntax.AssignUnset, syntax.AssignUnsetOrNull:
		return false, "an expression cannot be assigned in an expansion", viaAssign
	}
	return false, asPattern, viaAssign
}

// assignment judges name=word.
func (w *way) assignment(n *syntax.Assign, child syntax.Node) (bool, string, string) {
	switch {
	case child != syntax.Node(n.Value):
		return false, asNumber, viaEnv
	case n.Naked:
		return false, asName, "write NAME=${{ … }}"
	case n.Name != nil && w.integers[n.Name.Value]:
		return false, asNumber, "the variable is declared as an integer"
	}
	if d, ok := w.stack[w.at-1].(*syntax.DeclClause); ok && w.computes(d) {
		return false, asNumber, "do not declare it as an integer or a reference"
	}
	return true, "", ""
}

// computes tells whether a declaration makes the shell compute what is assigned
// in it, or take it for a name.
func (s *surveyor) computes(d *syntax.DeclClause) bool {
	is, known := s.computed[d]
	if !known {
		is = declares(d, "i") || declares(d, "n")
		if s.computed == nil {
			s.computed = map[*syntax.DeclClause]bool{}
		}
		s.computed[d] = is
	}
	return is
}

// declares tells whether a declaration has an option.
func declares(d *syntax.DeclClause, option string) bool {
	return slices.ContainsFunc(d.Args, func(a *syntax.Assign) bool {
		return a.Naked && a.Value != nil && strings.HasPrefix(a.Value.Lit(), "-") && strings.Contains(a.Value.Lit(), option)
	})
}

// integerVariables gives the names that a script declares as integers.
func integerVariables(tree Tree, text string) map[string]bool {
	if !declaring(text) {
		return nil
	}
	names := map[string]bool{}
	for _, b := range tree {
		if d, ok := b.Node.(*syntax.DeclClause); ok && declares(d, "i") {
			for _, a := range d.Args {
				if a.Name != nil {
					names[a.Name.Value] = true
				}
			}
		}
	}
	return names
}

// redirect judges a file, a here-string or a here-document.
func (w *way) redirect(n *syntax.Redirect, child syntax.Node) (bool, string, string) {
	document := n.Op == syntax.Hdoc || n.Op == syntax.DashHdoc
	switch {
	case child == syntax.Node(n.N):
		return false, asName, ""
	case document && child == syntax.Node(n.Word):
		return false, "an expression in the delimiter of a here-document does not expand", ""
	case (document || n.Op == syntax.WordHdoc) && w.feedsShell():
		return false, asCode, "pass the value through env: and use the variable there"
	case !document:
		return true, "", ""
	case isQuoted(n.Word):
		return false, "an expression in a here-document whose delimiter is quoted does not expand", viaEnv
	case w.expansion && w.quoted:
		return false, nestQuotes, viaAssign
	}
	w.quoted = true
	return true, "", ""
}

// isQuoted tells whether any part of a delimiter is quoted.
func isQuoted(delimiter *syntax.Word) bool {
	return slices.ContainsFunc(delimiter.Parts, func(p syntax.WordPart) bool {
		l, ok := p.(*syntax.Lit)
		return !ok || strings.Contains(l.Value, `\`)
	})
}

// feedsShell tells whether the command of a redirection is a shell that reads
// its commands from there.
func (w *way) feedsShell() bool {
	stmt, ok := w.stack[w.at-1].(*syntax.Stmt)
	if !ok {
		return false
	}
	call, ok := stmt.Cmd.(*syntax.CallExpr)
	return ok && w.roles(call).feeds
}

// roles are those of the words of a command that shells read.
type roles struct {
	code  []bool // by the number of the word: the script of a shell's -c
	feeds bool   // the last word that is no option is a shell, so it reads its input
}

// roles looks at a command once for all the expressions in it.
func (s *surveyor) roles(call *syntax.CallExpr) *roles {
	r := s.commands[call]
	if r == nil {
		r = rolesOf(call.Args)
		if s.commands == nil {
			s.commands = map[*syntax.CallExpr]*roles{}
		}
		s.commands[call] = r
	}
	return r
}

func rolesOf(args []*syntax.Word) *roles {
	r := &roles{}
	if !slices.ContainsFunc(args, isShell) {
		return r
	}
	r.code = make([]bool, len(args)+2)
	options := make([]bool, len(args)+2) // nothing but options of a shell comes before the word
	for i, a := range args {
		option := a.Lit()
		switch next := i + 1; {
		case isShell(a):
			r.feeds = true
			options[next] = true
		case !isOption(a):
			r.feeds = false
		case options[i]:
			if strings.HasSuffix(option, "o") {
				next++ // the name of a setting
			}
			options[next] = true
			r.code[next] = r.code[next] || r.code[i] || !strings.HasPrefix(option, "--") && strings.Contains(option, "c")
		}
	}
	return r
}

func isShell(w *syntax.Word) bool {
	return slices.Contains([]string{"sh", "bash", "dash", "ash", "ksh", "zsh"}, path.Base(w.Lit()))
}

func isOption(w *syntax.Word) bool {
	return strings.HasPrefix(w.Lit(), "-") || strings.HasPrefix(w.Lit(), "+")
}

// argument judges a word of a command. Most commands take a word for what it
// is; some of the shell's own read it once more.
func (w *way) argument(call *syntax.CallExpr, child syntax.Node) (message, hint string) {
	at, found := slices.BinarySearchFunc(call.Args, child.Pos().Offset(), func(a *syntax.Word, offset uint) int {
		return cmp.Compare(a.Pos().Offset(), offset)
	})
	if !found || child != syntax.Node(call.Args[at]) {
		return "", ""
	}
	command := 0
	for command < at && slices.Contains([]string{"command", "builtin", "exec"}, call.Args[command].Lit()) {
		command++
	}
	if at <= command {
		return "", ""
	}
	switch call.Args[command].Lit() {
	case "eval", "trap", "alias":
		return asCode, viaAssign + `, and have it used as "$x"`
	case "let":
		return asNumber, viaAssign
	case "compgen", "complete":
		return asCode, viaEnv
	case "unset", "read", "getopts", "mapfile", "readarray":
		return asName, viaEnv
	case "printf", "test", "[":
		if call.Args[at-1].Lit() == "-v" {
			return asName, viaEnv
		}
	}
	if r := w.roles(call); r.code != nil && r.code[at] {
		return asCode, `give it as an argument: sh -c '… "$1" …' sh ${{ … }}`
	}
	return "", ""
}
