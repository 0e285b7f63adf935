package schema

import (
	"errors"
	"testing"
)

// ErrInterrupted is what Interrupt ends with.
var ErrInterrupted = errors.New("schema: interrupted by a test")

// Exec runs a statement on a manager's connection, for tests.
func Exec(t testing.TB, m *Manager, statement string) {
	t.Helper()
	if _, err := m.conn.ExecContext(t.Context(), statement); err != nil {
		t.Fatalf("%s: %v", statement, err)
	}
}

// Interrupt creates a database and is cut off before the n-th statement of its migrations, as by a
// crash: on an engine without transactional DDL what was done stays.
func Interrupt(t testing.TB, m *Manager, n int) error {
	t.Helper()
	m.before = func() error {
		if n--; n < 0 {
			return ErrInterrupted
		}
		return nil
	}
	return m.Ensure(t.Context(), false)
}
