// Package config is the server's configuration: one table of settings, each with a flag, a DW_*
// environment name and a file key, read in the order default < file < environment < flag.
package config

import (
	"log/slog"
	"time"
)

// Config is the whole configuration of one server process, after all sources have been read.
type Config struct {
	Listen          string        // host:port of the API
	MetricsListen   string        // host:port of the Prometheus listener; empty means none
	DatabaseURL     string        // sqlite:///path, postgres://… or mysql://…
	MigrateOnStart  bool          // upgrade an older schema at start on PostgreSQL and MySQL
	MaxConnections  int64         // of this process to PostgreSQL or MySQL
	ShutdownTimeout time.Duration // how long requests are still served after SIGTERM
	LogLevel        slog.Level
	LogFormat       string // json or text

	ServerID         string // names this process in cluster info; the host name when empty
	DefaultNamespace string // used when a request names none; created at start

	Auth   Auth
	Worker Worker
	Limits Limits
}

// Auth says who may call the server.
type Auth struct {
	Driver             string // none, token, or empty: token when any token is set, else none
	Token              string // legacy token: everything, or plain admin beside role tokens
	WorkerToken        string
	OperatorToken      string
	AdminToken         string
	BackwardCompatible bool // whether Token is still accepted beside role tokens
}

// Worker holds the times of the worker plane.
type Worker struct {
	PollTimeout         time.Duration // a poll that asks for no time of its own is held this long
	WorkflowTaskTimeout time.Duration // lease of a workflow task
	ActivityTaskTimeout time.Duration // lease of an activity task
	StaleAfter          time.Duration // a worker not seen for this long is stale; 0 derives it
}

// Limits bounds what one request may carry and one run may hold. Sizes are bytes. A structural limit
// of 0 is switched off.
type Limits struct {
	RequestBytes         int64
	CompletionBytes      int64
	PayloadBytes         int64
	MemoBytes            int64
	SearchAttributeBytes int64

	PendingActivities  int64
	PendingChildren    int64
	PendingTimers      int64
	PendingSignals     int64
	PendingUpdates     int64
	CommandBatchSize   int64
	HistoryTransaction int64

	CompletionMaxEvents int64
	CompletionMaxRows   int64
	CompletionMaxBytes  int64
}

// TokenAuth reports whether requests need a bearer token.
func (a Auth) TokenAuth() bool {
	return a.Driver == DriverToken || (a.Driver == "" && a.anyToken())
}

func (a Auth) anyToken() bool {
	return a.Token != "" || a.WorkerToken != "" || a.OperatorToken != "" || a.AdminToken != ""
}

// EffectiveStaleAfter is StaleAfter, or when that is not set the larger of two poll timeouts and a minute.
func (w Worker) EffectiveStaleAfter() time.Duration {
	if w.StaleAfter > 0 {
		return w.StaleAfter
	}
	return max(2*w.PollTimeout, time.Minute)
}
