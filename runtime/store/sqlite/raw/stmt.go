package raw

import (
	"math"
	"unsafe"

	"modernc.org/libc"
	sqlite3 "modernc.org/sqlite/lib"
)

// Stmt is a prepared statement. Its first error stays until End: nothing runs after it. Between its
// first bound value and End no other statement of the connection is bound. Parameters count from 1,
// columns from 0.
type Stmt struct {
	conn *Conn
	tls  *libc.TLS
	p    uintptr
	err  error
}

// Prepare makes a statement that is kept until the connection is closed.
func (c *Conn) Prepare(text string) (*Stmt, error) {
	s, err := c.prepare(text, sqlite3.SQLITE_PREPARE_PERSISTENT)
	if err != nil {
		return nil, err
	}
	c.stmts = append(c.stmts, s)
	return s, nil
}

func (c *Conn) prepare(text string, flags uint32) (*Stmt, error) {
	defer c.arena.reset()
	sql := put(&c.arena, text+"\x00")
	handle := put(&c.arena, zeros[:])
	if sql == 0 || handle == 0 {
		return nil, c.error(sqlite3.SQLITE_NOMEM)
	}
	rc := sqlite3.Xsqlite3_prepare_v3(c.tls, c.db, sql, int32(len(text)+1), flags, handle, 0)
	if rc != sqlite3.SQLITE_OK {
		return nil, c.error(rc)
	}
	p := *(*uintptr)(pointer(handle))
	if p == 0 {
		return nil, &Error{Code: sqlite3.SQLITE_MISUSE, Message: "no statement in " + text}
	}
	return &Stmt{conn: c, tls: c.tls, p: p}, nil
}

// Shape is the number of parameters and of columns.
func (s *Stmt) Shape() (params, columns int) {
	return int(sqlite3.Xsqlite3_bind_parameter_count(s.tls, s.p)), int(sqlite3.Xsqlite3_column_count(s.tls, s.p))
}

func (s *Stmt) finalize() {
	sqlite3.Xsqlite3_finalize(s.tls, s.p) // returns the last step's error again
	s.p = 0
}

func (s *Stmt) fail(rc int32) {
	if s.err == nil {
		s.err = s.conn.error(rc)
	}
}

// BindText binds a text.
func (s *Stmt) BindText(param int, v string) {
	p, n := place(s, v)
	s.bound(sqlite3.Xsqlite3_bind_text(s.tls, s.p, int32(param), p, n, static))
}

// BindBlob binds bytes; nil is NULL.
func (s *Stmt) BindBlob(param int, v []byte) {
	if v == nil {
		s.bound(sqlite3.Xsqlite3_bind_null(s.tls, s.p, int32(param)))
		return
	}
	p, n := place(s, v)
	s.bound(sqlite3.Xsqlite3_bind_blob(s.tls, s.p, int32(param), p, n, static))
}

// BindInt64 binds an integer.
func (s *Stmt) BindInt64(param int, v int64) {
	s.bound(sqlite3.Xsqlite3_bind_int64(s.tls, s.p, int32(param), v))
}

// static tells SQLite that a value stays where it is: in the arena, until End.
const static = 0

// place copies a value to where SQLite may keep its address.
func place[T string | []byte](s *Stmt, v T) (uintptr, int32) {
	if len(v) > math.MaxInt32 {
		s.fail(sqlite3.SQLITE_TOOBIG)
		return 0, 0
	}
	p := put(&s.conn.arena, v)
	if p == 0 {
		s.fail(sqlite3.SQLITE_NOMEM)
	}
	return p, int32(len(v))
}

func (s *Stmt) bound(rc int32) {
	if rc != sqlite3.SQLITE_OK {
		s.fail(rc)
	}
}

// Next runs the statement up to its next row, false when there is none or it failed.
func (s *Stmt) Next() bool {
	if s.err != nil {
		return false
	}
	switch rc := sqlite3.Xsqlite3_step(s.tls, s.p); rc {
	case sqlite3.SQLITE_ROW:
		return true
	case sqlite3.SQLITE_DONE:
	default:
		s.fail(rc)
	}
	return false
}

// Text is a column of the row as text.
func (s *Stmt) Text(column int) string {
	p := sqlite3.Xsqlite3_column_text(s.tls, s.p, int32(column))
	if p == 0 {
		s.null(column)
		return ""
	}
	return string(memory(p, s.size(column)))
}

// Blob is a column of the row as bytes, nil when there are none.
func (s *Stmt) Blob(column int) []byte {
	p := sqlite3.Xsqlite3_column_blob(s.tls, s.p, int32(column))
	if p == 0 { // also of no bytes
		s.null(column)
		return nil
	}
	n := s.size(column)
	b := make([]byte, n)
	copy(b, memory(p, n))
	return b
}

// Int64 is a column of the row as an integer.
func (s *Stmt) Int64(column int) int64 {
	v := sqlite3.Xsqlite3_column_int64(s.tls, s.p, int32(column))
	if v == 0 {
		s.null(column)
	}
	return v
}

func (s *Stmt) size(column int) int {
	return int(sqlite3.Xsqlite3_column_bytes(s.tls, s.p, int32(column)))
}

// null fails the statement when a column is NULL, as no Go value here stands for it.
func (s *Stmt) null(column int) {
	if s.err == nil && sqlite3.Xsqlite3_column_type(s.tls, s.p, int32(column)) == sqlite3.SQLITE_NULL {
		s.err = nullError(column)
	}
}

// Changes is the number of rows that the statement changed.
func (s *Stmt) Changes() int64 {
	if s.err != nil {
		return 0
	}
	return sqlite3.Xsqlite3_changes64(s.tls, s.conn.db)
}

// End makes the statement ready to be bound and run again and returns its error.
func (s *Stmt) End() error {
	err := s.err
	s.err = nil
	sqlite3.Xsqlite3_reset(s.tls, s.p) // returns the last step's error again
	s.conn.arena.reset()
	return err
}

// memory is the n bytes at p, which are not Go's.
func memory(p uintptr, n int) []byte { return unsafe.Slice((*byte)(pointer(p)), n) }

// pointer is a Go pointer to memory that is not Go's, which does not move.
func pointer(p uintptr) unsafe.Pointer { return *(*unsafe.Pointer)(unsafe.Pointer(&p)) }
