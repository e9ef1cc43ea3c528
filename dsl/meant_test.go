package dsl

import (
	"strconv"
	"testing"
)

func TestAWrongNameIsAnsweredWithTheNamesThatThereAre(t *testing.T) {
	var many []string
	for i := range 12 {
		many = append(many, "n"+strconv.Itoa(i))
	}
	for _, c := range []struct {
		name  string
		known []string
		want  string
	}{
		{"regoin", []string{"day", "region"}, `did you mean "region"?`},
		{"speed", []string{"day", "region"}, "there are day, region"},
		{"speed", nil, "there are none"},
		{"speed", many, "there are n0, n1, n2, n3, n4, n5, n6, n7, n8, n9 and 2 more"},
	} {
		if got := Meant(c.name, c.known); got != c.want {
			t.Errorf("%q among %q: %s, want %s", c.name, c.known, got, c.want)
		}
	}
}
