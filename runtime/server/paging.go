package server

import (
	"strconv"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/ax-scheduler/ax/store"
)

// Part is which part of a list is asked for.
type Part struct {
	Limit  int    `query:"limit" default:"100" doc:"of items; outside of 1 to 1000 it is brought into it"`
	Cursor string `query:"cursor" maxLength:"512" doc:"next_cursor of the part before"`
}

// LongPart is Part for lists whose length people choose, as that of the
// workflows: they come as a whole, where it is not very long, unless a limit says
// less.
type LongPart struct {
	Limit  int    `query:"limit" default:"1000" doc:"of items; outside of 1 to 1000 it is brought into it"`
	Cursor string `query:"cursor" maxLength:"512" doc:"next_cursor of the part before"`
}

func (p Part) most() int     { return min(max(p.Limit, 1), store.MaxLimit) }
func (p LongPart) most() int { return Part(p).most() }

// badCursor answers a cursor that is of no list.
func badCursor() error {
	return huma.Error400BadRequest("the cursor is none that this server gave")
}

// momentCursor is the cursor of a list by a time and a text.
func momentCursor(at time.Time, text string) string {
	micros := ""
	if !at.IsZero() {
		micros = strconv.FormatInt(at.UnixMicro(), 10)
	}
	return micros + " " + text
}

// moment reads the cursor of a list by a time and a text.
func moment(cursor string) (at time.Time, text string, err error) {
	micros, text, ok := strings.Cut(cursor, " ")
	if !ok {
		return at, "", badCursor()
	}
	if micros == "" {
		return at, text, nil
	}
	n, err := strconv.ParseInt(micros, 10, 64)
	if err != nil {
		return at, "", badCursor()
	}
	return time.UnixMicro(n), text, nil
}

// number reads the cursor of a list by number, from 1; 0 is none.
func number(cursor string) (int64, error) {
	if cursor == "" {
		return 0, nil
	}
	n, err := strconv.ParseInt(cursor, 10, 64)
	if err != nil || n < 1 {
		return 0, badCursor()
	}
	return n, nil
}
