package store

import (
	"context"
	"log/slog"
	"strings"
	"time"
)

// Options are the settings every engine understands. The zero value is usable.
type Options struct {
	// MigrateOnStart upgrades an older schema when the store is opened. SQLite always does.
	MigrateOnStart bool
	// MaxConns bounds the connections of one process to a database server; 0 takes the engine's
	// default. SQLite has one writer and a fixed number of readers and ignores it.
	MaxConns int
	// LockTimeout bounds how long a transaction waits for a lock or for a connection of the pool;
	// 0 is 5 s. Whole seconds, at least one, on MySQL. SQLite has one writer and ignores it.
	LockTimeout time.Duration
	// Logger gets what no caller can be told, such as a lost listener; nil discards it.
	Logger *slog.Logger
	// Clock tells the time in microseconds UTC to what the store does by itself (looking for work of
	// other processes); nil is the system's.
	Clock func() int64
	// Probe, when set, is called before every statement of a transition and every read. Tests count
	// with it and inject faults; it makes the store slower.
	Probe Probe
	// Count, when set, is told of every statement, as a probe is, and changes nothing. It is called by many
	// goroutines at once.
	Count func(statement string)
}

// Watched is Count and Probe as one probe, nil without either.
func (o Options) Watched() Probe {
	if o.Count == nil {
		return o.Probe
	}
	return func(ctx context.Context, statement string) error {
		if statement != Committed {
			o.Count(statement)
		}
		if o.Probe == nil {
			return nil
		}
		return o.Probe(ctx, statement)
	}
}

// Committed is what a probe is told after a commit.
const Committed = "COMMITTED"

// LockWait is LockTimeout or its default.
func (o Options) LockWait() time.Duration {
	if o.LockTimeout > 0 {
		return o.LockTimeout
	}
	return 5 * time.Second
}

// Now is the time by Clock.
func (o Options) Now() int64 {
	if o.Clock != nil {
		return o.Clock()
	}
	return time.Now().UnixMicro()
}

// Probe gets a statement's query name, or its text when it has none (COMMIT, SAVEPOINT part, …).
// An error fails the statement in its place. "COMMITTED" follows a commit that succeeded: an error
// there is reported to the caller although the transition stands, as when the answer is lost.
type Probe func(ctx context.Context, statement string) error

// StatementName is what a probe is told of a statement: the name sqlc put in front of it, else
// the text itself.
func StatementName(text string) string {
	rest, ok := strings.CutPrefix(text, "-- name: ")
	if !ok {
		return text
	}
	name, _, _ := strings.Cut(rest, " ")
	return name
}

// Log is the logger to use: Logger, or one that discards.
func (o Options) Log() *slog.Logger {
	if o.Logger != nil {
		return o.Logger
	}
	return slog.New(slog.DiscardHandler)
}
