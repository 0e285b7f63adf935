package sqlite

import (
	"context"
	"errors"

	sqlite3 "modernc.org/sqlite/lib"

	"dwserver/gen/sqliteraw"
	"dwserver/runtime/store"
	"dwserver/runtime/store/sqlite/raw"
)

// pool is the connections that only read. A query has one to itself until it ends.
type pool struct {
	path   string
	probe  store.Probe
	idle   chan *reader
	closed chan struct{}
}

// reader is one connection of the pool, opened when it is first needed.
type reader struct {
	pool    *pool
	session *session
	queries [len(sqliteraw.All)]lent
}

// lent is a statement of a reader that goes back to the pool when it ends.
type lent struct {
	*raw.Stmt
	reader *reader
}

func openPool(path string, size int, probe store.Probe) (*pool, error) {
	p := &pool{path: path, probe: probe, idle: make(chan *reader, size), closed: make(chan struct{})}
	for range size {
		p.idle <- &reader{pool: p}
	}
	r := <-p.idle // one opens now, to tell whether it can
	err := r.open()
	p.idle <- r
	if err != nil {
		return nil, err
	}
	return p, nil
}

// Start implements sqliteraw.DB. It waits for a connection until ctx ends.
func (p *pool) Start(ctx context.Context, q *sqliteraw.Query) (sqliteraw.Stmt, error) {
	if p.probe != nil {
		if err := p.probe(ctx, q.Name); err != nil {
			return nil, err
		}
	}
	r, err := p.take(ctx)
	if err != nil {
		return nil, err
	}
	l := &r.queries[q.Index]
	if l.Stmt == nil {
		stmt, err := r.session.prepare(q)
		if err != nil {
			return nil, errors.Join(err, r.back(err))
		}
		*l = lent{Stmt: stmt, reader: r}
	}
	return l, nil
}

// End ends the statement and gives its connection back.
func (l *lent) End() error {
	err := l.Stmt.End()
	if lost := l.reader.back(err); lost != nil {
		return errors.Join(err, lost)
	}
	return err
}

// take takes an open connection out of the pool.
func (p *pool) take(ctx context.Context) (*reader, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	select {
	case <-p.closed:
		return nil, store.ErrClosed
	default:
	}
	select {
	case r := <-p.idle:
		if err := r.open(); err != nil {
			p.idle <- r
			return nil, err
		}
		return r, nil
	case <-p.closed:
		return nil, store.ErrClosed
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (r *reader) open() (err error) {
	if r.session == nil {
		r.session, err = openSession(r.pool.path, raw.ReadOnly, readerSettings)
	}
	return err
}

// back puts the connection back after a statement, closed when the statement's error is the
// connection's: the next statement then opens another.
func (r *reader) back(err error) error {
	var lost error
	if err != nil && broke(err) {
		lost = r.close()
	}
	r.pool.idle <- r
	return lost
}

// broke reports an error that another connection may not have.
func broke(err error) bool {
	code, ok := resultCode(err)
	return ok && code != sqlite3.SQLITE_BUSY && code != sqlite3.SQLITE_LOCKED
}

func (r *reader) close() error {
	if r.session == nil {
		return nil
	}
	err := r.session.Close()
	r.session, r.queries = nil, [len(sqliteraw.All)]lent{}
	return err
}

// ping reads from the file.
func (p *pool) ping(ctx context.Context) error {
	r, err := p.take(ctx)
	if err != nil {
		return err
	}
	err = r.session.Exec("PRAGMA schema_version")
	return errors.Join(err, r.back(err))
}

// close waits for the statements that run and closes every connection.
func (p *pool) close() error {
	close(p.closed)
	var errs []error
	for range cap(p.idle) {
		errs = append(errs, (<-p.idle).close())
	}
	return errors.Join(errs...)
}
