package mysql

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"net"

	"github.com/go-sql-driver/mysql"

	"dwserver/runtime/store"
	"dwserver/runtime/store/locking"
)

// Server error numbers that are told apart, by what they mean for a transition.
const (
	diskFull           = 1021
	outOfMemory        = 1037
	tooManyConnections = 1040
	accessDenied       = 1045
	recordChanged      = 1020 // MariaDB with innodb_snapshot_isolation
	noDatabase         = 1049
	serverShutdown     = 1053
	duplicateKey       = 1062
	tableFull          = 1114
	tooManyForUser     = 1203
	lockWaitTimeout    = 1205
	deadlock           = 1213
	noSavepoint        = 1305
	userLimit          = 1226
	readOnly           = 1290
	queryInterrupted   = 1317
	readOnlyMode       = 1836
	netReadError       = 1158
	netReadTimeout     = 1159
	netWriteError      = 1160
	netWriteTimeout    = 1161
	sessionKilled      = 3169 // MySQL
	sessionIdle        = 4031 // MySQL
	connectionKilled   = 1927 // MariaDB
	statementTimeout   = 1969 // MariaDB
	queryTimeout       = 3024 // MySQL
)

// classify maps a statement's error to the store's sentinels. It is not for COMMIT.
func classify(err error) error {
	if err == nil || store.Classified(err) {
		return err
	}
	if errors.Is(err, sql.ErrNoRows) {
		return store.ErrNotFound
	}
	var ce connectError
	if errors.As(err, &ce) {
		if errors.Is(ce.err, mysql.ErrInvalidConn) || errors.Is(ce.err, driver.ErrBadConn) {
			return dead(err) // cut off while it was made: another may be had at once
		}
		return fmt.Errorf("%w: %w", store.ErrUnavailable, err)
	}
	var me *mysql.MySQLError
	if errors.As(err, &me) {
		return byNumber(me)
	}
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	if isConnection(err) {
		return dead(err)
	}
	return fmt.Errorf("%w: %w", store.ErrBroken, err)
}

func byNumber(me *mysql.MySQLError) error {
	switch me.Number {
	case duplicateKey:
		return fmt.Errorf("%w: %w", store.ErrConflict, me)
	case deadlock, lockWaitTimeout, recordChanged:
		return fmt.Errorf("%w: %w", store.ErrContention, me)
	case serverShutdown, connectionKilled, sessionKilled, sessionIdle, netReadError, netReadTimeout, netWriteError, netWriteTimeout:
		return dead(me)
	case diskFull, outOfMemory, tooManyConnections, accessDenied, noDatabase, tableFull, tooManyForUser, userLimit,
		readOnly, readOnlyMode, queryInterrupted, statementTimeout, queryTimeout:
		return fmt.Errorf("%w: %w", store.ErrUnavailable, me)
	}
	return fmt.Errorf("%w: %w", store.ErrBroken, me)
}

func dead(err error) error {
	return fmt.Errorf("%w: %w: %w", store.ErrUnavailable, locking.ErrDead, err)
}

// connectError is any error of making a connection. Whatever the server or the network said, nothing was
// asked of the database yet; the driver has errors here that it does not export.
type connectError struct{ err error }

func (e connectError) Error() string { return "connect: " + e.err.Error() }
func (e connectError) Unwrap() error { return e.err }

// isConnection reports an error of the connection itself: it was lost, or what came over it was not the protocol.
func isConnection(err error) bool {
	var ne net.Error
	if errors.As(err, &ne) {
		return true
	}
	for _, of := range [...]error{driver.ErrBadConn, mysql.ErrInvalidConn, sql.ErrConnDone, sql.ErrTxDone,
		mysql.ErrPktSync, mysql.ErrPktSyncMul, mysql.ErrMalformPkt, mysql.ErrBusyBuffer} {
		if errors.Is(err, of) {
			return true
		}
	}
	return false
}

// classifyIn is classify for a caller that may have gone away meanwhile.
func classifyIn(ctx context.Context, err error) error {
	if err != nil && ctx.Err() != nil {
		return ctx.Err()
	}
	return classify(err)
}

// classifyCommit maps an error of COMMIT. Only a refused certificate of the lock manager, and a
// connection that took nothing, prove that it did not commit.
func classifyCommit(err error) error {
	if store.Classified(err) {
		return err
	}
	var me *mysql.MySQLError
	if errors.As(err, &me) && (me.Number == deadlock || me.Number == lockWaitTimeout) {
		return byNumber(me)
	}
	if errors.Is(err, driver.ErrBadConn) {
		return dead(err)
	}
	return fmt.Errorf("%w: %w", store.ErrOutcomeUnknown, err)
}

// afterRollback judges why a rollback to a savepoint failed. Where the savepoint was never made, what was sent
// before it had failed, and that is what ends the transaction; otherwise the rollback's own error does.
func afterRollback(ctx context.Context, err, failed error) error {
	var me *mysql.MySQLError
	if errors.As(err, &me) && me.Number == noSavepoint {
		return failed
	}
	return classifyIn(ctx, err)
}

// hard reports an error that ends the transaction whatever its function makes of it.
func hard(err error) bool {
	return err != nil && !errors.Is(err, store.ErrNotFound) && !errors.Is(err, store.ErrConflict)
}
