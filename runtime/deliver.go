package runtime

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/ax-scheduler/ax/dag"
	"github.com/ax-scheduler/ax/dsl"
	"github.com/ax-scheduler/ax/dsl/expression"
	"github.com/ax-scheduler/ax/runtime/executor"
	"github.com/ax-scheduler/ax/store"
)

// How messages are sent.
const (
	sendTime     = 10 * time.Second // for one try
	firstPause   = 15 * time.Second // longer than a try, so that two never overlap
	longestPause = time.Hour
	giveUpAfter  = 24 * time.Hour
	keepMessages = 30 * 24 * time.Hour // once they are sent or given up
	sendAtOnce   = 8
)

// Deliver sends the messages in the outbox, those of other processes that use
// the data folder included, until ctx is done. A try that fails is repeated with
// growing pauses for a day. The number of a try is stored before it is made: a
// crash, or a second engine, makes no try twice at a time, and a receiver that
// gets a message again knows it by its id.
func (e *Engine) Deliver(ctx context.Context) {
	e.init()
	e.delivers.Store(true)
	var purged time.Time
	for ctx.Err() == nil {
		next, err := e.deliverDue(ctx)
		if err != nil && ctx.Err() == nil {
			e.Log.Error("the outbox cannot be read", "error", err)
		}
		if now := e.now(); err == nil && now.Sub(purged) >= time.Hour {
			if err := e.Store.Commit(ctx, &store.Batch{Purge: now.Add(-keepMessages)}); err == nil {
				purged = now
			}
		}
		pause := time.NewTimer(max(0, next.Sub(e.now())))
		select {
		case <-ctx.Done():
		case <-e.mailed:
		case <-pause.C:
		}
		pause.Stop()
	}
}

// DeliverOwn sends the messages that this engine has made and nobody has tried to
// send yet, each once. What cannot be sent is left to the engine that serves.
func (e *Engine) DeliverOwn(ctx context.Context) error {
	e.init()
	all, err := e.Store.Messages(ctx, store.MessageWaiting, store.MaxLimit)
	if err != nil {
		return err
	}
	e.deliverAll(ctx, slices.DeleteFunc(all, func(m store.Message) bool {
		_, own := e.own.Load(m.ID)
		return !own || m.Tries > 0
	}))
	return nil
}

func (e *Engine) wakeSender() {
	select {
	case e.mailed <- struct{}{}:
	default:
	}
}

// deliverDue makes the tries that are due and tells when to look again.
func (e *Engine) deliverDue(ctx context.Context) (next time.Time, err error) {
	next = e.now().Add(e.longest)
	all, err := e.Store.Messages(ctx, store.MessageWaiting, store.MaxLimit)
	if err != nil {
		return next, err
	}
	n, next := due(all, func(m *store.Message) time.Time { return m.NextAt }, e.now(), next)
	e.deliverAll(ctx, all[:n])
	if n > 0 {
		next = e.now().Add(time.Second) // others may have come meanwhile
	}
	return next, nil
}

func (e *Engine) deliverAll(ctx context.Context, all []store.Message) {
	var wg sync.WaitGroup
	defer wg.Wait()
	slots := make(chan struct{}, sendAtOnce)
	for _, m := range all {
		select {
		case slots <- struct{}{}:
		case <-ctx.Done():
			return
		}
		wg.Go(func() {
			e.try(ctx, m)
			<-slots
		})
	}
}

// try makes one try to send a message and writes down what came of it.
func (e *Engine) try(ctx context.Context, m store.Message) {
	log := e.Log.With("message", m.ID, "event", m.Event, "workflow", m.Workflow, "run", m.RunID, "target", m.Target, "try", m.Tries+1)
	now := e.now()
	step := store.Try{ID: m.ID, Have: m.Tries, Tries: m.Tries + 1, State: store.MessageWaiting, Error: m.Error, NextAt: now.Add(pauseAfter(m.Tries))}
	if err := e.persist(ctx, &store.Batch{Tries: []store.Try{step}}); err != nil {
		if !errors.Is(err, store.ErrConflict) && ctx.Err() == nil { // else another is at it
			log.Error("a message cannot be sent", "error", err)
		}
		return
	}
	failed := e.sendMessage(ctx, &m)
	if failed != nil && ctx.Err() != nil {
		return // it was cut off: it is tried again
	}
	step.Have, step.Error = step.Tries, ""
	switch {
	case failed == nil:
		step.State, step.NextAt = store.MessageSent, e.now()
		log.Info("message sent")
	case step.NextAt.After(m.CreatedAt.Add(giveUpAfter)):
		step.State, step.Error, step.NextAt = store.MessageGivenUp, failed.Error(), e.now()
		log.Error("message given up", "error", failed)
	default:
		step.Error = failed.Error()
		log.Warn("message could not be sent", "error", failed, "next_try", step.NextAt)
	}
	if err := e.persist(ctx, &store.Batch{Tries: []store.Try{step}}); err != nil {
		log.Error("what became of a message cannot be stored", "error", err)
	}
	e.Observer.MessageTried(step.State)
}

// pauseAfter gives the time between two tries.
func pauseAfter(tries int) time.Duration {
	if tries > 10 {
		return longestPause
	}
	return min(firstPause<<tries, longestPause)
}

// sendMessage makes one try. No error has the address or a secret in it.
func (e *Engine) sendMessage(ctx context.Context, m *store.Message) error {
	ctx, cancel := context.WithTimeout(ctx, sendTime)
	defer cancel()
	var n Notice
	if err := json.Unmarshal(m.Body, &n); err != nil {
		return fmt.Errorf("the message cannot be read: %w", err)
	}
	to, err := e.addressOf(ctx, m)
	if err == nil && to.mail != "" {
		err = e.Mail.send(ctx, to.mail, &n)
	} else if err == nil {
		err = to.post(ctx, &n)
	}
	if err != nil {
		return errors.New(to.mask.Text(oneLine(err.Error())))
	}
	return nil
}

func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

// address is a target with the values of its expressions.
type address struct {
	url, mail, secret, format string

	mask *executor.Mask
}

// addressOf finds out where a message goes to, from the version that it was
// made for and what secrets hold now.
func (e *Engine) addressOf(ctx context.Context, m *store.Message) (to address, err error) {
	plan, err := e.planOf(ctx, store.Run{ID: m.RunID, File: m.File}, m.Version)
	if err != nil {
		return to, err
	}
	wf := plan.Workflow
	if m.Target < 0 || m.Target >= len(wf.Notify) {
		return to, fmt.Errorf("version %s has no target %d", m.Version, m.Target)
	}
	target := &wf.Notify[m.Target]
	c := &programCompiler{src: wf.Source, scope: expression.NewScope(wf)}
	parts := []struct {
		from dsl.Value[string]
		to   *string
		text *expression.Template
	}{{from: target.URL, to: &to.url}, {from: target.Email, to: &to.mail}, {from: target.Secret, to: &to.secret}}
	var used []expression.Reference
	for i := range parts {
		parts[i].text = c.template(parts[i].from)
		if parts[i].text != nil {
			used = append(used, parts[i].text.References()...)
		}
	}
	if err := errors.Join(c.errs...); err != nil {
		return to, err
	}
	values, mask, err := e.noticeValues(ctx, m, plan, used)
	to.mask, to.format = mask, target.Format.V
	if err != nil {
		return to, err
	}
	for _, p := range parts {
		if *p.to, err = p.text.Text(&values); err != nil {
			return to, placedError(wf.Source, p.from.Pos, err)
		}
	}
	if target.Secret.Set() && to.secret == "" {
		return to, errors.New("the secret that signs is empty")
	}
	return to, nil
}

// noticeValues gives the values for the expressions of a target. It reads no
// more than they use: what kept a run from starting must not keep its failure
// from being told.
func (e *Engine) noticeValues(ctx context.Context, m *store.Message, plan *dag.Plan, used []expression.Reference) (expression.Values, *executor.Mask, error) {
	run, err := e.Store.Run(ctx, m.RunID)
	if errors.Is(err, store.ErrNotFound) {
		run = store.Run{ID: m.RunID, Workflow: m.Workflow, ScheduledFor: m.ScheduledFor}
		run.Params, err = checkParams(plan.Workflow, nil)
		if err != nil {
			run.Params, err = map[string]string{}, nil // one is required: its expression has no value
		}
	}
	if err != nil {
		return expression.Values{}, nil, err
	}
	needs := func(root string) bool {
		return slices.ContainsFunc(used, func(r expression.Reference) bool { return r.Root() == root })
	}
	if needs("env") {
		env, err := newEnvironment(e, plan, &run)
		if err != nil {
			return expression.Values{}, nil, err
		}
		return env.values, env.mask, nil
	}
	zone, err := e.zoneOf(plan.Workflow)
	if err != nil {
		return expression.Values{}, nil, err
	}
	env := &environment{dir: filepath.Dir(absolute(plan.Workflow.Source.File)), values: expression.Values{
		Params: run.Params, Env: map[string]string{}, Zone: zone,
		Run: expression.Run{ID: run.ID, Workflow: run.Workflow, Trigger: string(run.Trigger), ScheduledFor: run.ScheduledFor},
	}}
	env.inherit(e, plan.Workflow)
	wf := *plan.Workflow
	wf.Secrets = slices.DeleteFunc(slices.Clone(wf.Secrets), func(s dsl.Secret) bool {
		return !slices.ContainsFunc(used, func(r expression.Reference) bool {
			return r.Root() == "secrets" && (r.Name() == s.Name.V || r.Name() == "")
		})
	})
	secrets, err := readSecrets(&wf, env, e.Env)
	if err != nil {
		return expression.Values{}, nil, err
	}
	env.values.Secrets = secrets
	mask, _ := executor.NewMask(slices.Collect(maps.Values(secrets)))
	return env.values, mask, nil
}
