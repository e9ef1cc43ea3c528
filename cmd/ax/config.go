package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/ax-scheduler/ax/dsl"
)

// configKeys are the keys of ax.yaml, each named like its flag.
var configKeys = []string{"data", "max_parallel", "pools", "retention_age", "retention_runs", "smtp_addr", "smtp_from", "synchronous", "timezone"}

// readConfig reads ax.yaml beside the workflows folder: a value for each flag
// that it names, as text. Where there is no such file there are no values.
func readConfig(workflows string) (map[string]string, error) {
	path := filepath.Join(filepath.Dir(filepath.Clean(workflows)), "ax.yaml")
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	fields, err := dsl.ParseFlat(path, text, "pools")
	if err != nil {
		return nil, err
	}
	values := map[string]string{}
	var pools []string
	for _, f := range fields {
		if pool, ok := strings.CutPrefix(f.Name.V, "pools."); ok {
			if n, err := strconv.Atoi(f.Value.V); err != nil || n < 1 {
				return nil, fmt.Errorf("%s:%d:%d: pool %q has %q slots: it is a number of at least 1", path, f.Value.Pos.Line, f.Value.Pos.Col, pool, f.Value.V)
			}
			pools = append(pools, pool+"="+f.Value.V)
			continue
		}
		if !slices.Contains(configKeys, f.Name.V) {
			return nil, fmt.Errorf("%s:%d:%d: unknown key %q%s", path, f.Name.Pos.Line, f.Name.Pos.Col, f.Name.V, didYouMean(f.Name.V))
		}
		values[strings.ReplaceAll(f.Name.V, "_", "-")] = f.Value.V
	}
	if len(pools) > 0 {
		values["pools"] = strings.Join(pools, ",")
	}
	return values, nil
}

func didYouMean(key string) string {
	if near := dsl.Nearest(key, configKeys); near != "" {
		return fmt.Sprintf(": did you mean %q?", near)
	}
	return ": known are " + strings.Join(configKeys, ", ")
}
