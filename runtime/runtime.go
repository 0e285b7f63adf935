// Package runtime is the engine: one file per operation. An operation locks one run, loads what
// the decision needs, lets package rules decide, writes the effects and wakes who waits.
package runtime

import (
	"log/slog"
	"time"

	"dwserver/runtime/rules"
	"dwserver/runtime/store"
	"dwserver/runtime/wake"
)

// Options configure an engine. Zero values take the contract's defaults.
type Options struct {
	Clock               Clock
	IDs                 IDs
	Logger              *slog.Logger
	Limits              rules.Limits
	PollTimeout         time.Duration // long-poll time, 30 s
	WorkflowTaskTimeout time.Duration // workflow-task lease, 60 s
	ActivityTaskTimeout time.Duration // activity lease, 300 s
	WorkerStaleAfter    time.Duration // 60 s, or twice the poll timeout where that is more
	HeartbeatInterval   time.Duration // advertised worker heartbeat, 10 s
	DefaultNamespace    string        // "default"
}

// Engine runs workflows on one store. It is safe for concurrent use.
type Engine struct {
	store store.Store
	opt   Options
	clock Clock
	ids   IDs
	log   *slog.Logger
	hub   *wake.Hub
	due   *dueLoop
}
