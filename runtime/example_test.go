package runtime_test

import (
	"context"
	"fmt"
	"log"
	"os"

	"github.com/ax-scheduler/ax/runtime"
	"github.com/ax-scheduler/ax/runtime/reload"
	"github.com/ax-scheduler/ax/store"
)

const reportFlow = `
name: report
tasks:
  generate:
    call: report.generate
    with: {region: north, pages: 3}
    retry: 2
  announce:
    depends_on: generate
    call: announce
    with: {text: the report is ready}
`

// Args are the parameters of report.generate: `region` and `pages` in YAML.
type Args struct {
	Region string
	Pages  int
}

func Example() {
	data, err := os.MkdirTemp("", "ax")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(data)

	// store/sqlite keeps runs on disk; this one is gone with the process.
	engine := &runtime.Engine{Store: &store.Memory{}, Data: data, Env: os.Environ()}
	err = engine.Register("report.generate", func(ctx context.Context, a Args) (map[string]string, error) {
		return map[string]string{"file": fmt.Sprintf("%s-%d.pdf", a.Region, a.Pages)}, nil
	})
	if err != nil {
		log.Fatal(err)
	}
	err = engine.Register("announce", func(ctx context.Context, a struct{ Text string }) error {
		fmt.Println(a.Text)
		return nil
	})
	if err != nil {
		log.Fatal(err)
	}

	file := reload.Compile("report.yaml", []byte(reportFlow))
	if file.Plan == nil {
		log.Fatal(file.Diagnostics)
	}

	ctx, stop := context.WithCancel(context.Background())
	served := make(chan error, 1)
	go func() { served <- engine.Serve(ctx) }()

	updates, unsubscribe := engine.Subscribe(100)
	defer unsubscribe()
	run, err := engine.Start(ctx, runtime.Request{Plan: file.Plan}) // engine.Cancel(ctx, run.ID, "me") would end it
	if err != nil {
		log.Fatal(err)
	}
	ended, err := engine.Wait(ctx, run.ID)
	if err != nil {
		log.Fatal(err)
	}
	tasks, err := engine.Store.Tasks(ctx, run.ID)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(ended.State, tasks[0].Outputs["file"], len(updates) > 0)

	stop()
	if err := <-served; err != nil {
		log.Fatal(err)
	}
	// Output:
	// the report is ready
	// succeeded north-3.pdf true
}
