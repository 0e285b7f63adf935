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
	noDatabase         = 1049
	serverShutdown     = 1053
	duplicateKey       = 1062
	tableFull          = 1114
	tooManyForUser     = 1203
	lockWaitTimeout    = 1205
	deadlock           = 1213
	userLimit          = 1226
	readOnly           = 1290
	queryInterrupted   = 1317
	readOnlyMode       = 1836
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
	case deadlock, lockWaitTimeout:
		return fmt.Errorf("%w: %w", store.ErrContention, me)
	case serverShutdown, connectionKilled:
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

// isConnection reports an error of the connection itself.
func isConnection(err error) bool {
	var ne net.Error
	return errors.Is(err, driver.ErrBadConn) || errors.Is(err, mysql.ErrInvalidConn) || errors.As(err, &ne) ||
		errors.Is(err, sql.ErrConnDone) || errors.Is(err, sql.ErrTxDone)
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

// hard reports an error that ends the transaction whatever its function makes of it.
func hard(err error) bool {
	return err != nil && !errors.Is(err, store.ErrNotFound) && !errors.Is(err, store.ErrConflict)
}
