package mysql

import (
	"context"
	"database/sql"
	"errors"
	"sync"
	"time"

	"dwserver/gen/mysqldb"
	"dwserver/runtime/store"
)

// statements are the prepared statements of a store, by text. database/sql prepares each once per
// connection that runs it.
type statements struct {
	db   *sql.DB
	mu   sync.RWMutex
	list map[string]*sql.Stmt
	// learning are the texts being prepared beside the transactions that met them.
	learning map[string]bool
}

// get is the prepared statement of a text, prepared now when it is not yet. The caller must hold no
// connection: preparing takes one.
func (s *statements) get(ctx context.Context, text string) (*sql.Stmt, error) {
	if stmt := s.known(text); stmt != nil {
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

func (s *statements) known(text string) *sql.Stmt {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.list[text]
}

// learnTimeout bounds how long a statement waits for a connection to be prepared on.
const learnTimeout = 5 * time.Second

// learn prepares a text that a transaction met, beside it: a transaction that waited for a second
// connection could wait for others that do the same, and none would ever get one.
func (s *statements) learn(text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.learning[text] {
		return
	}
	if s.learning == nil {
		s.learning = map[string]bool{}
	}
	s.learning[text] = true
	go func() {
		ctx, cancel := context.WithTimeout(context.Background(), learnTimeout)
		defer cancel()
		_, _ = s.get(ctx, text) // what is not learnt now is learnt when it is met again
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.learning, text)
	}()
}

// link implements mysqldb.DBTX: it runs texts as prepared statements, in a transaction when there
// is one, and calls the probe before each.
type link struct {
	stmts *statements
	tx    *sql.Tx
	probe store.Probe
}

// prepared is the statement to run a text with; nil in a transaction that meets it first: there it
// runs as it stands.
func (l link) prepared(ctx context.Context, text string) (*sql.Stmt, error) {
	if l.probe != nil {
		if err := l.probe(ctx, store.StatementName(text)); err != nil {
			return nil, err
		}
	}
	if l.tx == nil {
		return l.stmts.get(ctx, text)
	}
	stmt := l.stmts.known(text)
	if stmt == nil {
		l.stmts.learn(text)
		return nil, nil
	}
	return l.tx.StmtContext(ctx, stmt), nil
}

func (l link) ExecContext(ctx context.Context, text string, args ...any) (sql.Result, error) {
	stmt, err := l.prepared(ctx, text)
	switch {
	case err != nil:
		return nil, err
	case stmt == nil:
		return l.tx.ExecContext(ctx, text, args...)
	}
	return stmt.ExecContext(ctx, args...)
}

func (l link) QueryContext(ctx context.Context, text string, args ...any) (*sql.Rows, error) {
	stmt, err := l.prepared(ctx, text)
	switch {
	case err != nil:
		return nil, err
	case stmt == nil:
		return l.tx.QueryContext(ctx, text, args...)
	}
	return stmt.QueryContext(ctx, args...)
}

// QueryRowContext cannot return an error, so one of preparing stands in the context's place.
func (l link) QueryRowContext(ctx context.Context, text string, args ...any) *sql.Row {
	stmt, err := l.prepared(ctx, text)
	switch {
	case err != nil:
		return l.stmts.db.QueryRowContext(failed{Context: ctx, err: err}, text)
	case stmt == nil:
		return l.tx.QueryRowContext(ctx, text, args...)
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

// maxPrepared bounds the texts that are prepared of a statement made of parts or rows: one for each number of them.
const maxPrepared = 4

// orPlain is the link for a text that is worth preparing, or one that runs it as it stands.
func (l link) orPlain(prepare bool) mysqldb.DBTX {
	if prepare {
		return l
	}
	return plain{l}
}

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
