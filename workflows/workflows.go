// Package workflows carries the pipelines that ship with ax, with their scripts and their data, so that ax init can
// write them to a folder where they run as they are. It holds files and nothing else: it must not import another package
// of ax, and nothing in it reads or checks a workflow.
package workflows

import "embed"

// Files is the folder as ax init writes it: the workflow files (*.yaml) at its root, data under data, and the scripts
// that tasks share under scripts. Paths inside the workflow files are relative to that root.
//
//go:embed *.yaml data scripts
var Files embed.FS
