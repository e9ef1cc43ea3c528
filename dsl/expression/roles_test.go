package expression

import (
	"slices"
	"strings"
	"testing"

	"mvdan.cc/sh/v3/syntax"
	"pgregory.net/rapid"
)

// codeByDefinition tells whether a word is the script of a shell's -c: a shell
// stands before it, and in between nothing but options, a -c among them.
func codeByDefinition(args []*syntax.Word, at int) bool {
	for i := range at {
		if !isShell(args[i]) {
			continue
		}
		code, next := false, i+1
		for next < at && isOption(args[next]) {
			option := args[next].Lit()
			code = code || !strings.HasPrefix(option, "--") && strings.Contains(option, "c")
			if next++; strings.HasSuffix(option, "o") {
				next++
			}
		}
		if code && next == at {
			return true
		}
	}
	return false
}

func feedsByDefinition(args []*syntax.Word) bool {
	for i, a := range args {
		if isShell(a) && !slices.ContainsFunc(args[i+1:], func(a *syntax.Word) bool { return !isOption(a) }) {
			return true
		}
	}
	return false
}

func commandOf(t interface{ Fatal(...any) }, text string) *syntax.CallExpr {
	file, err := syntax.NewParser().Parse(strings.NewReader(text), "")
	if err != nil {
		t.Fatal(err)
	}
	return file.Stmts[0].Cmd.(*syntax.CallExpr)
}

func TestTheRolesOfWordsAreThoseOfTheDefinition(t *testing.T) {
	words := rapid.SampledFrom([]string{"sh", "/bin/bash", "-c", "-o", "-euo", "-co", "--norc", "--c", "+x", "-x", "env", "pipefail", "a", "$x"})
	rapid.Check(t, func(t *rapid.T) {
		call := commandOf(t, strings.Join(rapid.SliceOfN(words, 1, 9).Draw(t, "words"), " "))
		r := rolesOf(call.Args)
		for at := range call.Args {
			if got, want := r.code != nil && r.code[at], codeByDefinition(call.Args, at); got != want {
				t.Fatalf("word %d is code: %v, want %v", at, got, want)
			}
		}
		if want := feedsByDefinition(call.Args); r.feeds != want {
			t.Fatalf("it reads its input: %v, want %v", r.feeds, want)
		}
	})
}

// The words are taken away after the first look.
func TestACommandIsLookedAtOnceForAllOfItsExpressions(t *testing.T) {
	s := &surveyor{}
	call := commandOf(t, "sh -c true -x")
	first := s.roles(call)
	call.Args = nil
	if again := s.roles(call); again != first || !again.code[2] || again.feeds {
		t.Errorf("the roles are %+v, were %+v", again, first)
	}
	declaration := &syntax.DeclClause{Args: []*syntax.Assign{{Naked: true, Value: &syntax.Word{Parts: []syntax.WordPart{&syntax.Lit{Value: "-i"}}}}}}
	before := s.computes(declaration)
	declaration.Args = nil
	if !before || !s.computes(declaration) {
		t.Error("declare -i computes what is assigned")
	}
}
