package main

import (
	"fmt"
	"net"
	"os"

	"github.com/spf13/cobra"

	"github.com/ax-scheduler/ax/runtime/executor"
)

// engineDescriptor is where a supervisor finds the connection to its engine.
const engineDescriptor = 3

// supervisor gives the path and the argv with which this program supervises
// tasks: on Linux also where its file has been replaced by a newer one meanwhile.
func supervisor() ([]string, error) {
	const self = "/proc/self/exe"
	path, err := os.Executable()
	if _, missing := os.Lstat(self); missing == nil {
		path, err = self, nil
	}
	return []string{path, "ax", "supervise"}, err
}

// superviseCommand is what `ax serve` starts beside itself, so that tasks
// outlive it. It reads neither variables nor ax.yaml.
func superviseCommand() *cobra.Command {
	return &cobra.Command{
		Use:               "supervise NAME",
		Hidden:            true,
		Args:              cobra.ExactArgs(1),
		PersistentPreRunE: func(*cobra.Command, []string) error { return nil },
		RunE: func(_ *cobra.Command, args []string) error {
			f := os.NewFile(engineDescriptor, "engine")
			conn, err := net.FileConn(f)
			if err != nil {
				return fmt.Errorf("ax supervise is started by ax serve, not by hand: %w", err)
			}
			f.Close() // FileConn made a copy
			return executor.Supervise(".", args[0], conn)
		},
	}
}
