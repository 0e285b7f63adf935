// Package raw is a thin layer on SQLite as modernc.org/sqlite/lib has it in Go: connections and prepared
// statements that are bound from Go values and read into Go values, and nothing else. database/sql and
// its driver cost three to four times what SQLite itself does; docs/decisions/0012 has the numbers.
//
// A connection and its statements are used by one goroutine at a time. That is the caller's duty:
// connections are opened without SQLite's own locks, and libc's thread state belongs to a connection.
package raw

import (
	"unsafe"

	"modernc.org/libc"
	sqlite3 "modernc.org/sqlite/lib"
)

// Conn is one connection to a database file.
type Conn struct {
	tls   *libc.TLS
	db    uintptr
	stmts []*Stmt
	arena arena
}

// Flags of Open.
const (
	ReadWrite = sqlite3.SQLITE_OPEN_READWRITE | sqlite3.SQLITE_OPEN_CREATE
	ReadOnly  = sqlite3.SQLITE_OPEN_READONLY
)

// Open opens the database file at path, ReadWrite or ReadOnly. Errors are *Error.
func Open(path string, flags int32) (*Conn, error) {
	c := &Conn{tls: libc.NewTLS()}
	c.arena.tls = c.tls
	name := put(&c.arena, path+"\x00")
	handle := put(&c.arena, zeros[:])
	if name == 0 || handle == 0 {
		c.release()
		return nil, &Error{Code: sqlite3.SQLITE_NOMEM, Message: "out of memory"}
	}
	rc := sqlite3.Xsqlite3_open_v2(c.tls, name, handle, flags|sqlite3.SQLITE_OPEN_NOMUTEX, layer())
	c.db = *(*uintptr)(pointer(handle)) // SQLite makes one for its message even when it fails
	c.arena.reset()
	if rc != sqlite3.SQLITE_OK {
		err := c.error(rc)
		sqlite3.Xsqlite3_close_v2(c.tls, c.db)
		c.release()
		return nil, err
	}
	sqlite3.Xsqlite3_extended_result_codes(c.tls, c.db, 1)
	return c, nil
}

// zeros is room for one address.
var zeros [unsafe.Sizeof(uintptr(0))]byte

// Exec runs one statement that binds nothing, to its end, once.
func (c *Conn) Exec(text string) error {
	s, err := c.prepare(text, 0)
	if err != nil {
		return err
	}
	for s.Next() {
	}
	err = s.End()
	s.finalize()
	return err
}

// Close ends the statements and the connection, and with it a transaction that is open.
func (c *Conn) Close() error {
	if c.db == 0 {
		return nil
	}
	for _, s := range c.stmts {
		s.finalize()
	}
	var err error
	if rc := sqlite3.Xsqlite3_close_v2(c.tls, c.db); rc != sqlite3.SQLITE_OK {
		err = c.error(rc)
	}
	c.db, c.stmts = 0, nil
	c.release()
	return err
}

// release gives back what is not SQLite's.
func (c *Conn) release() {
	c.arena.free()
	c.tls.Close()
}
