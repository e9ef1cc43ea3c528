package lint

import (
	"bufio"
	"fmt"
	"io"
	"strings"

	"github.com/ax-scheduler/ax/dsl"
)

// WriteGitHub prints diagnostics as workflow commands of GitHub Actions, one a
// line, which become annotations of a pull request. (GitHub Docs, "Workflow
// commands for GitHub Actions": data escapes %, CR and LF, properties also : and
// the comma.)
func WriteGitHub(w io.Writer, ds dsl.Diagnostics) error {
	b := bufio.NewWriter(w)
	for _, d := range ds {
		command := [...]string{dsl.Error: "error", dsl.Warning: "warning", dsl.Info: "notice"}[d.Severity]
		fmt.Fprintf(b, "::%s file=%s", command, githubProperty.Replace(d.File))
		if d.Pos.Written() {
			fmt.Fprintf(b, ",line=%d,endLine=%d", d.Pos.Line, d.End.Line)
			if d.End.Line == d.Pos.Line { // columns are for places in one line only; the last one is part of it
				fmt.Fprintf(b, ",col=%d,endColumn=%d", d.Pos.Col, max(d.End.Col-1, d.Pos.Col))
			}
		}
		message := d.Message
		if d.Hint != "" {
			message += "\nhelp: " + d.Hint
		}
		fmt.Fprintf(b, ",title=%s::%s\n", githubProperty.Replace("ax lint: "+d.Rule), githubData.Replace(message))
	}
	return b.Flush()
}

var (
	githubData     = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A")
	githubProperty = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A", ":", "%3A", ",", "%2C")
)
