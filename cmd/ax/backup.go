package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/spf13/cobra"

	"github.com/ax-scheduler/ax/store"
	"github.com/ax-scheduler/ax/store/sqlite"
)

func backupCommand(g *globals) *cobra.Command {
	return &cobra.Command{
		Use:   "backup FILE",
		Short: "copy the database, as it stands at one moment, into a new file",
		Long: `Copy the database, as it stands at one moment, into a new file, whole or not at all. An ax
may go on serving and running meanwhile. To restore it, stop ax and put the file in the place of
ax.db in the data folder; a log ax.db-wal that a killed ax has left there belongs to the former
database, and the next ax puts it aside. Logs and artifacts are plain files in the data folder:
copy these with any tool.`,
		Example: "  ax backup /backups/ax-$(date +%F).db",
		Args:    exactly("FILE"),
		RunE: func(cmd *cobra.Command, args []string) error {
			err := sqlite.Backup(cmd.Context(), g.databasePath(), args[0])
			switch {
			case errors.Is(err, fs.ErrExist):
				return fmt.Errorf("%s is there already: name a file that is not", args[0])
			case errors.Is(err, store.ErrNotFound):
				return exit{exitFailed, fmt.Errorf("%s holds no database", g.data)}
			case err != nil:
				return exit{exitFailed, err}
			}
			info, err := os.Stat(args[0])
			if err != nil {
				return exit{exitFailed, err}
			}
			fmt.Fprintf(g.stdout, "%s: %d bytes\n", args[0], info.Size())
			return nil
		},
	}
}
