package mysql

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"testing"

	"github.com/go-sql-driver/mysql"
	"github.com/stretchr/testify/require"

	"dwserver/runtime/store"
	"dwserver/runtime/store/locking"
)

// unconnectable is a driver that fails to connect.
type unconnectable struct {
	driver.Connector
	err error
}

func (u unconnectable) Connect(context.Context) (driver.Conn, error) { return nil, u.err }

// Whatever goes wrong while a connection is made is a database that cannot be reached: the driver has errors of
// its own for a server that dies in the middle of the handshake, and servers have many reasons to refuse.
func TestConnectErrors(t *testing.T) {
	for _, err := range []error{errors.New("bad connection"), mysql.ErrMalformPkt, &mysql.MySQLError{Number: 1129, Message: "Host is blocked"}} {
		db := sql.OpenDB(connector{Connector: unconnectable{err: err}})
		got := classify(db.PingContext(t.Context()))
		require.ErrorIs(t, got, store.ErrUnavailable)
		require.ErrorIs(t, got, err)
		require.NoError(t, db.Close())
	}
}

func TestClassify(t *testing.T) {
	for _, row := range []struct {
		err  error
		want error
	}{
		{mysql.ErrPktSync, locking.ErrDead},
		{mysql.ErrInvalidConn, locking.ErrDead},
		{connectError{fmt.Errorf("SET: %w", mysql.ErrInvalidConn)}, locking.ErrDead},
		{&mysql.MySQLError{Number: 1053}, locking.ErrDead},
		{&mysql.MySQLError{Number: 1160}, locking.ErrDead},
		{&mysql.MySQLError{Number: 1020}, store.ErrContention},
		{&mysql.MySQLError{Number: 1062}, store.ErrConflict},
		{&mysql.MySQLError{Number: 1114}, store.ErrUnavailable},
		{&mysql.MySQLError{Number: 1146}, store.ErrBroken},
		{errors.New("any"), store.ErrBroken},
	} {
		require.ErrorIs(t, classify(row.err), row.want, row.err.Error())
	}
}
