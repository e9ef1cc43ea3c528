package cron_test

import (
	"fmt"
	"time"

	"github.com/ax-scheduler/ax/dsl/cron"
)

// On the last Sunday of March the clocks of Berlin go from 02:00 to 03:00.
func ExampleExpr_Next() {
	e, err := cron.Parse("30 2 * * *")
	if err != nil {
		fmt.Println(err)
		return
	}
	berlin, err := cron.LoadZone("Europe/Berlin")
	if err != nil {
		fmt.Println(err)
		return
	}
	at := time.Date(2027, time.March, 26, 12, 0, 0, 0, time.UTC)
	for range 3 {
		at = e.Next(at, berlin)
		fmt.Println(at.Format(time.RFC3339))
	}
	// Output:
	// 2027-03-27T02:30:00+01:00
	// 2027-03-28T03:00:00+02:00
	// 2027-03-29T02:30:00+02:00
}

func ExampleParse_error() {
	text := "0 9-3 * * *"
	_, err := cron.Parse(text)
	if e, ok := err.(*cron.Error); ok {
		fmt.Println(text[e.Offset : e.Offset+e.Width])
		fmt.Println(e.Message)
		fmt.Println(e.Hint)
	}
	// Output:
	// 9-3
	// range "9-3" in the hour field runs backwards
	// write "9-23,0-3"
}

func ExampleExpr_DSTGap() {
	e, _ := cron.Parse("TZ=America/Santiago @daily")
	from := time.Date(2026, time.June, 1, 0, 0, 0, 0, time.UTC)
	gap, ok := e.DSTGap(e.Location(time.UTC), from, 2)
	fmt.Println(ok, gap.Skipped.Format("2006-01-02 15:04"), gap.Fires.Format(time.RFC3339))
	// Output:
	// true 2026-09-06 00:00 2026-09-06T01:00:00-03:00
}
