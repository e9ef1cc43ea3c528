package executor

import (
	"io"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// markVariable holds the marks of all attempts that a process belongs to, the outermost first: a task may itself run an
// engine. A process that left its group and lost its parents is known by it.
const markVariable = "AX_PROCESS_OF"

// usualPath is what a login gives where nothing else is said.
const usualPath = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

// environment is Env with the last of each key, the usual PATH if there is none, and PWD, AX_OUTPUT and the mark. What is
// no "KEY=value" is left as it is: the engine may have inherited it.
func (a *Attempt) environment() []string {
	mark := a.mark()
	if outer := os.Getenv(markVariable); outer != "" {
		mark = outer + " " + mark
	}
	env := make([]string, 0, len(a.Env)+4)
	at := make(map[string]int, len(a.Env)+4)
	put := func(entry string) {
		key, _, _ := strings.Cut(entry, "=")
		if i, there := at[key]; there {
			env[i] = entry
			return
		}
		at[key] = len(env)
		env = append(env, entry)
	}
	for _, entry := range a.Env {
		put(entry)
	}
	if _, there := at["PATH"]; !there {
		put("PATH=" + usualPath)
	}
	put("PWD=" + a.Dir) // the engine's would mislead programs that trust it
	put("AX_OUTPUT=" + a.outputPath())
	put(markVariable + "=" + mark)
	return env
}

// mark names the attempt in the environment of its processes; it has no space.
func (a *Attempt) mark() string {
	var origin string
	if a.Origin != "" {
		origin = a.Origin + "/"
	}
	return origin + url.PathEscape(a.RunID) + "/" + url.PathEscape(a.Task) + "/" + strconv.Itoa(a.Number)
}

// scratchFile is a path in Scratch that no other attempt of the run has. Ids of tasks are safe in file names; what is
// not is escaped.
func (a *Attempt) scratchFile(kind string) string {
	return filepath.Join(a.Scratch, url.PathEscape(a.Task)+"."+strconv.Itoa(a.Number)+"."+kind)
}

func (a *Attempt) outputPath() string { return a.scratchFile("output") }

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
