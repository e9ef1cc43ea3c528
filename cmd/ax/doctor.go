package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/ax-scheduler/ax/dsl"
	"github.com/ax-scheduler/ax/dsl/cron"
	"github.com/ax-scheduler/ax/runtime"
	"github.com/ax-scheduler/ax/runtime/reload"
	"github.com/ax-scheduler/ax/store"
	"github.com/ax-scheduler/ax/store/sqlite"
)

// finding is one thing that `ax doctor` looked at.
type finding struct {
	Check  string `json:"check"`
	Level  string `json:"level"` // ok, warning, error
	Detail string `json:"detail"`
	Remedy string `json:"remedy"`
}

// doctor gathers findings.
type doctor struct {
	g     *globals
	found []finding
}

func doctorCommand(g *globals) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "look for what would keep ax from working here",
		Long: `Look at the data folder, the database, the workflow files, the clock, zone data, limits and
programs, and tell what is wrong and what to do. The exit code is 1 where something is.`,
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error { return g.doctor(cmd.Context(), asJSON) },
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print a JSON array")
	return cmd
}

func (g *globals) doctor(ctx context.Context, asJSON bool) error {
	d := &doctor{g: g}
	d.folder()
	d.database(ctx)
	d.engines(ctx)
	d.workflows()
	d.clock()
	d.zones(d.settings())
	d.limits()
	d.programs()
	bad := slices.ContainsFunc(d.found, func(f finding) bool { return f.Level == "error" })
	if asJSON {
		if err := g.printJSON(d.found); err != nil {
			return err
		}
	} else if err := d.print(); err != nil {
		return err
	}
	if bad {
		return exit{code: exitFailed}
	}
	return nil
}

func (d *doctor) print() error {
	t := tabwriter.NewWriter(d.g.stdout, 0, 0, 2, ' ', 0)
	for _, f := range d.found {
		detail := strings.Join(strings.Fields(f.Detail), " ") // SQLite tells of damage in several lines
		fmt.Fprintf(t, "%s\t%s\t%s\n", f.Level, f.Check, detail)
		if f.Remedy != "" {
			fmt.Fprintf(t, "\t\t= help: %s\n", f.Remedy)
		}
	}
	return t.Flush()
}

func (d *doctor) ok(check, detail string, args ...any) {
	d.found = append(d.found, finding{check, "ok", fmt.Sprintf(detail, args...), ""})
}

func (d *doctor) warn(check, remedy, detail string, args ...any) {
	d.found = append(d.found, finding{check, "warning", fmt.Sprintf(detail, args...), remedy})
}

func (d *doctor) fail(check, remedy, detail string, args ...any) {
	d.found = append(d.found, finding{check, "error", fmt.Sprintf(detail, args...), remedy})
}

// folder looks at the data folder: whether it can be written, and how full it is.
func (d *doctor) folder() {
	const check = "data folder"
	data, err := filepath.Abs(d.g.data)
	if err != nil {
		d.fail(check, "", "%v", err)
		return
	}
	switch info, err := os.Stat(data); {
	case errors.Is(err, fs.ErrNotExist):
		d.ok(check, "%s is not there yet: the first run makes it", data)
		return
	case err != nil:
		d.fail(check, "see to the permissions of the folder and those above it", "%v", err)
		return
	case !info.IsDir():
		d.fail(check, "name another with --data", "%s is no folder", data)
		return
	}
	f, err := os.CreateTemp(data, ".ax-doctor-*")
	if err == nil {
		err = errors.Join(f.Close(), os.Remove(f.Name()))
	}
	if err != nil {
		d.fail(check, "see to its permissions, and that the file system is not full or read-only", "%s cannot be written: %v", data, err)
		return
	}
	free, total, err := space(data)
	const little = 256 << 20
	switch {
	case err != nil:
		d.warn(check, "", "how much room there is cannot be told: %v", err)
	case free < little:
		d.warn(check, "remove old runs with ax prune, or make room", "%s has %d MiB left", data, free>>20)
	default:
		d.ok(check, "%s, %d of %d GiB left", data, free>>30, total>>30)
	}
}

func (d *doctor) database(ctx context.Context) {
	path := d.g.databasePath()
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return
	}
	if err := sqlite.Check(ctx, path); err != nil {
		d.fail("database", "", "%v", err) // which says what to do
		return
	}
	d.ok("database", "sound")
}

// engines looks for runs that nobody carries out.
func (d *doctor) engines(ctx context.Context) {
	const check = "runs"
	serving, served := runtime.FindServing(d.g.data)
	if served {
		d.ok("server", "process %d serves the data folder at %s", serving.PID, serving.Addr)
	}
	st, err := d.g.openReader()
	if err != nil {
		return // there is no database, or what is wrong with it has been said
	}
	defer st.Close()
	orphans, waiting := 0, 0
	for after := ""; ; {
		runs, err := st.Unfinished(ctx, after, store.MaxLimit)
		if err != nil {
			d.fail(check, "", "%v", err)
			return
		}
		for _, r := range runs {
			if after = r.ID; d.g.orphaned(r) {
				orphans++
			} else if r.Owner == "" {
				waiting++
			}
		}
		if len(runs) < store.MaxLimit {
			break
		}
	}
	const remedy = "start ax serve, which goes on with them, or stop them with ax cancel"
	switch {
	case orphans > 0 && !served:
		d.warn(check, remedy, "%d were left by an ax that has died", orphans)
	case waiting > 0 && !served:
		d.warn(check, remedy, "%d wait for an ax that serves", waiting)
	default:
		d.ok(check, "none is left alone")
	}
}

// workflows looks for files that cannot be read or have errors.
func (d *doctor) workflows() {
	const check = "workflows"
	c, err := reload.Scan(d.g.workflows, nil, time.Now(), 0)
	if err != nil {
		d.fail(check, "see to the permissions of the folder", "%v", err)
		return
	}
	if len(c.Files) == 0 {
		d.warn(check, "write one with ax init, or name the folder with --workflows", "%s holds no workflow", d.g.workflows)
		return
	}
	bad := 0
	for _, f := range c.Files {
		if f.Name == "" {
			bad++
			d.fail(check, "see ax lint "+f.Path, "%s is not loaded: %s", f.Path, firstError(f))
		}
	}
	if bad == 0 {
		d.ok(check, "all files of %s can be loaded: %d", d.g.workflows, len(c.Files))
	}
}

func firstError(f reload.Found) string {
	for _, p := range f.Diagnostics {
		if p.Severity == dsl.Error {
			return fmt.Sprintf("line %d: %s", p.Pos.Line, p.Message)
		}
	}
	return "it has errors"
}

// clock looks whether the time can be right.
func (d *doctor) clock() {
	const check = "clock"
	now := time.Now()
	built, err := os.Executable()
	if err == nil {
		if info, err := os.Stat(built); err == nil && info.ModTime().After(now.Add(time.Hour)) {
			d.fail(check, "set the clock", "it is %s, before this program was written", now.Format(time.RFC3339))
			return
		}
	}
	switch synced, known := clockSynced(); {
	case known && !synced:
		d.warn(check, "start a time service such as chrony or systemd-timesyncd: schedules follow the clock", "the system does not know whether its clock is right")
	default:
		d.ok(check, "%s", now.Format(time.RFC3339))
	}
}

// settings looks at those of ax serve, from the environment and from ax.yaml.
func (d *doctor) settings() (o serveOptions) {
	const check = "settings"
	flags := pflag.NewFlagSet("serve", pflag.ContinueOnError)
	o.flags(flags)
	err := errors.Join(fromEnvironment(flags, d.g.env), fromConfig(flags, d.g.workflows))
	if err == nil {
		err = o.check()
	}
	if err == nil {
		_, err = d.g.tokens(o)
	}
	if err == nil {
		_, err = o.keep.value()
	}
	if err == nil {
		_, err = zoneNamed(o.timezone)
	}
	if err != nil {
		d.fail(check, "mend ax.yaml, or the variable: ax serve does not start with it", "%v", err)
		return o
	}
	d.ok(check, "ax.yaml and the variables named AX_ can be read")
	return o
}

// zones looks whether zone data is there and which zone holds by default.
func (d *doctor) zones(o serveOptions) {
	const check = "time zones"
	for _, name := range []string{"Europe/Berlin", "America/New_York", "Asia/Shanghai"} {
		if _, err := cron.LoadZone(name); err != nil {
			d.fail(check, "unset ZONEINFO", "%v", err)
			return
		}
	}
	if o.timezone != "" {
		d.ok(check, "workflows without timezone follow %s, unless --timezone says otherwise", o.timezone)
		return
	}
	if name := lostZone(); name != "" {
		d.warn(check, "set TZ to a name such as Europe/Berlin, or give --timezone", "TZ is %q, which is no zone: workflows without timezone follow UTC", name)
		return
	}
	d.ok(check, "workflows without timezone follow the clock of this machine (%s), unless --timezone says otherwise", time.Now().Format("MST, -0700"))
}

// lostZone gives the zone that TZ names where there is none of that name: the
// clock of this program is UTC then, without a word. POSIX rules, such as
// CET-1CEST, are not understood either.
func lostZone() string {
	name := strings.TrimPrefix(os.Getenv("TZ"), ":")
	if name == "" {
		return ""
	}
	if filepath.IsAbs(name) {
		text, err := os.ReadFile(name)
		if err == nil {
			_, err = time.LoadLocationFromTZData(name, text)
		}
		if err == nil {
			return ""
		}
	} else if _, err := time.LoadLocation(name); err == nil {
		return ""
	}
	return name
}

// programs looks for what scripts are carried out with.
func (d *doctor) programs() {
	if _, err := exec.LookPath("sh"); err != nil {
		d.fail("programs", "install a shell, or set PATH", "sh is not there: tasks with run cannot start")
		return
	}
	var missing []string
	for _, name := range []string{"bash", "python3"} {
		if _, err := exec.LookPath(name); err != nil {
			missing = append(missing, name)
		}
	}
	if len(missing) > 0 {
		d.ok("programs", "sh is there; tasks whose shell is %s could not start", strings.Join(missing, " or "))
		return
	}
	d.ok("programs", "sh, bash and python3 are there")
}
