package expression

import (
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/ax-scheduler/ax/dsl"
)

func TestWhatIsNotContestedIsReadTheSameByBash(t *testing.T) {
	piece := rapid.SampledFrom([]string{
		"echo", "grep -v", "x=", "a-b", "${{ x }}", "${{ params.a-b }}", "$y", "$", "\"", "'", "\\", " ", "\n", " | ", "; ", " && ", " > f", " < f", " 2>f ",
		"#", "*", "?", "~", "%", "@", ",", "if ", "then ", "fi", "for i in ", "do ", "done", "while ", "case ", "esac", "unset ", "eval ", "sh -c ", "-eq", "+=", "[", "(",
	})
	same := 0
	rapid.Check(t, func(r *rapid.T) {
		text := strings.Join(rapid.SliceOfN(piece, 1, 12).Draw(r, "pieces"), "")
		list, unclosed := dsl.Expressions(text)
		if len(list) == 0 || unclosed >= 0 || contested(text, list) {
			return
		}
		posix, fault := new(Reader).treeFor(Sh.variant(), text, list)
		if fault != nil {
			return
		}
		bash, fault := new(Reader).treeFor(Bash.variant(), text, list)
		if fault != nil {
			return // then sh is not bash, and nothing comes of it
		}
		same++
		if a, b := new(Reader).look(posix, text, list), new(Reader).look(bash, text, list); !reflect.DeepEqual(a, b) {
			r.Errorf("%q: sh has %v, bash %v", text, a, b)
		}
	})
	if same == 0 {
		t.Error("nothing was compared")
	}
}
