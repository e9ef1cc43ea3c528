package workflows

import (
	"bytes"
	"encoding/csv"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// unpack writes the shipped files to a fresh folder, as ax init does, and returns it.
func unpack(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.CopyFS(dir, Files); err != nil {
		t.Fatal(err)
	}
	return dir
}

// edit replaces old by new, once, in one unpacked file.
func edit(t *testing.T, file, old, new string) {
	t.Helper()
	text := read(t, file)
	if !strings.Contains(text, old) {
		t.Fatalf("no %q in %s", old, filepath.Base(file))
	}
	if err := os.WriteFile(file, []byte(strings.Replace(text, old, new, 1)), 0o600); err != nil {
		t.Fatal(err)
	}
}

func read(t *testing.T, elem ...string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(elem...))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// records reads an embedded table without its header.
func records(t *testing.T, name string, comma rune) [][]string {
	t.Helper()
	f, err := Files.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	r := csv.NewReader(f)
	r.Comma = comma
	rows, err := r.ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	return rows[1:]
}

// succeed fails the test, with what the tasks printed, unless the run succeeded without a warning.
func succeed(t *testing.T, r result) {
	t.Helper()
	if r.state != "succeeded" {
		t.Fatalf("the run is %q: %v\n%v", r.state, r.states, r.logs)
	}
	for id, state := range r.states {
		if state != "succeeded" {
			t.Fatalf("task %q is %q; it printed:\n%s", id, state, r.logs[id])
		}
	}
}

// wantStates compares the tasks that were not skipped.
func wantStates(t *testing.T, r result, want map[string]string) {
	t.Helper()
	for id, state := range r.states {
		if want[id] != state {
			t.Errorf("task %q is %q, want %q; it printed:\n%s", id, state, want[id], r.logs[id])
		}
	}
	for id := range want {
		if r.states[id] == "" {
			t.Errorf("task %q did not run", id)
		}
	}
}

func wantInLog(t *testing.T, r result, id string, texts ...string) {
	t.Helper()
	for _, text := range texts {
		if !strings.Contains(r.logs[id], text) {
			t.Errorf("task %q printed:\n%swant %q in it", id, r.logs[id], text)
		}
	}
}

// files maps each file below dir to what it holds.
func files(t *testing.T, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := fs.WalkDir(os.DirFS(dir), ".", func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			all[path] = read(t, dir, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func wantSameFiles(t *testing.T, got, want map[string]string) {
	t.Helper()
	for path := range want {
		if _, ok := got[path]; !ok {
			t.Errorf("%s is missing", path)
		}
	}
	for path, text := range got {
		if w, ok := want[path]; !ok {
			t.Errorf("%s is new", path)
		} else if text != w {
			line := 0
			got, want := strings.Split(text, "\n"), strings.Split(w, "\n")
			for line < min(len(got), len(want))-1 && got[line] == want[line] {
				line++
			}
			t.Errorf("%s differs in line %d: %q, want %q", path, line+1, got[line], want[line])
		}
	}
}

func TestShippedFilesAreTheFolderAndEndTheirLinesWithLF(t *testing.T) {
	for path, text := range files(t, unpack(t)) {
		if text != read(t, path) {
			t.Errorf("%s differs from what is embedded", path)
		}
		if !strings.HasSuffix(text, "\n") || strings.Contains(text, "\r") {
			t.Errorf("%s has a line that does not end in LF alone", path)
		}
	}
}

func TestRunsWriteNothingBesideTheWorkflow(t *testing.T) {
	dir := unpack(t)
	before := files(t, dir)
	succeed(t, runPipeline(t, filepath.Join(dir, "seattle-weather.yaml"), "2018-02-03"))
	succeed(t, runPipeline(t, filepath.Join(dir, "quakes-nightly.yaml"), "2018-02-03"))
	wantSameFiles(t, files(t, dir), before)
}

// Which awk and which sh a machine has cannot be known, so every one that this machine has must make the same files.
func TestResultsAreTheSameWithEveryAwkAndShell(t *testing.T) {
	pipelines := []string{"seattle-weather.yaml", "quakes-nightly.yaml"}
	want := map[string]map[string]string{}
	for _, file := range pipelines {
		r := runPipeline(t, file, "2018-02-03")
		succeed(t, r)
		want[file] = files(t, r.artifacts)
	}
	for tool, names := range map[string][]string{
		"awk": {"mawk", "gawk", "original-awk", "bwk", "goawk", "busybox"},
		"sh":  {"dash", "bash", "mksh", "ksh", "yash", "busybox"},
	} {
		for _, name := range names {
			path, err := exec.LookPath(name)
			if err != nil {
				continue
			}
			t.Run(name+" as "+tool, func(t *testing.T) {
				bin := t.TempDir()
				if err := os.Symlink(path, filepath.Join(bin, tool)); err != nil {
					t.Fatal(err)
				}
				t.Setenv("PATH", bin+string(os.PathListSeparator)+os.Getenv("PATH"))
				for _, file := range pipelines {
					r := runPipeline(t, file, "2018-02-03")
					succeed(t, r)
					wantSameFiles(t, files(t, r.artifacts), want[file])
				}
			})
		}
	}
}

func TestScriptsAreShellThatParses(t *testing.T) {
	scripts, err := fs.Glob(Files, "scripts/*.sh")
	if err != nil || len(scripts) == 0 {
		t.Fatalf("no scripts: %v", err)
	}
	for _, path := range scripts {
		if out, err := exec.CommandContext(t.Context(), "sh", "-n", path).CombinedOutput(); err != nil {
			t.Errorf("%s: %v\n%s", path, err, bytes.TrimSpace(out))
		}
	}
}
