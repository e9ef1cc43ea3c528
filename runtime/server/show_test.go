package server

import (
	"testing"
	"time"
)

func TestHowSoonATimeIsIsToldToTheNearestUnit(t *testing.T) {
	for _, c := range []struct {
		d    time.Duration
		want string
	}{
		{2*time.Hour - time.Second, "in 2h"},
		{time.Hour + 29*time.Minute, "in 1h"},
		{59*time.Minute + 40*time.Second, "in 1h"},
		{59*time.Second + 600*time.Millisecond, "in 1m"},
		{1900 * time.Millisecond, "in 2s"},
		{48*time.Hour - time.Second, "in 2d"},
		{-90 * time.Minute, "2h ago"},
		{0, "now"},
	} {
		if got := relative(c.d); got != c.want {
			t.Errorf("%s is %q, want %q", c.d, got, c.want)
		}
	}
}
