package trigger

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"strings"

	"github.com/ax-scheduler/ax/dsl"
)

// ReadDates reads a file with a date a line; # begins a comment. Errors name the
// file and the line.
func ReadDates(path string) ([]dsl.Date, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var dates []dsl.Date
	lines := bufio.NewScanner(bytes.NewReader(text))
	for n := 1; lines.Scan(); n++ {
		line, _, _ := strings.Cut(lines.Text(), "#")
		if line = strings.TrimSpace(line); line == "" {
			continue
		}
		date, err := dsl.ParseDate(line)
		if err != nil {
			return nil, fmt.Errorf("%s:%d: %w", path, n, err)
		}
		dates = append(dates, date)
	}
	return dates, lines.Err()
}
