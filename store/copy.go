package store

import (
	"slices"
	"strings"
	"time"
	"unicode/utf8"
)

// Copies share nothing with their originals and have the form in which records
// come out of every store.

func copyVersion(v Version) Version {
	v.Text = copySlice(v.Text)
	v.Tasks = copyTexts(v.Tasks)
	v.CreatedAt = copyTime(v.CreatedAt)
	return v
}

func copyRun(r Run) Run {
	r.Params = copyMap(r.Params)
	r.Only = copyTexts(r.Only)
	for _, t := range []*time.Time{&r.ScheduledFor, &r.IntervalFrom, &r.IntervalTo, &r.NotBefore, &r.Turn, &r.CreatedAt, &r.StartedAt, &r.FinishedAt} {
		*t = copyTime(*t)
	}
	return r
}

func copyTask(t Task) Task {
	t.ExitCode = copyInt(t.ExitCode)
	t.Outputs = copyMap(t.Outputs)
	t.StartedAt = copyTime(t.StartedAt)
	t.FinishedAt = copyTime(t.FinishedAt)
	return t
}

func copyAttempt(a Attempt) Attempt {
	a.ExitCode = copyInt(a.ExitCode)
	a.Warnings = copyTexts(a.Warnings)
	a.StartedAt = copyTime(a.StartedAt)
	a.FinishedAt = copyTime(a.FinishedAt)
	return a
}

func copyTick(t Tick) Tick {
	t.At = copyTime(t.At)
	return t
}

func copyMessage(m Message) Message {
	m.Body = copySlice(m.Body)
	for _, t := range []*time.Time{&m.ScheduledFor, &m.CreatedAt, &m.NextAt} {
		*t = copyTime(*t)
	}
	return m
}

func copyPause(p Pause) Pause {
	p.Since = copyTime(p.Since)
	if !p.Until.IsZero() {
		p.Until = copyTime(p.Until)
	}
	return p
}

func copyTime(t time.Time) time.Time { return time.UnixMicro(t.UnixMicro()).UTC() }

func copySlice[T any](s []T) []T {
	if len(s) == 0 {
		return nil
	}
	return slices.Clone(s)
}

func copyTexts(s []string) []string {
	s = copySlice(s)
	for i := range s {
		s[i] = validText(s[i])
	}
	return s
}

func copyMap(m map[string]string) map[string]string {
	if len(m) == 0 {
		return nil
	}
	c := make(map[string]string, len(m))
	for k, v := range m {
		c[validText(k)] = validText(v)
	}
	return c
}

func copyInt(i *int) *int {
	if i == nil {
		return nil
	}
	return new(*i)
}

// validText replaces each byte that is not UTF-8, as JSON does, which is how
// maps and lists of strings are stored on disk. (strings.ToValidUTF8 replaces
// a whole row of such bytes by one character.)
func validText(s string) string {
	if utf8.ValidString(s) {
		return s
	}
	return strings.Map(func(r rune) rune { return r }, s)
}
