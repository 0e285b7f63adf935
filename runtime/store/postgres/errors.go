package postgres

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"syscall"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"dwserver/runtime/store"
	"dwserver/runtime/store/locking"
)

// SQLSTATE codes that are told apart, by what they mean for a transition.
const (
	divisionByZero = "22012" // a guarded update met no row: see queries/postgres
	diskFull       = "53100"
	outOfMemory    = "53200"
	tooManyClients = "53300"
	lockTimeout    = "55P03"
	queryCanceled  = "57014"
	serialization  = "40001"
	deadlock       = "40P01"
	noSavepoint    = "3B001"
)

func dead(err error) error {
	return fmt.Errorf("%w: %w: %w", store.ErrUnavailable, locking.ErrDead, err)
}

// classifyIn is classify for a caller that may have gone away meanwhile.
func classifyIn(ctx context.Context, err error) error {
	if err != nil && ctx.Err() != nil {
		return ctx.Err()
	}
	return classify(err)
}

// classify maps a statement's error to the store's sentinels. It is not for COMMIT.
func classify(err error) error {
	if err == nil || store.Classified(err) {
		return err
	}
	if errors.Is(err, pgx.ErrNoRows) {
		return store.ErrNotFound
	}
	var pe *pgconn.PgError
	if errors.As(err, &pe) {
		if strings.HasPrefix(pe.Code, "57P") { // the server ends the session
			return dead(err)
		}
		return fmt.Errorf("%w: %w", sentinel(pe), err)
	}
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	var ce *pgconn.ConnectError
	if errors.As(err, &ce) {
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, syscall.ECONNRESET) {
			return dead(err) // cut off while it was made: another may be had at once
		}
		return fmt.Errorf("%w: %w", store.ErrUnavailable, err)
	}
	if isConnection(err) {
		return dead(err)
	}
	return fmt.Errorf("%w: %w", store.ErrBroken, err)
}

func sentinel(pe *pgconn.PgError) error {
	switch pe.Code {
	case divisionByZero:
		return store.ErrConflict
	case deadlock, serialization, lockTimeout:
		return store.ErrContention
	case queryCanceled, diskFull, outOfMemory, tooManyClients:
		return store.ErrUnavailable
	}
	switch pe.Code[:2] {
	case "23": // integrity constraint
		return store.ErrConflict
	case "08", "57", "28", "3D": // connection, operator intervention, authorization, no such database
		return store.ErrUnavailable
	}
	return store.ErrBroken
}

// isConnection reports an error of the connection itself.
func isConnection(err error) bool {
	var ne net.Error
	return errors.As(err, &ne) || errors.Is(err, net.ErrClosed) || errors.Is(err, pgconn.ErrConnClosed) ||
		pgconn.SafeToRetry(err) || isCut(err)
}

// classifyCommit maps an error of the round trip that carried COMMIT. Only an answer of the server
// proves that it did not commit; a session that ends meanwhile proves nothing.
func classifyCommit(err error) error {
	if store.Classified(err) {
		return err
	}
	var pe *pgconn.PgError
	if errors.As(err, &pe) && pe.SeverityUnlocalized == "ERROR" {
		return classify(err)
	}
	if pgconn.SafeToRetry(err) {
		return dead(err)
	}
	return fmt.Errorf("%w: %w", store.ErrOutcomeUnknown, err)
}

// afterRollback judges why a rollback to a savepoint failed. Where the savepoint was never made, what was sent
// before it had failed, and that is what ends the transaction; otherwise the rollback's own error does.
func afterRollback(ctx context.Context, err, failed error) error {
	var pe *pgconn.PgError
	if errors.As(err, &pe) && pe.Code == noSavepoint {
		return failed
	}
	return classifyIn(ctx, err)
}

// hard reports an error that ends the transaction whatever its function makes of it.
func hard(err error) bool {
	return err != nil && !errors.Is(err, store.ErrNotFound) && !errors.Is(err, store.ErrConflict)
}
