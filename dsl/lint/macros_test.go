package lint

import (
	"strings"
	"testing"
)

func TestTemplatesOfAirflowAreToldWithWhatHoldsTheValueHere(t *testing.T) {
	for script, want := range map[string]string{
		"./load.sh --day {{ ds }}":                 "altered-script {{ ds }}",
		"./load.sh --day={{ds_nodash}}":            "altered-script {{ds_nodash}}",
		"{{- ts -}}":                               "altered-script {{- ts -}}",
		"echo {{ var.value.bucket }}":              "altered-script {{ var.value.bucket }}",
		"echo {{ conn.warehouse }}":                "altered-script {{ conn.warehouse }}",
		"echo {{ dag_run.conf.get(1) }}":           "altered-script {{ dag_run.conf.get(1) }}",
		"echo ${{ run.date }} {{ ti.try_number }}": "altered-script {{ ti.try_number }}",

		"echo {{ dst }} {{ dataset }}":        "",
		"docker ps --format '{{.ID}}'":        "",
		"echo ${{ run.date }}":                "",
		"dbt run --select '{{ var(\"x\") }}'": "",
	} {
		if got := marked(t, asRun("|\n      "+script)); !strings.HasPrefix(got, want) || want == "" && got != "" {
			t.Errorf("%s: got %q, want %q", script, got, want)
		}
	}
}

func TestWhatIsSaidToWriteInsteadOfATemplateCanBeWritten(t *testing.T) {
	for name, held := range macros {
		if got := marked(t, asRun("|\n      echo "+held)); got != "" {
			t.Errorf("%s: of %s it says %q", name, held, got)
		}
	}
}
