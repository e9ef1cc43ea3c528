package executor

import (
	"encoding/csv"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// shownRows and shownWidth are how much of a result is put into the log, in rows, and in characters of one value.
const (
	shownRows  = 20
	shownWidth = 60
)

// table takes the rows of one statement: it keeps the first, counts them, and writes all to a file.
type table struct {
	columns []string
	first   [][]any // at most shownRows
	count   int
	out     func() (rowWriter, error) // begins the file for all rows; nil where nothing is saved
	to      rowWriter                 // that file, from begin on
}

// rowWriter writes rows in one format.
type rowWriter interface {
	begin(columns []string) error
	row(values []any) error
	end() error
}

// begin is told of the columns, once, before the first row.
func (r *table) begin(columns []string) error {
	r.columns = columns
	if r.out == nil {
		return nil
	}
	var err error
	if r.to, err = r.out(); err != nil {
		return err
	}
	return r.to.begin(columns)
}

// row takes one row. Its values are nil, int64, float64, bool, string, json.Number, json.RawMessage, []byte or time.Time,
// and are not changed afterwards.
func (r *table) row(values []any) error {
	r.count++
	if r.count <= shownRows {
		r.first = append(r.first, values)
	}
	if r.to != nil {
		return r.to.row(values)
	}
	return nil
}

// show writes the first rows as a table. Values are masked before they are cut.
func (r *table) show(log io.Writer, masked func(string) string) {
	cells := make([][]string, 0, len(r.first)+1)
	widths := make([]int, len(r.columns))
	add := func(line []string) {
		for i := range line {
			line[i] = cut(plain(line[i]), shownWidth)
			widths[i] = max(widths[i], utf8.RuneCountInString(line[i]))
		}
		cells = append(cells, line)
	}
	add(slices.Clone(r.columns))
	for _, values := range r.first {
		line := make([]string, len(values))
		for i, v := range values {
			if line[i] = "null"; v != nil {
				line[i] = masked(head(cellText(v), 64<<10))
			}
		}
		add(line)
	}
	var b strings.Builder
	for _, line := range cells {
		var row strings.Builder
		for i, text := range line {
			row.WriteString(text + strings.Repeat(" ", widths[i]-utf8.RuneCountInString(text)+2))
		}
		b.WriteString(strings.TrimRight(row.String(), " ") + "\n")
	}
	_, _ = io.WriteString(log, b.String())
	if r.count > len(r.first) {
		say(log, "(%s, the first %d shown)", counted(r.count, "row"), len(r.first))
	} else {
		say(log, "(%s)", counted(r.count, "row"))
	}
}

func counted(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return strconv.Itoa(n) + " " + what + "s"
}

// outputs are the values of a single row, by their columns: those that have a value and a name that an output can have.
func (r *table) outputs(into map[string]string) {
	if r.count != 1 {
		return
	}
	for i, name := range r.columns {
		if v := r.first[0][i]; v != nil && outputKey.MatchString(name) {
			into[name] = cellText(v)
		}
	}
}

// cellText is a value as it stands in a text; nothing is the empty text.
func cellText(v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case string:
		return v
	case int64:
		return strconv.FormatInt(v, 10)
	case bool:
		return strconv.FormatBool(v)
	case float64:
		return floatText(v)
	case json.Number:
		return v.String()
	case json.RawMessage:
		return string(v)
	case []byte:
		return `\x` + hex.EncodeToString(v)
	case time.Time:
		return timeText(v)
	}
	return fmt.Sprint(v)
}

// floatText avoids exponents for numbers of a usual size.
func floatText(f float64) string {
	if a := math.Abs(f); f == 0 || a >= 1e-6 && a < 1e21 {
		return strconv.FormatFloat(f, 'f', -1, 64)
	}
	return strconv.FormatFloat(f, 'g', -1, 64)
}

// timeText is a time as SQLite writes it. Its driver makes times of texts only where a statement returns what it changed.
func timeText(t time.Time) string {
	layout := "2006-01-02 15:04:05.999999999"
	if _, offset := t.Zone(); offset != 0 {
		layout += "-07:00"
	}
	return strings.TrimSuffix(t.Format(layout), " 00:00:00")
}

// csvRows writes RFC 4180 with a header.
type csvRows struct{ w *csv.Writer }

func newCSV(w io.Writer) rowWriter { return csvRows{csv.NewWriter(w)} }

func (c csvRows) begin(columns []string) error { return c.w.Write(columns) }

func (c csvRows) row(values []any) error {
	line := make([]string, len(values))
	for i, v := range values {
		line[i] = cellText(v)
	}
	return c.w.Write(line)
}

func (c csvRows) end() error {
	c.w.Flush()
	return c.w.Error()
}

// jsonRows writes an array of objects, a row a line, keys in the order of the columns.
type jsonRows struct {
	w     io.Writer
	names [][]byte
	any   bool
}

func newJSON(w io.Writer) rowWriter { return &jsonRows{w: w} }

func (j *jsonRows) begin(columns []string) error {
	for i, name := range columns {
		if slices.Contains(columns[:i], name) {
			return fmt.Errorf("two columns are called %q, which JSON cannot tell apart: name one otherwise, with as", name)
		}
		key, err := json.Marshal(name)
		if err != nil {
			return err
		}
		j.names = append(j.names, key)
	}
	_, err := io.WriteString(j.w, "[")
	return err
}

func (j *jsonRows) row(values []any) error {
	line := []byte(",\n{")
	if !j.any {
		line = line[1:]
	}
	j.any = true
	for i, v := range values {
		if i > 0 {
			line = append(line, ", "...)
		}
		line = append(append(line, j.names[i]...), ": "...)
		switch x := v.(type) {
		case []byte, time.Time:
			v = cellText(x)
		case float64:
			if math.IsInf(x, 0) || math.IsNaN(x) {
				v = cellText(x)
			}
		}
		text, err := json.Marshal(v)
		if err != nil {
			return fmt.Errorf("column %s: %w", j.names[i], err)
		}
		line = append(line, text...)
	}
	_, err := j.w.Write(append(line, '}'))
	return err
}

func (j *jsonRows) end() error {
	tail := "]\n"
	if j.any {
		tail = "\n]\n"
	}
	_, err := io.WriteString(j.w, tail)
	return err
}
