package trace

import (
	"fmt"
	"net/url"
	"strings"
)

// The variables by which OpenTelemetry is told where traces go, those for traces
// alone before those for all that is sent.
var (
	endpoints = []string{"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT"}
	protocols = []string{"OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "OTEL_EXPORTER_OTLP_PROTOCOL"}
)

// Enabled tells whether an environment ("KEY=value") names a receiver of traces,
// and does not switch them off.
func Enabled(env []string) bool {
	_, receiver := first(env, endpoints)
	_, off := first(env, []string{"OTEL_SDK_DISABLED"})
	_, exporter := first(env, []string{"OTEL_TRACES_EXPORTER"})
	return receiver != "" && !strings.EqualFold(off, "true") && exporter != "none"
}

// check refuses what the exporter would pass over.
func check(env []string) error {
	if name, given := first(env, endpoints); given != "" {
		if u, err := url.Parse(given); err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
			return fmt.Errorf("variable %s: %q is not the address of a receiver, as http://127.0.0.1:4318", name, given)
		}
	}
	if name, given := first(env, protocols); given != "" && given != "http/protobuf" {
		return fmt.Errorf("variable %s: %q: ax sends traces by http/protobuf alone", name, given)
	}
	return nil
}

// first gives the first of some variables that has a value.
func first(env, names []string) (name, value string) {
	for _, name := range names {
		for _, v := range env {
			if text, ok := strings.CutPrefix(v, name+"="); ok && strings.TrimSpace(text) != "" {
				return name, strings.TrimSpace(text)
			}
		}
	}
	return "", ""
}
