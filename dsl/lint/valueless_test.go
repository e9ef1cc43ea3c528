package lint

import (
	"strings"
	"testing"
)

// nightlyWith is a scheduled file with a parameter that nobody gives.
func nightlyWith(tasks string) string {
	return `timezone: UTC
timeout: 1h
cron: "0 5 * * *"
params: {region: {type: string}}
` + tasks
}

func TestAParameterThatAScheduleLeavesWithoutAValueIsToldOnce(t *testing.T) {
	const hint = " (give it a default, or a value in the schedule: {cron: …, params: {region: …}})\n"
	told := func(user string) string {
		return `nightly.yaml:4:10-4:16 warning unset-variable: parameter "region" has no value in a run that the schedule starts, and ` + user + " uses it" + hint
	}
	for _, c := range []struct{ name, tasks, user string }{
		{"in an expression", "tasks: {a: {run: 'echo ${{ params.region }}'}}", `task "a"`},
		{"in two tasks", "tasks: {a: {run: 'echo ${{ params.region }}'}, b: {run: 'echo $AX_PARAM_REGION'}}", `task "a"`},
		{"as a variable", "tasks: {a: {run: 'echo \"x $AX_PARAM_REGION\"'}}", `task "a"`},
		{"as a variable of bash", "tasks: {a: {shell: bash, run: 'echo \"x $AX_PARAM_REGION\"'}}", `task "a"`},
		{"in a condition", "tasks: {a: {when: params.region == \"eu\", run: 'echo x'}}", `task "a"`},
		{"downstream", "tasks: {a: {run: 'echo x'}, b: {depends_on: a, command: [echo, \"${{ upper(params.region) }}\"]}}", `task "b"`},
		{"in a handler of the workflow", "on_failure: b\ntasks: {a: {run: 'echo x'}, b: {run: 'echo ${{ params.region }}'}}", `task "b"`},
		{"in the environment", "env: {R: \"${{ params.region }}\"}\ntasks: {a: {run: 'echo x'}}", `"env" of the workflow`},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := places(diagnose(nightlyWith(c.tasks), Options{})); got != told(c.user) {
				t.Errorf("got  %swant %s", got, told(c.user))
			}
		})
	}
	after := strings.Replace(nightlyWith("tasks: {a: {run: 'echo ${{ params.region }}'}}"), `cron: "0 5 * * *"`, "after: load", 1)
	if got := places(diagnose(after, Options{})); !strings.Contains(got, `in a run that "after" starts, and task "a" uses it (give it a default)`) {
		t.Error(got)
	}
	task := `timezone: UTC
timeout: 1h
params: {region: {type: string}}
tasks: {a: {cron: "0 5 * * *", run: 'echo ${{ params.region }}'}}
`
	if got := places(diagnose(task, Options{})); !strings.Contains(got, "in a run that the schedule of the task starts") {
		t.Error(got)
	}
}

func TestAParameterThatMayHaveAValueOrNeedsNoneIsLetPass(t *testing.T) {
	for _, tasks := range []string{
		"tasks: {a: {run: 'echo ${{ params.region ?? \"eu\" }}'}}",
		"tasks: {a: {run: 'echo ${{ default(params.region, \"eu\") }}'}}",
		"tasks: {a: {when: params.region != nil, run: 'echo ${{ params.region }}'}}",
		"tasks: {a: {when: run.trigger == \"manual\", run: 'echo ${{ params.region }}'}}",
		"tasks: {a: {when: run.trigger == \"manual\" && params.region == \"eu\", run: 'echo x'}}",
		"tasks: {a: {when: run.trigger == \"manual\", run: 'echo x'}, b: {depends_on: a, run: 'echo ${{ params.region }}'}}",
		"tasks: {a: {run: 'echo ${{ run.trigger == \"manual\" ? params.region : \"eu\" }}'}}",
		"tasks: {a: {run: 'echo x', skip_codes: [3]}, b: {depends_on: a, run: 'echo ${{ params.region }}'}}",
		"tasks: {a: {run: 'echo \"${AX_PARAM_REGION:-eu}\"'}}",
		"tasks: {a: {run: 'if [ -e x ]; then echo \"$AX_PARAM_REGION\"; fi'}}",
		"tasks: {a: {run: '[ -e x ] && echo \"$AX_PARAM_REGION\"'}}",
		"tasks: {a: {run: 'exit 0; echo \"$AX_PARAM_REGION\"'}}",
		"tasks: {a: {run: '[ -e x ] || exit 0; echo \"$AX_PARAM_REGION\"'}}",
		"tasks: {a: {run: 'set +u; echo \"$AX_PARAM_REGION\"'}}",
		"tasks: {a: {shell: [sh, -e], run: 'echo \"$AX_PARAM_REGION\"'}}",
		"tasks: {a: {env: {AX_PARAM_REGION: x}, run: 'echo \"$AX_PARAM_REGION\"'}}",
		"disabled: true\ntasks: {a: {run: 'echo ${{ params.region }}'}}",
		"tasks: {a: {disabled: true, run: 'echo ${{ params.region }}'}}",
	} {
		if got := places(diagnose(nightlyWith(tasks), Options{})); got != "" {
			t.Errorf("%s\n%s", tasks, got)
		}
	}
	for _, text := range []string{
		"timeout: 1h\nparams: {region: {type: string}}\ntasks: {a: {run: 'echo ${{ params.region }}'}}",
		"timezone: UTC\ntimeout: 1h\ncron: [{cron: 0 5 * * *, params: {region: eu}}]\nparams: {region: {type: string}}\ntasks: {a: {run: 'echo ${{ params.region }}'}}",
		"timezone: UTC\ntimeout: 1h\ncron: 0 5 * * *\nparams: {region: {default: \"\"}}\ntasks: {a: {run: 'echo ${{ params.region }}'}}",
	} {
		if got := places(diagnose(text, Options{})); got != "" {
			t.Errorf("%s\n%s", text, got)
		}
	}
}
