package handlers

import (
	"time"

	"dwserver/runtime/rules"
)

// Protocol versions (worker-plane.md 2, control-plane.md 1.1).
const (
	WorkerProtocolVersion = "1.20"
	workerMajor           = 1
	workerMinor           = 20
	ControlPlaneVersion   = "2"
)

// Auth drivers (control-plane.md 1.4).
const (
	AuthNone  = "none"  // every request may do everything
	AuthToken = "token" // bearer tokens
)

// Config is what the HTTP edge is told: who may call it, what a request may be, and the settings in
// force that it shows to clients.
type Config struct {
	ServerID string // names this server in cluster info
	Version  string // of the program

	AuthDriver             string // AuthNone or AuthToken
	AuthToken              string // legacy token: everything alone, plain admin beside role tokens
	WorkerToken            string
	OperatorToken          string
	AdminToken             string
	AuthBackwardCompatible bool // whether AuthToken is accepted beside role tokens

	DefaultNamespace string

	MaxRequestBytes    int64 // body of any request but a workflow-task completion
	MaxCompletionBytes int64 // body of a workflow-task completion

	PollTimeout         time.Duration // a poll that asks for no time of its own is held this long
	WorkflowTaskTimeout time.Duration
	ActivityTaskTimeout time.Duration
	WorkerStaleAfter    time.Duration
	HeartbeatInterval   time.Duration // advertised to workers
	Limits              *rules.Limits // nil means rules.DefaultLimits; a limit of 0 is off
	Driver              string        // name of the database engine, for the backend member of refusals
}

// withDefaults fills what a caller left out with the contract's defaults (settled.md).
func (c Config) withDefaults() Config {
	set := func(d *time.Duration, value time.Duration) {
		if *d == 0 {
			*d = value
		}
	}
	set(&c.PollTimeout, 30*time.Second)
	set(&c.WorkflowTaskTimeout, time.Minute)
	set(&c.ActivityTaskTimeout, 5*time.Minute)
	set(&c.WorkerStaleAfter, max(2*c.PollTimeout, time.Minute))
	set(&c.HeartbeatInterval, 10*time.Second)
	if c.AuthDriver == "" {
		c.AuthDriver = AuthNone
	}
	if c.DefaultNamespace == "" {
		c.DefaultNamespace = "default"
	}
	if c.MaxRequestBytes == 0 {
		c.MaxRequestBytes = 4 << 20
	}
	if c.MaxCompletionBytes == 0 {
		c.MaxCompletionBytes = 32 << 20
	}
	if c.Limits == nil {
		c.Limits = new(rules.DefaultLimits())
	}
	return c
}
