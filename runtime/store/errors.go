package store

import (
	"errors"
	"fmt"
)

// Sentinels every adapter maps its driver's errors to, in one place per engine. They are matched
// with errors.Is; the driver's own error stays wrapped for logs.
var (
	// ErrNotFound: no such row.
	ErrNotFound = errors.New("store: not found")
	// ErrCrowded: nothing to claim just now, though tasks are there: others hold them, time and again. It
	// matches ErrNotFound.
	ErrCrowded = fmt.Errorf("%w: others hold what may be claimed", ErrNotFound)
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
	// ErrInUse: another server process holds the database file (SQLite only).
	ErrInUse = errors.New("store: database in use by another server process")
	// ErrTaken: the task that a claim was told of is being taken by another transaction of this process;
	// ReadHead waits for that one's end. Nothing was locked.
	ErrTaken = errors.New("store: taken")
	// ErrClosed: the store was closed; nothing was written.
	ErrClosed = errors.New("store: closed")
)

// Classified reports whether err already matches one of the sentinels.
func Classified(err error) bool {
	for _, s := range [...]error{ErrNotFound, ErrConflict, ErrContention, ErrUnavailable, ErrOutcomeUnknown, ErrBroken, ErrClosed} {
		if errors.Is(err, s) {
			return true
		}
	}
	return false
}

// Reasons a schema is refused.
const (
	// SchemaUpgradeRequired: older than this program, and not allowed to upgrade it.
	SchemaUpgradeRequired = "schema_upgrade_required"
	// SchemaTooNew: made by a newer program.
	SchemaTooNew = "schema_too_new"
	// SchemaUnknown: an applied migration is not, or not in this form, one of this program's.
	SchemaUnknown = "schema_unknown"
)

// SchemaError says why a database's schema is refused. It matches ErrSchema.
type SchemaError struct {
	Reason string
	Have   int64 // newest applied version, 0 when none
	Want   int64 // newest version this program knows
	Detail string
}

func (e *SchemaError) Error() string {
	s := fmt.Sprintf("%s: database schema is at version %d, this program needs %d", e.Reason, e.Have, e.Want)
	if e.Detail != "" {
		s += ": " + e.Detail
	}
	return s
}

// Unwrap makes the error match ErrSchema.
func (e *SchemaError) Unwrap() error { return ErrSchema }
