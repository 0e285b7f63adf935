package sqlite

import (
	"errors"
	"fmt"

	"dwserver/gen/sqliteraw"
	"dwserver/runtime/store/sqlite/raw"
)

// session is a connection and the queries prepared on it. One goroutine uses it at a time.
type session struct {
	*raw.Conn
	stmts [len(sqliteraw.All)]*raw.Stmt
}

// openSession opens a connection and applies its settings.
func openSession(path string, flags int32, settings []string) (*session, error) {
	conn, err := raw.Open(path, flags)
	if err != nil {
		return nil, fmt.Errorf("sqlite: open %s: %w", path, err)
	}
	for _, setting := range settings {
		if err := conn.Exec("PRAGMA " + setting); err != nil {
			return nil, errors.Join(fmt.Errorf("sqlite: PRAGMA %s: %w", setting, err), conn.Close())
		}
	}
	return &session{Conn: conn}, nil
}

// prepare prepares a query once.
func (s *session) prepare(q *sqliteraw.Query) (*raw.Stmt, error) {
	if stmt := s.stmts[q.Index]; stmt != nil {
		return stmt, nil
	}
	stmt, err := s.Prepare(q.Text)
	if err != nil {
		return nil, fmt.Errorf("sqlite: prepare %s: %w", q.Name, err)
	}
	if params, columns := stmt.Shape(); params != q.Params || columns != q.Columns {
		return nil, fmt.Errorf("sqlite: %s has %d parameters and %d columns, generated were %d and %d",
			q.Name, params, columns, q.Params, q.Columns)
	}
	s.stmts[q.Index] = stmt
	return stmt, nil
}
