package mysql

import (
	"context"
	"database/sql"
	"errors"
	"sync"

	"dwserver/runtime/store"
)

// statements are the prepared statements of a store, by text. database/sql prepares each once per
// connection that runs it.
type statements struct {
	db   *sql.DB
	mu   sync.RWMutex
	list map[string]*sql.Stmt
}

func (s *statements) get(ctx context.Context, text string) (*sql.Stmt, error) {
	s.mu.RLock()
	stmt := s.list[text]
	s.mu.RUnlock()
	if stmt != nil {
		return stmt, nil
	}
	stmt, err := s.db.PrepareContext(ctx, text)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if known := s.list[text]; known != nil { // another was faster
		return known, stmt.Close()
	}
	if s.list == nil {
		s.list = map[string]*sql.Stmt{}
	}
	s.list[text] = stmt
	return stmt, nil
}

// link implements mysqldb.DBTX: it runs texts as prepared statements, in a transaction when there
// is one, and calls the probe before each.
type link struct {
	stmts *statements
	tx    *sql.Tx
	probe store.Probe
}

func (l link) prepared(ctx context.Context, text string) (*sql.Stmt, error) {
	if l.probe != nil {
		if err := l.probe(ctx, store.StatementName(text)); err != nil {
			return nil, err
		}
	}
	stmt, err := l.stmts.get(ctx, text)
	if err == nil && l.tx != nil {
		stmt = l.tx.StmtContext(ctx, stmt)
	}
	return stmt, err
}

func (l link) ExecContext(ctx context.Context, text string, args ...any) (sql.Result, error) {
	stmt, err := l.prepared(ctx, text)
	if err != nil {
		return nil, err
	}
	return stmt.ExecContext(ctx, args...)
}

func (l link) QueryContext(ctx context.Context, text string, args ...any) (*sql.Rows, error) {
	stmt, err := l.prepared(ctx, text)
	if err != nil {
		return nil, err
	}
	return stmt.QueryContext(ctx, args...)
}

// QueryRowContext cannot return an error, so one of preparing stands in the context's place.
func (l link) QueryRowContext(ctx context.Context, text string, args ...any) *sql.Row {
	stmt, err := l.prepared(ctx, text)
	if err != nil {
		return l.stmts.db.QueryRowContext(failed{Context: ctx, err: err}, text)
	}
	return stmt.QueryRowContext(ctx, args...)
}

func (l link) PrepareContext(context.Context, string) (*sql.Stmt, error) {
	return nil, errors.New("mysql: statements are prepared by text")
}

// failed is a context that has ended with an error of its own.
type failed struct {
	context.Context
	err error
}

var ended = func() chan struct{} { c := make(chan struct{}); close(c); return c }()

func (f failed) Done() <-chan struct{} { return ended }
func (f failed) Err() error            { return f.err }

// plain implements mysqldb.DBTX for texts that vary: their arguments are put into the text by the
// driver, so that they make one round trip.
type plain struct {
	link
}

func (p plain) QueryContext(ctx context.Context, text string, args ...any) (*sql.Rows, error) {
	if p.probe != nil {
		if err := p.probe(ctx, store.StatementName(text)); err != nil {
			return nil, err
		}
	}
	if p.tx != nil {
		return p.tx.QueryContext(ctx, text, args...)
	}
	return p.stmts.db.QueryContext(ctx, text, args...)
}

func (p plain) ExecContext(ctx context.Context, text string, args ...any) (sql.Result, error) {
	if p.probe != nil {
		if err := p.probe(ctx, store.StatementName(text)); err != nil {
			return nil, err
		}
	}
	return p.tx.ExecContext(ctx, text, args...)
}
