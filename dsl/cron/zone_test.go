package cron

import (
	"archive/zip"
	"errors"
	"flag"
	"go/build"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

var update = flag.Bool("update", false, "write zones.txt anew from the zones of this Go release")

// goZones is the archive that time/tzdata is made from.
var goZones = filepath.Join(build.Default.GOROOT, "lib", "time", "zoneinfo.zip")

// TestMain makes the tests see the zones that are in the binary, not those of the machine. Their form differs as well:
// there the general rule of a zone takes over early, where the files of many systems list each change up to 2037.
func TestMain(m *testing.M) {
	if _, err := os.Stat(goZones); err == nil && os.Getenv("ZONEINFO") == "" {
		os.Setenv("ZONEINFO", goZones)
	}
	m.Run()
}

// The list must be that of time/tzdata.
func TestZoneListIsThatOfTheGoRelease(t *testing.T) {
	archive, err := zip.OpenReader(goZones)
	if errors.Is(err, fs.ErrNotExist) {
		t.Skip("this Go tree has no archive of zones")
	}
	if err != nil {
		t.Fatal(err)
	}
	defer archive.Close()
	var names []string
	for _, f := range archive.File {
		if !f.FileInfo().IsDir() && f.Name != "Factory" { // which stands for a zone not set
			names = append(names, f.Name)
		}
	}
	slices.Sort(names)
	want := strings.Join(names, "\n") + "\n"
	if *update {
		if err := os.WriteFile("zones.txt", []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if want != zoneNames {
		t.Error("zones.txt is not the list of this Go release, run the tests of this package with -update")
	}
}

func TestEveryZoneOfTheListLoads(t *testing.T) {
	for _, name := range Zones() {
		if loc := mustZone(t, name); loc.String() != name {
			t.Errorf("LoadZone(%q) is %v", name, loc)
		}
	}
}

func TestLoadZoneGivesOneZoneToAll(t *testing.T) {
	var wg sync.WaitGroup
	got := make([]*time.Location, 8)
	for i := range got {
		wg.Go(func() { got[i], _ = LoadZone("Europe/Berlin") })
	}
	wg.Wait()
	for _, loc := range got {
		if loc == nil || loc != got[0] {
			t.Fatalf("got %v", got)
		}
	}
	if loc := mustZone(t, "UTC"); loc != time.UTC {
		t.Errorf("UTC is another zone than time.UTC: %v", loc)
	}
}

func TestLoadZoneRefusesWithARemedy(t *testing.T) {
	for _, c := range []struct{ name, message, hint string }{
		{"", "empty time zone", "IANA"},
		{"Local", "every machine", "IANA"},
		{"local", "every machine", "IANA"},
		{"/usr/share/zoneinfo/UTC", "path", "IANA"},
		{"../UTC", "path", "IANA"},
		{"Europe/../UTC", "path", "IANA"},
		{`Europe\Berlin`, "path", "IANA"},
		{"Europe", "unknown", "IANA"},
		{"Europe/Berlin ", "unknown", `"Europe/Berlin"`},
		{"Europe/Berlin\nEurope/Bratislava", "unknown", ""},
		{"posix/Europe/Berlin", "unknown", ""},
		{"right/Europe/Berlin", "unknown", ""},
		{"Factory", "unknown", ""},
		{"zone.tab", "unknown", ""},
		{"europe/berlin", "unknown", `did you mean "Europe/Berlin"?`},
		{"utc", "unknown", `did you mean "UTC"?`},
		{"Europe/Berln", "unknown", `did you mean "Europe/Berlin"?`},
		{"Amercia/New_York", "unknown", `did you mean "America/New_York"?`},
		{"America/New York", "unknown", `did you mean "America/New_York"?`},
		{"Asia/Shanhai", "unknown", `did you mean "Asia/Shanghai"?`},
		{"Shanghai", "unknown", `did you mean "Asia/Shanghai"?`},
		{"new_york", "unknown", `did you mean "America/New_York"?`},
		{"Asia/Beijing", "unknown", `"Asia/Shanghai"`},
		{"PST", "unknown", "IANA"},
		{"UTC+8", "unknown", `"Etc/GMT-8"`},
		{"GMT-03:00", "unknown", `"Etc/GMT+3"`},
		{"+0800", "unknown", `"Etc/GMT-8"`},
		{"+99", "unknown", "IANA"},
		{strings.Repeat("x", 100000), "…", "IANA"},
	} {
		_, err := LoadZone(c.name)
		var e *Error
		if !errors.As(err, &e) {
			t.Errorf("LoadZone(%.40q) gave %v, want an *Error", c.name, err)
			continue
		}
		if e.Kind != UnknownZone || e.Offset != 0 || e.Width != len(c.name) {
			t.Errorf("LoadZone(%.40q): kind %d at %d, %d wide", c.name, e.Kind, e.Offset, e.Width)
		}
		if !strings.Contains(e.Message, c.message) || !strings.Contains(e.Hint, c.hint) || e.Hint == "" || len(e.Message) > 200 {
			t.Errorf("LoadZone(%.40q) says %q, hint %q, want %q and %q in them", c.name, e.Message, e.Hint, c.message, c.hint)
		}
	}
}

// What Next and Prev rely on, through the days on which time.Time.ZoneBounds is wrong.
func TestAPeriodHasOneOffsetUpToItsEnd(t *testing.T) {
	const day = 24 * hour
	from := time.Date(1840, time.January, 1, 0, 0, 0, 0, time.UTC).Unix()
	to := time.Date(2110, time.January, 1, 0, 0, 0, 0, time.UTC).Unix()
	for i, name := range Zones() {
		if i%10 != 0 && !*exhaustive {
			continue
		}
		loc := mustZone(t, name)
		for at := from; at < to; {
			p := periodAt(at, loc)
			if p.end <= at {
				t.Fatalf("%s: the period at %d ends at %d", name, at, p.end)
			}
			for ; at < min(p.end, to); at += day {
				if q := periodAt(at, loc); q != p || offsetAt(at, loc) != p.offset {
					t.Fatalf("%s: at %d: period %+v in the middle of %+v", name, at, q, p)
				}
			}
			if q := periodAt(p.end-1, loc); at < to && q != p {
				t.Fatalf("%s: %+v ends as %+v", name, p, q)
			}
			at = p.end
		}
	}
}
