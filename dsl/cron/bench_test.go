package cron

import (
	"testing"
	"time"
)

func BenchmarkNext(b *testing.B) {
	from := time.Date(2026, time.March, 3, 10, 20, 30, 0, time.UTC)
	for _, c := range []struct{ name, text, zone string }{
		{"daily UTC", "30 2 * * *", "UTC"},
		{"quarter hours UTC", "*/15 * * * *", "UTC"},
		{"leap day UTC", "0 0 29 2 *", "UTC"},
		{"daily New York", "30 2 * * *", "America/New_York"},
		{"quarter hours New York", "*/15 * * * *", "America/New_York"},
		{"yearly New York", "0 0 1 1 *", "America/New_York"},
		{"leap day New York", "*/5 0 29 2 *", "America/New_York"},
		{"daily Shanghai", "30 2 * * *", "Asia/Shanghai"},
		{"never Shanghai", "30 2 30 2 *", "Asia/Shanghai"},
	} {
		e, loc := mustParse(b, c.text), mustZone(b, c.zone)
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				e.Next(from, loc)
			}
		})
	}
}

func BenchmarkPrev(b *testing.B) {
	from := time.Date(2026, time.March, 3, 10, 20, 30, 0, time.UTC)
	e, loc := mustParse(b, "30 2 * * *"), mustZone(b, "America/New_York")
	for b.Loop() {
		e.Prev(from, loc)
	}
}

func BenchmarkParse(b *testing.B) {
	for b.Loop() {
		if _, err := Parse("TZ=Europe/Berlin 30 2 * * mon-fri"); err != nil {
			b.Fatal(err)
		}
	}
}
