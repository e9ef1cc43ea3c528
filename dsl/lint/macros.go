package lint

import (
	"regexp"
	"strings"

	"github.com/ax-scheduler/ax/dsl"
)

// macro is a value that Airflow writes into a script; its templates look like
// expressions without their dollar sign.
var macro = regexp.MustCompile(`(?:^|[^${])(\{\{-?\s*(ds|ds_nodash|ts|ts_nodash|yesterday_ds|tomorrow_ds|execution_date|logical_date|` +
	`data_interval_start|data_interval_end|run_id|dag\.dag_id|(?:task|ti)\.task_id|ti\.try_number|var\.(?:value|json)\.\w+|conn\.\w+|dag_run\.conf[^}]*?)\s*-?\}\})`)

// macros are the values of Airflow by their names, and what holds them here:
// https://airflow.apache.org/docs/apache-airflow/stable/templates-ref.html
var macros = map[string]string{
	"ds": "${{ run.date }}", "ds_nodash": `${{ format(run.date, "%Y%m%d") }}`,
	"ts": "${{ run.scheduled_for }}", "ts_nodash": `${{ format(run.scheduled_for, "%Y%m%dT%H%M%S") }}`,
	"yesterday_ds": "${{ addDays(run.date, -1) }}", "tomorrow_ds": "${{ addDays(run.date, 1) }}",
	"execution_date": "${{ run.scheduled_for }}", "logical_date": "${{ run.scheduled_for }}",
	"data_interval_start": `"$AX_INTERVAL_START"`, "data_interval_end": `"$AX_INTERVAL_END"`,
	"run_id": "${{ run.id }}", "dag.dag_id": "${{ run.workflow }}",
	"task.task_id": `"$AX_TASK"`, "ti.task_id": `"$AX_TASK"`, "ti.try_number": `"$AX_ATTEMPT"`,
}

// airflow reports the first template of Airflow in a script: nothing fills it in.
func (p *pass) airflow(t *dsl.Task) {
	m := macro.FindStringSubmatchIndex(t.Run.V)
	if m == nil {
		return
	}
	name := t.Run.V[m[4]:m[5]]
	hint := "make it a parameter, and write ${{ params.NAME }}"
	if held := macros[name]; held != "" {
		hint = "write " + held
	} else if strings.HasPrefix(name, "conn.") {
		hint = "name what it holds in secrets, or in env"
	}
	p.within("altered-script", t.Run, m[2], m[3]-m[2], hint, "%q is a template of Airflow: the script gets it as it stands", t.Run.V[m[2]:m[3]])
}
