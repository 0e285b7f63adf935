package store

import "errors"

// Sentinels every adapter maps its driver's errors to, in one place per engine. They are matched
// with errors.Is; the driver's own error stays wrapped for logs.
var (
	// ErrNotFound: no such row.
	ErrNotFound = errors.New("store: not found")
	// ErrConflict: a unique key is taken or a guarded row changed; the transaction wrote nothing.
	ErrConflict = errors.New("store: conflict")
	// ErrContention: the engine gave up on a lock or broke a deadlock more often than the
	// transition is retried; it surely did not commit.
	ErrContention = errors.New("store: lock contention")
	// ErrUnavailable: the database cannot be reached; the transaction surely did not commit.
	ErrUnavailable = errors.New("store: unavailable")
	// ErrOutcomeUnknown: the connection was lost while COMMIT ran. Never retried blindly.
	ErrOutcomeUnknown = errors.New("store: commit outcome unknown")
	// ErrBroken: stored state that does not decode, or an engine error of no other class.
	ErrBroken = errors.New("store: broken")
	// ErrSchema: the schema is missing, older or newer than this program's.
	ErrSchema = errors.New("store: schema")
)
