package main

import (
	"testing"
	"time"
)

func TestHowSoonARunStartsIsToldInFewWords(t *testing.T) {
	for _, c := range []struct {
		d    time.Duration
		want string
	}{
		{2*time.Hour - time.Second, "in 2h"},
		{90 * time.Minute, "in 1h30m"},
		{59*time.Second + 900*time.Millisecond, "in 1m"},
		{time.Millisecond, "in 1s"},
		{48*time.Hour - time.Second, "in 2d"},
		{27 * time.Hour, "in 1d3h"},
	} {
		if got := ahead(c.d); got != c.want {
			t.Errorf("%s is %q, want %q", c.d, got, c.want)
		}
	}
}
