package expression

import "testing"

const usual = `tasks.load.state == "succeeded" && int(tasks.load.outputs.rows) > 10`

func BenchmarkCompile(b *testing.B) {
	scope := inTask()
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Compile(usual, WantBool, scope); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkEval(b *testing.B) {
	p, err := Compile(usual, WantBool, inTask())
	if err != nil {
		b.Fatal(err)
	}
	values := someValues(b)
	b.ReportAllocs()
	for b.Loop() {
		if v, err := p.Eval(values); v != true || err != nil {
			b.Fatal(v, err)
		}
	}
}

func BenchmarkTemplateWithoutExpressions(b *testing.B) {
	scope := inTask()
	b.ReportAllocs()
	for b.Loop() {
		t, _ := CompileTemplate("./extract.sh --all", scope)
		if _, err := t.Text(nil); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkScript(b *testing.B) {
	scope := inTask()
	b.ReportAllocs()
	for b.Loop() {
		if _, faults := CompileScript(Sh, "./extract.sh \"$AX_DATE\" ${{ params.region }}\necho \"${{ run.id }} done\"\n", scope); faults != nil {
			b.Fatal(faults)
		}
	}
}
