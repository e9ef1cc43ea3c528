package lint

import (
	"slices"
	"strconv"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/ax-scheduler/ax/dsl"
	"github.com/ax-scheduler/ax/dsl/expression"
)

// Programs that hardly fail: those that only say something, at the beginning of
// a pipe, and those that pass on what they are given, further on.
var (
	sayers  = strings.Fields("echo printf true : yes pwd seq date hostname uname whoami id set export readonly ps df free uptime nproc return exit shift break continue read local")
	filters = strings.Fields("awk cat cksum column cut expand fmt fold gawk grep egrep fgrep head md5sum nl od paste rev sed sha1sum sha256sum sha512sum sort tac tail tee tr uniq wc xxd")
	// and these, unless they are given something to look at
	lookers = strings.Fields("cat dmesg env jobs locale ls w who")
)

// unseenFailures reports pipes in which a command may fail without anybody
// noticing: the shell looks at the last one only.
func (p *pass) unseenFailures(t *dsl.Task, s *script) {
	if s.pipefail || !strings.Contains(s.text, "|") {
		return
	}
	f := &pipes{tree: s.tree}
	s.tree.Walk(func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.FuncDecl:
			if f.functions == nil {
				f.functions = map[string]*syntax.Stmt{}
			}
			f.functions[n.Name.Value] = n.Body
		case *syntax.CallExpr:
			f.pipefail = f.pipefail || setsPipefail(n)
		}
		return true
	})
	if f.pipefail {
		return
	}
	f.look(s.tree[0].Node)
	for _, c := range f.found {
		from, to := c.at.Offset(), c.end.Offset()
		hint := `set "shell: bash", which notices it, or write to a file that the next command reads`
		if c.cutOff { // then bash would take that for a failure as well
			hint = `write to a file that the next command reads`
		}
		p.within("unseen-failure", t.Run, int(from), int(to-from), hint,
			"if %s here, nobody notices: sh looks only at the last command of a pipe", c.fault)
	}
}

// pipes looks through one script.
type pipes struct {
	tree      expression.Tree
	at        int // the number of the node that is looked at
	functions map[string]*syntax.Stmt
	asked     []string // functions that are being looked into
	pipefail  bool
	found     []command
}

// command is a command that may fail.
type command struct {
	fault   string // how, as half a sentence
	at, end syntax.Pos
	cutOff  bool // a later command of the pipe ends before it has read everything
}

func setsPipefail(c *syntax.CallExpr) bool {
	return len(c.Args) > 1 && c.Args[0].Lit() == "set" &&
		slices.ContainsFunc(c.Args[1:], func(w *syntax.Word) bool { return w.Lit() == "pipefail" })
}

// look finds the pipes whose status matters. The condition of an if or a loop
// is asked for its status, what stands before "|| true" may fail, and nobody
// waits for the status of what runs in the background.
func (f *pipes) look(n syntax.Node) {
	f.at = f.tree.Find(f.at, n)
	f.tree.WalkPart(f.at, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.IfClause:
			for c := n; c != nil; c = c.Else {
				f.all(c.Then)
			}
			return false
		case *syntax.WhileClause:
			f.all(n.Do)
			return false
		case *syntax.Stmt:
			return !n.Negated && !n.Background
		case *syntax.CallExpr: // what is compared shows whether it failed
			return len(n.Args) == 0 || n.Args[0].Lit() != "[" && n.Args[0].Lit() != "test"
		case *syntax.BinaryCmd:
			switch {
			case n.Op == syntax.OrStmt && harmless(n.Y):
				return false
			case n.Op == syntax.Pipe || n.Op == syntax.PipeAll:
				f.pipe(n)
				return false
			}
		}
		return true
	})
}

func (f *pipes) all(stmts []*syntax.Stmt) {
	for _, s := range stmts {
		f.look(s)
	}
}

// pipe reports the first command of a pipe, the last one aside, that may fail,
// and looks into the commands themselves.
func (f *pipes) pipe(b *syntax.BinaryCmd) {
	stages := []*syntax.Stmt{b.Y}
	for {
		left, ok := b.X.Cmd.(*syntax.BinaryCmd)
		if !ok || left.Op != syntax.Pipe && left.Op != syntax.PipeAll || len(b.X.Redirs) > 0 || b.X.Negated {
			stages = append(stages, b.X)
			break
		}
		stages = append(stages, left.Y)
		b = left
	}
	slices.Reverse(stages)
	told := asks(stages[len(stages)-1])
	for i, s := range stages {
		if i < len(stages)-1 && !told {
			if c, ok := f.mayFail(s, i == 0); ok {
				c.cutOff = slices.ContainsFunc(stages[i+1:], endsEarly)
				f.found, told = append(f.found, c), true
			}
		}
		f.look(s)
	}
}

// mayFail gives the first command of a stage that may fail.
func (f *pipes) mayFail(s *syntax.Stmt, first bool) (command, bool) {
	for _, r := range s.Redirs {
		if r.Op == syntax.RdrIn && r.Word.Lit() != "/dev/null" {
			return command{fault: "this file is missing", at: r.Pos(), end: r.End()}, true
		}
	}
	switch c := s.Cmd.(type) {
	case *syntax.CallExpr:
		return f.call(s, c, first)
	case *syntax.BinaryCmd:
		if c.Op == syntax.OrStmt && !endsScript(c.Y) { // something is done about it
			return command{}, false
		}
		if x, ok := f.mayFail(c.X, first); ok {
			return x, true
		}
		return f.mayFail(c.Y, first && c.Op != syntax.Pipe && c.Op != syntax.PipeAll)
	case *syntax.Subshell:
		return f.anyMayFail(c.Stmts, first)
	case *syntax.Block:
		return f.anyMayFail(c.Stmts, first)
	case *syntax.ForClause:
		return f.anyMayFail(c.Do, first)
	case *syntax.WhileClause:
		return f.anyMayFail(c.Do, first)
	case *syntax.IfClause:
		for branch := c; branch != nil; branch = branch.Else {
			if x, ok := f.anyMayFail(branch.Then, first); ok {
				return x, true
			}
		}
	case *syntax.CaseClause:
		for _, item := range c.Items {
			if x, ok := f.anyMayFail(item.Stmts, first); ok {
				return x, true
			}
		}
	}
	return command{}, false
}

func (f *pipes) anyMayFail(stmts []*syntax.Stmt, first bool) (command, bool) {
	for i, s := range stmts {
		if i+1 < len(stmts) && asksStatus(stmts[i+1]) {
			continue
		}
		if c, ok := f.mayFail(s, first); ok {
			return c, true
		}
	}
	return command{}, false
}

// asksStatus tells whether a statement looks at the status of the one before.
func asksStatus(s *syntax.Stmt) bool {
	asks := false
	syntax.Walk(s, func(n syntax.Node) bool {
		if p, ok := n.(*syntax.ParamExp); ok && p.Param != nil && p.Param.Value == "?" {
			asks = true
		}
		return !asks
	})
	return asks
}

// asks tells whether a pipe ends in a question: where there is no answer, none
// is found.
func asks(s *syntax.Stmt) bool {
	words := wordsOf(s)
	if len(words) == 0 || !slices.Contains([]string{"grep", "egrep", "fgrep"}, words[0]) {
		return false
	}
	return slices.ContainsFunc(words[1:], func(w string) bool {
		return w == "--quiet" || w == "--silent" || len(w) > 1 && w[0] == '-' && w[1] != '-' && strings.Contains(w, "q")
	})
}

// endsEarly tells whether a command may end before it has read everything.
func endsEarly(s *syntax.Stmt) bool {
	words := wordsOf(s)
	return len(words) > 0 && words[0] == "head"
}

func wordsOf(s *syntax.Stmt) []string {
	if c, ok := s.Cmd.(*syntax.CallExpr); ok {
		return literals(c)
	}
	return nil
}

// call tells whether a command with its arguments may fail.
func (f *pipes) call(s *syntax.Stmt, c *syntax.CallExpr, first bool) (command, bool) {
	if len(c.Args) == 0 || s.Negated {
		return command{}, false
	}
	name := c.Args[0].Lit()
	switch {
	case slices.Contains(sayers, name):
		return command{}, false
	case !first && slices.Contains(filters, name):
		return command{}, false
	case len(c.Args) == 1 && slices.Contains(lookers, name):
		return command{}, false
	case slices.Contains(filters, name) && slices.ContainsFunc(c.Args, func(w *syntax.Word) bool { return strings.HasPrefix(w.Lit(), "/dev/") }):
		return command{}, false
	}
	if body := f.functions[name]; body != nil {
		if slices.Contains(f.asked, name) {
			return command{}, false
		}
		f.asked = append(f.asked, name)
		_, may := f.mayFail(body, first)
		f.asked = f.asked[:len(f.asked)-1]
		if !may {
			return command{}, false
		}
	}
	fault := "the command fails"
	if name != "" {
		fault = strconv.Quote(name) + " fails"
	}
	return command{fault: fault, at: c.Args[0].Pos(), end: c.Args[len(c.Args)-1].End()}, true
}

// harmless tells whether a statement only says something: what stands before it
// and || may fail.
func harmless(s *syntax.Stmt) bool {
	c, ok := s.Cmd.(*syntax.CallExpr)
	return ok && len(c.Args) > 0 && slices.Contains([]string{"true", ":", "echo", "printf"}, c.Args[0].Lit())
}
