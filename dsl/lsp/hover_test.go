package lsp

import (
	"strings"
	"testing"

	"github.com/ax-scheduler/ax/schema"
)

func TestHoversExplain(t *testing.T) {
	const text = `name: flow
timezone: Europe/Berlin
params: {region: {type: string, default: cn, description: Where to look.}}
cron:
  - "30 2 * * *"
  - {cron: '0 9 * * mon', timezone: Asia/Shanghai}
  - TZ=UTC 0 0 30 2 *
tasks:
  load: {run: x, description: Load it., retry: {max: 3, backoff: linear}}
  next:
    depends_on: load
    when: tasks.load.state == 'succeeded' && len(params.region) > 0
    run: echo 🚀é "${{ upper(run.date | string()) }}"
`
	session(t, nil, func(c *client) {
		f := c.open("workflows/a.yaml", text)
		for _, row := range []struct{ at, marked, want string }{
			{"time|zone: Eu", "timezone", "` timezone `\n\n" + schema.About("the workflow", "timezone")},
			{"depends|_on: load", "depends_on", schema.About("a task", "depends_on")},
			{"{max: 3, back|off", "backoff", schema.About(`"retry"`, "backoff") + "\n\nOne of exponential, constant, linear."},
			// A bubble of time begins at midnight on 1 January 2000, a Saturday.
			{"30 |2 * * *", "30 2 * * *", "Next times (Europe/Berlin):\n- Sat 2000-01-01 02:30:00 +0100\n- Sun 2000-01-02 02:30:00 +0100\n- Mon 2000-01-03 02:30:00 +0100"},
			{"0 9 *| * mon", "0 9 * * mon", "Next times (Asia/Shanghai):\n- Mon 2000-01-03 09:00:00 +0800\n- Mon 2000-01-10 09:00:00 +0800\n- Mon 2000-01-17 09:00:00 +0800"},
			{"0 0 30| 2 *", "TZ=UTC 0 0 30 2 *", "It never fires."},
			{"depends_on: lo|ad", "load", "A task (run).\n\nLoad it."},
			{"when: tasks.lo|ad", "load", "A task (run).\n\nLoad it."},
			{"load.sta|te ==", "state", "How the task has ended"},
			{"le|n(params", "len", "` len(value) `\n\nThe number of characters"},
			{"params.re|gion", "region", "` params.region `\n\nA parameter (string). Default: cn\n\nWhere to look."},
			{"upp|er(run", "upper", "` upper(text) `"},
			{"run.da|te ", "date", "The date of scheduled_for"},
			{"str|ing()", "string", "` string("},
			{"succee|ded' &&", "", ""},
			{"ech|o", "", ""},
			{"Load| it.", "", ""},
		} {
			h := f.hover(row.at)
			switch {
			case row.want == "" && h == nil:
			case row.want == "" || h == nil:
				t.Errorf("%s: %v", row.at, h)
			case !strings.Contains(h.Contents.Value, row.want) || f.marked(*h.Range) != row.marked:
				t.Errorf("%s: of %q is said\n%s\nnot\n%s", row.at, f.marked(*h.Range), h.Contents.Value, row.want)
			}
		}
	})
}

func TestEveryKeyOfTheLanguageHasAHover(t *testing.T) {
	for name, m := range mappings() {
		for _, key := range m.Keys {
			if schema.About(name, key) == "" {
				t.Errorf("%s: nothing is said about %q", name, key)
			}
		}
	}
}
