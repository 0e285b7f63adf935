package raw

import (
	"errors"
	"fmt"

	"modernc.org/libc"
	sqlite3 "modernc.org/sqlite/lib"
)

// Error is an error of SQLite.
type Error struct {
	Code    int // extended result code; its low byte is the primary one
	Message string
}

func (e *Error) Error() string { return fmt.Sprintf("sqlite: %s (%d)", e.Message, e.Code) }

// ErrNull: a column is NULL that must not be.
var ErrNull = errors.New("sqlite: unexpected NULL")

func nullError(column int) error { return fmt.Errorf("%w in column %d", ErrNull, column) }

// error is what rc says, with SQLite's message when its last error is the same.
func (c *Conn) error(rc int32) error {
	text := sqlite3.Xsqlite3_errstr(c.tls, rc)
	if c.db != 0 && sqlite3.Xsqlite3_extended_errcode(c.tls, c.db) == rc {
		text = sqlite3.Xsqlite3_errmsg(c.tls, c.db)
	}
	return &Error{Code: int(rc), Message: libc.GoString(text)}
}
