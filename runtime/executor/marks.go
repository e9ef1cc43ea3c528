package executor

import (
	"io"
	"net/url"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// mark names the attempt in the environment of its processes; it has no space.
func (a *Attempt) mark() string { return markOf(a.RunID, a.Task, a.Number) }

func markOf(runID, task string, number int) string {
	return url.PathEscape(runID) + "/" + url.PathEscape(task) + "/" + strconv.Itoa(number)
}

// scratchFile is a path in Scratch that no other attempt of the run has. Ids of tasks are safe in file names; what is
// not is escaped.
func (a *Attempt) scratchFile(kind string) string {
	return filepath.Join(a.Scratch, url.PathEscape(a.Task)+"."+strconv.Itoa(a.Number)+"."+kind)
}

func (a *Attempt) outputPath() string { return a.scratchFile("output") }

// envKey is the name in "KEY=value".
func envKey(entry string) (string, bool) {
	i := strings.IndexByte(entry, '=')
	if i <= 0 {
		return "", false
	}
	return entry[:i], true
}

// lookupEnv returns the value of the last entry with the key.
func lookupEnv(env []string, key string) string {
	for _, entry := range slices.Backward(env) {
		if value, ok := strings.CutPrefix(entry, key+"="); ok {
			return value
		}
	}
	return ""
}

// masked is text as the filter lets it through.
func (a *Attempt) masked(text string) string {
	if a.Filter == nil || text == "" {
		return text
	}
	var out strings.Builder
	w := a.Filter(&out)
	_, errWrite := io.WriteString(w, text)
	if errClose := w.Close(); errWrite != nil || errClose != nil {
		return "(not shown: the filter failed)"
	}
	return out.String()
}
