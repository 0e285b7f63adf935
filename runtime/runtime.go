// Package runtime is the engine: one file per operation. An operation locks one run, loads what
// the decision needs, lets package rules decide, writes the effects and wakes who waits.
package runtime

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"dwserver/runtime/rules"
	"dwserver/runtime/store"
	"dwserver/runtime/wake"
)

// Options configure an engine. Zero values take the contract's defaults (settled.md, Settings).
type Options struct {
	Clock               Clock
	IDs                 IDs
	Logger              *slog.Logger
	Limits              *rules.Limits // nil means DefaultLimits; a limit of 0 is off
	PollTimeout         time.Duration // long-poll time, 30 s
	WorkflowTaskTimeout time.Duration // workflow-task lease, 60 s
	ActivityTaskTimeout time.Duration // activity lease, 300 s
	WorkerStaleAfter    time.Duration // twice the poll time, at least 60 s
	HeartbeatInterval   time.Duration // advertised worker heartbeat, 10 s
	DefaultNamespace    string        // "default"
	// SignalValue turns the envelope of a signal's argument list into that of its value, nil where no
	// value stands for the list; the payload codec lives outside the engine. A nil function keeps the list.
	SignalValue func(arguments []byte) []byte
}

func (o Options) withDefaults() Options {
	set := func(d *time.Duration, value time.Duration) {
		if *d == 0 {
			*d = value
		}
	}
	if o.Clock == nil {
		o.Clock = SystemClock{}
	}
	if o.IDs == nil {
		o.IDs = NewULIDs()
	}
	if o.Logger == nil {
		o.Logger = slog.Default()
	}
	if o.Limits == nil {
		o.Limits = new(rules.DefaultLimits())
	}
	set(&o.PollTimeout, 30*time.Second)
	set(&o.WorkflowTaskTimeout, 60*time.Second)
	set(&o.ActivityTaskTimeout, 300*time.Second)
	set(&o.WorkerStaleAfter, max(2*o.PollTimeout, 60*time.Second))
	set(&o.HeartbeatInterval, 10*time.Second)
	if o.DefaultNamespace == "" {
		o.DefaultNamespace = "default"
	}
	return o
}

// Engine runs workflows on one store. It is safe for concurrent use.
type Engine struct {
	store   store.Store
	opt     Options
	clock   Clock
	ids     IDs
	log     *slog.Logger
	hub     *wake.Hub
	due     *dueLoop
	flights flights
	lists   lists
	copies  copies
	stop    context.CancelFunc
	work    sync.WaitGroup
}

// New makes an engine on a store. Call Start before serving and Close afterwards.
func New(st store.Store, opt Options) *Engine {
	opt = opt.withDefaults()
	e := &Engine{store: st, opt: opt, clock: opt.Clock, ids: opt.IDs, log: opt.Logger}
	e.hub = wake.New(e.clock)
	e.due = newDueLoop(e)
	st.Notify(func(w store.Wake) {
		e.hub.Notify(wake.Work{
			Key:      wake.Key{Namespace: w.Namespace, TaskQueue: w.TaskQueue, Kind: w.Kind},
			TypeName: w.TypeName, At: w.AvailableAt,
		})
	})
	return e
}

// Options are the options in force, defaults filled in.
func (e *Engine) Options() Options { return e.opt }

// Start creates the default namespace where it is missing and begins to do what is due.
func (e *Engine) Start(ctx context.Context) error {
	if err := e.ensureNamespace(ctx, e.opt.DefaultNamespace); err != nil {
		return err
	}
	delayed, err := e.store.ListDelayed(ctx, e.now(), 10_000)
	if err != nil {
		return err
	}
	for i := range delayed {
		e.hub.Notify(workOf(&delayed[i]))
	}
	run, cancel := context.WithCancel(context.WithoutCancel(ctx))
	e.stop = cancel
	e.work.Go(func() { e.due.run(run) })
	return nil
}

// Drain answers every held poll and reader, now and from now on, as empty; requests that do work
// go on. Call it when the server is told to stop.
func (e *Engine) Drain() { e.hub.Drain() }

// Close stops what runs in the background. The store stays open.
func (e *Engine) Close() {
	e.hub.Drain()
	if e.stop != nil {
		e.stop()
	}
	e.work.Wait()
}

// Ping reports whether the database answers.
func (e *Engine) Ping(ctx context.Context) error { return e.store.Ping(ctx) }

// HeldPolls is how many polls wait in this process.
func (e *Engine) HeldPolls() int { return e.hub.Waiting() }

func (e *Engine) now() int64 { return e.clock.Now().UnixMicro() }

func workOf(task *rules.Task) wake.Work {
	return wake.Work{
		Key:    wake.Key{Namespace: task.Namespace, TaskQueue: task.TaskQueue, Kind: task.Kind},
		TaskID: task.TaskID, TypeName: task.TypeName, Compatibility: task.Compatibility,
		MinProtocol: task.MinProtocol, At: task.AvailableAt,
	}
}

// earliest is when the first thing that a transition made falls due.
func earliest(eff *rules.Effects) int64 {
	at := rules.Never
	for i := range eff.NewTimers {
		at = min(at, eff.NewTimers[i].DueAt)
	}
	for i := range eff.Timers {
		at = min(at, eff.Timers[i].DueAt)
	}
	for i := range eff.NewActs {
		at = min(at, eff.NewActs[i].NextDeadlineAt)
	}
	for i := range eff.Acts {
		at = min(at, eff.Acts[i].NextDeadlineAt)
	}
	for i := range eff.Tasks {
		if eff.Tasks[i].Status == rules.TaskLeased {
			at = min(at, eff.Tasks[i].LeaseExpiresAt)
		}
	}
	for i := range eff.NewRuns {
		at = min(at, eff.NewRuns[i].DeadlineAt)
	}
	return at
}

// begin starts a transition of a locked run.
func (e *Engine) begin(ctx context.Context, tx store.Tx, l *store.Locked) *rules.Transition {
	t := rules.NewTransition(e.now(), e.ids.New, &l.Run, *e.opt.Limits)
	t.OpenTask = l.OpenTask
	t.SignalValue = e.opt.SignalValue
	if l.Run.FairnessKey != "" {
		t.LastFairOrder = e.lastFairOrder(ctx, tx, &l.Run, t)
	}
	return t
}

// lastFairOrder reads where a fairness key's backlog ends; a failed read fails the transition.
func (e *Engine) lastFairOrder(ctx context.Context, tx store.Tx, run *rules.Run, t *rules.Transition) func(queue, kind string) int64 {
	return func(queue, kind string) int64 {
		at, err := tx.LastFairOrder(ctx, run.Namespace, queue, kind, run.FairnessKey)
		if err != nil {
			t.Fail(err)
		}
		return at
	}
}

// barrier reads a parallel group's members; a failed read fails the transition.
func (e *Engine) barrier(ctx context.Context, tx store.Tx, runID string, t *rules.Transition) rules.Barrier {
	return func(from, to int64) (open int64) {
		open, err := tx.CountOpen(ctx, runID, from, to)
		if err == nil && open == 2 && t.ClaimAppliesSignal() {
			var waits rules.Waits
			if waits, err = loadWaits(ctx, tx, t.Run); t.ClaimEnds(&waits, from, to) {
				open--
			}
		}
		if err != nil {
			t.Fail(err)
		}
		return open
	}
}

// effects ends a transition: its effects, or the fault a read inside it met.
func effects(t *rules.Transition) (*rules.Effects, error) {
	if err := t.Fault(); err != nil {
		return nil, err
	}
	if r := t.Check(); r != nil {
		return nil, r
	}
	t.Eff.Fold()
	return &t.Eff, nil
}

func isNotFound(err error) bool { return errors.Is(err, store.ErrNotFound) }
