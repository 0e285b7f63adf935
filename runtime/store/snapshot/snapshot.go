// Package snapshot reads one state of a whole database, whatever servers write meanwhile. It is for
// tools that look at everything; operations of the engine use store.Reader.
package snapshot

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"dwserver/runtime/store/schema"
)

// Snapshot is one state of a database, for reading only. It is not safe for concurrent use.
type Snapshot struct {
	conn  *sql.Conn
	close func() error
}

// Row is one row of a result.
type Row struct {
	Columns []string
	Scan    func(into ...any) error
}

// Open takes a snapshot on conn: the schema has to be this program's, then the statements of begin
// open the transaction that reads it. Close calls close. Errors: store.ErrSchema.
func Open(ctx context.Context, d schema.Dialect, conn *sql.Conn, begin []string, close func() error) (*Snapshot, error) {
	s := &Snapshot{conn: conn, close: close}
	if err := s.open(ctx, d, begin); err != nil {
		return nil, errors.Join(err, conn.Close(), close())
	}
	return s, nil
}

func (s *Snapshot) open(ctx context.Context, d schema.Dialect, begin []string) error {
	m, err := schema.New(d, s.conn, func() error { return nil })
	if err != nil {
		return err
	}
	if err := m.Validate(ctx); err != nil {
		return err
	}
	for _, text := range begin {
		if _, err := s.conn.ExecContext(ctx, text); err != nil {
			return fmt.Errorf("snapshot: %s: %w", text, err)
		}
	}
	return nil
}

// Each runs a statement and calls fn with every row of its result, in order. An error of fn ends it
// and is returned.
func (s *Snapshot) Each(ctx context.Context, text string, fn func(Row) error) error {
	rows, err := s.conn.QueryContext(ctx, text)
	if err != nil {
		return err
	}
	defer rows.Close()
	columns, err := rows.Columns()
	if err != nil {
		return err
	}
	for rows.Next() {
		if err := fn(Row{Columns: columns, Scan: rows.Scan}); err != nil {
			return err
		}
	}
	return rows.Err()
}

// Close ends the snapshot.
func (s *Snapshot) Close() error { return errors.Join(s.conn.Close(), s.close()) }
