package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net"
	"os"
	"os/signal"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/ax-scheduler/ax/dag"
	"github.com/ax-scheduler/ax/dsl"
	"github.com/ax-scheduler/ax/runtime"
	"github.com/ax-scheduler/ax/runtime/executor"
	"github.com/ax-scheduler/ax/runtime/reload"
	"github.com/ax-scheduler/ax/runtime/server"
	"github.com/ax-scheduler/ax/store"
)

// serveOptions are the flags of `ax serve`.
type serveOptions struct {
	addr        string
	timezone    string
	startup     string
	maxParallel int
	onStop      string
	drain       time.Duration
	reloadDelay time.Duration
	tokenFile   string
	hosts       []string
	keep        retention
	log         logOptions
}

func serveCommand(g *globals) *cobra.Command {
	var o serveOptions
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "keep the schedules of all workflows in the folder",
		Long: `Keep the schedules of all workflows in the folder, go on with what a dead engine left, read
files again when they change, and answer HTTP.

SIGTERM starts nothing more. With --on-stop detach what runs goes on without ax, and the next
start adopts it; with --on-stop drain it is given the time of --drain, and then stopped. A
second signal ends at once.`,
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error { return g.serve(cmd.Context(), o) },
	}
	o.flags(cmd.Flags())
	return cmd
}

func (o *serveOptions) flags(f *pflag.FlagSet) {
	f.StringVar(&o.addr, "addr", "127.0.0.1:8080", "address to answer HTTP at; other than on the loopback interface it needs a token")
	f.StringVar(&o.tokenFile, "token-file", "", "file with a token a line, as \"read TOKEN\" or \"operate TOKEN\"; AX_TOKEN gives one with the role operate")
	o.keep.flags(f)
	o.log.flags(f)
	f.StringSliceVar(&o.hosts, "host", nil, "a name under which the server is reached; may be repeated")
	f.StringVar(&o.timezone, "timezone", "", "zone of workflows that name none; default the system's")
	f.StringVar(&o.startup, "startup", "recover", "unfinished runs of a dead engine: recover them, run_all without waiting for pauses, or cancel")
	f.IntVar(&o.maxParallel, "max-parallel", runtime.DefaultMaxParallel, "attempts at a time")
	f.StringVar(&o.onStop, "on-stop", "detach", "what SIGTERM does with running tasks: detach leaves them to the next start, drain waits for them")
	f.DurationVar(&o.drain, "drain", 30*time.Second, "how long to wait for running tasks when draining")
	f.DurationVar(&o.reloadDelay, "reload-delay", time.Second, "how long a changed file must be quiet before it is read")
}

// check refuses values that cannot be.
func (o serveOptions) check() error {
	if _, _, err := net.SplitHostPort(o.addr); err != nil {
		return fmt.Errorf("--addr %q is no address like 127.0.0.1:8080", o.addr)
	}
	for _, h := range o.hosts {
		if h == "" || strings.ContainsAny(h, ":/@ ") {
			return fmt.Errorf("--host %q is no name like ax.example.com, without a port", h)
		}
	}
	switch {
	case !slices.Contains(runtime.Startups, runtime.Startup(o.startup)):
		return fmt.Errorf("--startup %q: it is recover, run_all or cancel", o.startup)
	case o.onStop != "detach" && o.onStop != "drain":
		return fmt.Errorf("--on-stop %q: it is detach or drain", o.onStop)
	case o.drain < 0:
		return fmt.Errorf("--drain %s: it is not negative", o.drain)
	case o.maxParallel < 1:
		return fmt.Errorf("--max-parallel %d: it is at least 1", o.maxParallel)
	}
	return nil
}

// tokens gives those that let requests in. Without any the address must be on
// the loopback interface.
func (g *globals) tokens(o serveOptions) (tokens []server.Token, err error) {
	if o.tokenFile != "" {
		if tokens, err = server.ReadTokens(o.tokenFile); err != nil {
			return nil, err
		}
	}
	for _, v := range g.env {
		if text, ok := strings.CutPrefix(v, "AX_TOKEN="); ok && text != "" {
			tokens = append(tokens, server.NewToken(server.Operator, text))
		}
	}
	host, _, _ := net.SplitHostPort(o.addr)
	if ip := net.ParseIP(host); host != "localhost" && (ip == nil || !ip.IsLoopback()) && len(tokens) == 0 {
		return nil, fmt.Errorf("--addr %q is not on the loopback interface: without a token it would be open to everyone: give --token-file or AX_TOKEN", o.addr)
	}
	return tokens, nil
}

func (g *globals) serve(ctx context.Context, o serveOptions) error {
	if err := o.check(); err != nil {
		return err
	}
	tokens, err := g.tokens(o)
	if err != nil {
		return err
	}
	keep, err := o.keep.value()
	if err != nil {
		return err
	}
	zone, err := zoneNamed(o.timezone)
	if err != nil {
		return err
	}
	log, err := o.log.logger(g.stderr)
	if err != nil {
		return err
	}
	g.log = log
	if name := lostZone(); name != "" && o.timezone == "" {
		log.Warn("TZ names no zone: workflows without timezone follow UTC", "tz", name)
	}
	return g.withEngine(func(e *runtime.Engine, st store.Store) error {
		lock, err := runtime.LockServing(g.data)
		if err != nil {
			return err
		}
		defer lock.Release()
		ln, err := net.Listen("tcp", o.addr)
		if err != nil {
			return err
		}
		e.MaxParallel, e.Zone = o.maxParallel, zone
		e.Detach, e.Drain = o.onStop == "detach", max(o.drain, time.Millisecond)
		if e.Supervisor, err = supervisor(); err != nil {
			return err
		}
		sv := &serving{g: g, e: e, st: st, ln: ln, o: o, tokens: tokens, keep: keep, lock: lock, reloaded: make(chan struct{}, 1)}
		e.Workflows = sv.workflow
		sv.metrics = server.NewMetrics(versionText(), sv.catalog.Load)
		e.Observer = measured(e, sv.metrics)
		return sv.run(ctx)
	})
}

// serving is one `ax serve`: the engine, the watched folder and the API, which
// end together.
type serving struct {
	g       *globals
	e       *runtime.Engine
	st      store.Store
	ln      net.Listener
	o       serveOptions
	tokens  []server.Token
	keep    runtime.Retention
	lock    *runtime.ServeLock
	metrics *server.Metrics

	catalog  atomic.Pointer[reload.Catalog]
	reloaded chan struct{} // has a value where it is not the first one any more, and nobody has taken note
}

func (s *serving) run(ctx context.Context) error {
	ctx, cancel := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT)
	defer cancel()
	stopEngine, engineStops := context.WithCancel(context.WithoutCancel(ctx))
	defer engineStops()
	engine := make(chan error, 1)
	go func() { engine <- s.e.Serve(stopEngine) }()

	updates, unsubscribe := s.e.Subscribe(4096)
	defer unsubscribe()
	go logRuns(s.e.Log, updates)
	answer, stopAnswering := context.WithCancel(context.WithoutCancel(ctx))
	var beside sync.WaitGroup // ends before the store is closed
	defer beside.Wait()
	defer cancel()
	defer stopAnswering()
	beside.Go(func() { s.e.Deliver(answer) }) // what ended meanwhile is told at once
	if err := s.succeed(ctx); err != nil && ctx.Err() == nil {
		return exit{exitFailed, err}
	}
	beside.Go(func() { s.e.Succeed(ctx) })
	if err := s.load(ctx, &beside); err != nil {
		return err
	}
	if ctx.Err() != nil { // told to stop before it was ready
		engineStops()
		return <-engine
	}
	api := s.api(func() bool { return ctx.Err() != nil })
	if err := errors.Join(s.announce(api), s.e.LookAgain(ctx)); err != nil && ctx.Err() == nil {
		return exit{exitFailed, err}
	}
	beside.Go(func() { s.pruneHourly(ctx) })
	answering := make(chan error, 1)
	go func() { answering <- api.Serve(answer, s.ln) }()
	systemd := newNotifier(s.g.env, os.Getpid())
	systemd.say("READY=1")
	beside.Go(func() {
		systemd.keepAlive(answer, func(ctx context.Context) error { _, err := s.e.Health(ctx); return err })
	})
	debug.FreeOSMemory() // to come up took more than to be there
	dropPages()
	s.e.Log.Info("ax serves", "address", "http://"+s.ln.Addr().String(), "workflows", len(s.catalog.Load().Workflows))

	var err error
	select {
	case <-ctx.Done():
		systemd.say("STOPPING=1")
		s.e.Log.Info("ax stops: nothing new is started", "on_stop", s.o.onStop, "drain", s.o.drain)
		go endAtSecondSignal()
	case err = <-engine:
		engine <- nil
	case err = <-answering:
		answering <- nil
	}
	engineStops()
	err = errors.Join(err, <-engine)
	stopAnswering() // until now it has said that ax is stopping
	<-answering
	if err != nil {
		return exit{exitFailed, err}
	}
	return nil
}

// load keeps the engine's workflows those of the folder from now on, and returns
// once the first are loaded, or ax is to stop.
func (s *serving) load(ctx context.Context, beside *sync.WaitGroup) error {
	ready := make(chan struct{})
	watching := make(chan error, 1)
	beside.Go(func() { watching <- s.watch(ctx, ready) })
	select {
	case <-ready:
	case err := <-watching:
		if ctx.Err() == nil {
			return exit{exitUsage, err}
		}
	}
	return nil
}

func (s *serving) api(stopping func() bool) *server.Server {
	return &server.Server{
		Engine: s.e, Store: s.st, Data: s.g.data, Catalog: s.catalog.Load, Zone: s.e.Zone, Hosts: s.o.hosts, Retention: s.keep,
		Version: versionText(), Reloaded: s.reloaded, Metrics: s.metrics, Log: s.e.Log, Stopping: stopping,
	}
}

// announce tells other commands how to reach the API. Where it needs a token,
// who can read the data folder finds one there.
func (s *serving) announce(api *server.Server) error {
	own := ""
	if api.Tokens = s.tokens; len(s.tokens) > 0 {
		own = rand.Text()
		commands := server.NewToken(server.Operator, own)
		commands.Local = true
		api.Tokens = append(slices.Clone(s.tokens), commands)
	}
	addr := s.ln.Addr().(*net.TCPAddr)
	reach := *addr
	if addr.IP.IsUnspecified() {
		reach.IP = net.IPv4(127, 0, 0, 1)
	}
	return s.lock.Announce(reach.String(), own)
}

// succeed takes in what engines before this one have left, and as the first
// process of a container whatever loses its parent.
func (s *serving) succeed(ctx context.Context) error {
	if os.Getpid() == 1 {
		ended := make(chan os.Signal, 1)
		signal.Notify(ended, syscall.SIGCHLD)
		go func() {
			for range ended {
				executor.ReapOrphans()
			}
		}()
	}
	if err := s.e.Recover(ctx, runtime.Startup(s.o.startup)); err != nil {
		return err
	}
	return s.e.Tidy(ctx)
}

// workflow gives the plan of a workflow by its name. Before the first look at
// the folder, while what a dead engine left is gone on with, it looks there.
func (s *serving) workflow(name string) (*dag.Plan, error) {
	c := s.catalog.Load()
	if c == nil {
		return s.g.childrenOf(filepath.Join(s.g.workflows, "any.yaml"))(name)
	}
	if f := c.Workflows[name]; f != nil {
		return f.Plan(), nil
	}
	return nil, fmt.Errorf("there is no workflow %q: %s", name, dsl.Meant(name, slices.Sorted(maps.Keys(c.Workflows))))
}

// watch keeps the engine's workflows those of the folder. ready is closed once
// the first are loaded.
func (s *serving) watch(ctx context.Context, ready chan struct{}) error {
	first := true
	return reload.Watch(ctx, s.g.workflows, s.o.reloadDelay, s.e.Log, func(c *reload.Catalog) {
		s.logProblems(c)
		s.logChanges(c)
		if err := s.e.Load(ctx, c); err != nil && ctx.Err() == nil {
			s.e.Log.Error("the workflows could not be loaded", "error", err)
		}
		s.catalog.Store(c)
		if first {
			first = false
			close(ready)
			return
		}
		select {
		case s.reloaded <- struct{}{}:
		default: // what is to be noted is still to be noted
		}
	})
}

// logProblems tells of the problems of the files that have changed.
func (s *serving) logProblems(c *reload.Catalog) {
	before := map[string]dsl.Diagnostics{}
	if old := s.catalog.Load(); old != nil {
		for _, f := range old.Files {
			before[f.Path] = f.Diagnostics
		}
	}
	for _, f := range c.Files {
		if !slices.Equal(f.Diagnostics, before[f.Path]) {
			for _, d := range f.Diagnostics {
				s.logDiagnostic(d, f.Name != "")
			}
		}
	}
}

// logChanges tells which workflows are there now, or how many at the start.
func (s *serving) logChanges(c *reload.Catalog) {
	old := s.catalog.Load()
	if old == nil {
		s.e.Log.Info("workflows loaded", "count", len(c.Workflows))
		return
	}
	for _, name := range slices.Sorted(maps.Keys(c.Workflows)) {
		switch f := c.Workflows[name]; old.Workflows[name] {
		case f:
		case nil:
			s.e.Log.Info("workflow loaded", "workflow", name, "file", f.Head.Source.File)
		default:
			s.e.Log.Info("workflow loaded in a new version", "workflow", name, "file", f.Head.Source.File)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(old.Workflows)) {
		if c.Workflows[name] == nil {
			s.e.Log.Info("workflow is gone: its schedules are kept no longer", "workflow", name)
		}
	}
}

func (s *serving) logDiagnostic(d dsl.Diagnostic, loaded bool) {
	level := slog.LevelWarn
	switch d.Severity {
	case dsl.Error:
		level = slog.LevelError
	case dsl.Info:
		level = slog.LevelDebug
	}
	s.e.Log.Log(context.Background(), level, d.Message, "at", fmt.Sprintf("%s:%d:%d", d.File, d.Pos.Line, d.Pos.Col),
		"rule", d.Rule, "hint", d.Hint, "a version is loaded", loaded)
}

// pruneHourly removes what retention does not keep.
func (s *serving) pruneHourly(ctx context.Context) {
	every := time.NewTicker(time.Hour)
	defer every.Stop()
	for {
		select {
		case <-every.C:
		case <-ctx.Done():
			return
		}
		gone, err := s.e.Prune(ctx, runtime.Prune{Default: s.keep, Workflows: runtime.Retentions(s.catalog.Load())})
		switch {
		case err != nil && ctx.Err() == nil:
			s.e.Log.Error("old runs cannot be removed", "error", err)
		case len(gone) > 0:
			s.e.Log.Info("old runs were removed", "runs", len(gone))
		}
	}
}

// endAtSecondSignal ends the process at once. What runs is left to the next
// start.
func endAtSecondSignal() {
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	os.Exit(signalCode(<-signals))
}
