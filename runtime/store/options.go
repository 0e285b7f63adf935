package store

import "log/slog"

// Options are the settings every engine understands. The zero value is usable.
type Options struct {
	// MigrateOnStart upgrades an older schema when the store is opened. SQLite always does.
	MigrateOnStart bool
	// MaxConns bounds the connections of one process to a database server; 0 takes the engine's
	// default. SQLite has one writer and a fixed number of readers and ignores it.
	MaxConns int
	// Logger gets what no caller can be told, such as a lost listener; nil discards it.
	Logger *slog.Logger
}

// Log is the logger to use: Logger, or one that discards.
func (o Options) Log() *slog.Logger {
	if o.Logger != nil {
		return o.Logger
	}
	return slog.New(slog.DiscardHandler)
}
