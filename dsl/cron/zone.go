package cron

import (
	_ "embed"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"
	_ "time/tzdata" // a bare image has no zone files

	"github.com/ax-scheduler/ax/dsl"
)

// zoneNames lists the zones in time/tzdata, one a line, sorted; TestZoneList keeps it so.
//
//go:embed zones.txt
var zoneNames string

// zones holds what LoadZone has loaded, by name. It is bounded by the list of names.
var zones sync.Map

// LoadZone returns the zone of an IANA name, such as "Europe/Berlin", "UTC" or "Asia/Shanghai". Names are known from a
// list in the binary, so that a file is right or wrong alike on every machine; the rules of a zone are the system's
// where it has them, since those may be newer, and otherwise those of time/tzdata. The empty name, "Local", paths and
// what else is not on the list are refused by an *[Error] of kind UnknownZone that spans the name.
func LoadZone(name string) (*time.Location, error) {
	if loc, ok := zones.Load(name); ok {
		return loc.(*time.Location), nil
	}
	if e := refused(name); e != nil {
		return nil, e
	}
	loc, err := time.LoadLocation(name)
	if err != nil {
		return nil, badZone(name, "", "time zone %q cannot be loaded: %v", name, err)
	}
	kept, _ := zones.LoadOrStore(name, loc)
	return kept.(*time.Location), nil
}

const zoneHint = `use an IANA name such as "UTC" or "Asia/Shanghai"`

func badZone(name, hint, format string, args ...any) *Error {
	return &Error{Width: len(name), Kind: UnknownZone, Message: fmt.Sprintf(format, args...), Hint: hint}
}

// refused says why a name is not one of a zone; nil if it is.
func refused(name string) *Error {
	switch {
	case name == "":
		return badZone(name, zoneHint, "empty time zone")
	case strings.EqualFold(name, "local"):
		return badZone(name, zoneHint, "time zone %q means another one on every machine", name)
	case strings.HasPrefix(name, "/"), strings.HasPrefix(name, "."), strings.Contains(name, ".."), strings.Contains(name, `\`):
		return badZone(name, zoneHint, "time zone %s is a path, not a name", quote(name))
	}
	if !strings.Contains(name, "\n") && strings.Contains("\n"+zoneNames, "\n"+name+"\n") {
		return nil
	}
	return badZone(name, suggestZone(name), "unknown time zone %s", quote(name))
}

// Zones lists the names of all time zones, sorted.
func Zones() []string { return strings.Fields(zoneNames) }

// suggestZone returns a hint for a name that is not on the list.
func suggestZone(name string) string {
	form := regexp.MustCompile(`^(?i:utc|gmt)?([+-])(\d\d?)(?::?00)?$`) // here, for it costs nothing where names are right
	if m := form.FindStringSubmatch(name); m != nil {
		if zone := fixedZone(m[1], m[2]); zone != "" {
			return fmt.Sprintf("use the zone of a place, such as \"Asia/Shanghai\", or %q, whose sign is turned round", zone)
		}
	}
	typed := folded(name)
	names := Zones()
	keys := make([]string, len(names))
	byKey := make(map[string]string, len(names))
	for i, n := range names {
		keys[i] = folded(n)
		byKey[keys[i]] = n
		if keys[i] == typed {
			return dsl.DidYouMean(n)
		}
	}
	for i, n := range names {
		if typed != "" && strings.HasSuffix(keys[i], "/"+typed) {
			return dsl.DidYouMean(n)
		}
	}
	const telling = 5 // "PST" is no misspelt "EST"
	if near := dsl.Nearest(typed, keys); near != "" && len(typed) >= telling {
		return dsl.DidYouMean(byKey[near])
	}
	return zoneHint
}

// fixedZone returns the zone of a whole number of hours east (+) of UTC, empty if there is none. POSIX, and with it
// the Etc zones, count hours west.
func fixedZone(sign, hours string) string {
	n, _ := strconv.Atoi(hours)
	turned := map[string]string{"+": "-", "-": "+"}[sign]
	zone := fmt.Sprintf("Etc/GMT%s%d", turned, n)
	if !strings.Contains(zoneNames, "\n"+zone+"\n") {
		return ""
	}
	return zone
}

// folded leaves out what people get wrong in the names of zones: case, and how words are joined.
func folded(name string) string {
	return strings.NewReplacer("_", "", "-", "", " ", "").Replace(strings.ToLower(name))
}
