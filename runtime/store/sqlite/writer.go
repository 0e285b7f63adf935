package sqlite

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"runtime"

	"dwserver/gen/sqlitedb"
	"dwserver/runtime/store"
)

// groupMax bounds the transitions of one commit.
const groupMax = 64

// A job is one queued transition. The writer answers it once, on done.
type job struct {
	ctx    context.Context
	fn     func(context.Context, *tx) error
	tries  int
	err    error
	panic  any  // what fn panicked with, raised again in its caller
	exited bool // fn ended its goroutine; so does its caller
	done   chan struct{}
}

// writer owns the only connection that writes. Its goroutine takes queued jobs and commits them
// in groups; a caller hands its job over directly, so one whose context ends before its turn
// never enters a group.
type writer struct {
	db    *sql.DB
	conn  *sql.Conn
	q     *sqlitedb.Queries
	verbs verbs
	probe store.Probe
	tx    tx // reused by every job

	jobs    chan *job
	members []*job // of the running group
	redo    []*job // jobs whose group was lost through another's fault
	stop    chan struct{}
	over    chan struct{}
	last    error // of closing the connection
}

// verbs are the statements around the writes.
type verbs struct {
	begin, commit, rollback      verb
	mark, keep, undo             verb // savepoint of a member
	markPart, keepPart, undoPart verb // savepoint inside a member
}

type verb struct {
	text  string
	stmt  *sql.Stmt
	probe store.Probe
}

func (v *verb) run() error {
	if v.probe != nil {
		if err := v.probe(context.Background(), v.text); err != nil {
			return err
		}
	}
	_, err := v.stmt.Exec()
	return err
}

func startWriter(ctx context.Context, db *sql.DB, conn *sql.Conn, probe store.Probe) (*writer, error) {
	w := &writer{db: db, probe: probe, jobs: make(chan *job), stop: make(chan struct{}), over: make(chan struct{})}
	if err := w.prepare(ctx, conn); err != nil {
		return nil, err
	}
	go w.loop()
	return w, nil
}

func (w *writer) prepare(ctx context.Context, conn *sql.Conn) error {
	q, err := queries(ctx, conn, w.probe)
	if err != nil {
		return fmt.Errorf("sqlite: prepare writes: %w", err)
	}
	for text, v := range map[string]*verb{
		"BEGIN IMMEDIATE": &w.verbs.begin, "COMMIT": &w.verbs.commit, "ROLLBACK": &w.verbs.rollback,
		"SAVEPOINT member": &w.verbs.mark, "RELEASE member": &w.verbs.keep, "ROLLBACK TO member": &w.verbs.undo,
		"SAVEPOINT part": &w.verbs.markPart, "RELEASE part": &w.verbs.keepPart, "ROLLBACK TO part": &w.verbs.undoPart,
	} {
		stmt, err := conn.PrepareContext(ctx, text)
		if err != nil {
			return fmt.Errorf("sqlite: prepare %s: %w", text, err)
		}
		*v = verb{text: text, stmt: stmt, probe: w.probe}
	}
	w.conn, w.q = conn, q
	w.tx = tx{reads: reads{q: q}, w: w, cache: newCaches(w.probe)}
	return nil
}

// do queues fn and waits for its outcome.
func (w *writer) do(ctx context.Context, fn func(context.Context, *tx) error) error {
	j := &job{ctx: ctx, fn: fn, done: make(chan struct{})}
	select {
	case <-w.stop:
		return store.ErrClosed
	case <-ctx.Done():
		return ctx.Err()
	case w.jobs <- j:
	}
	<-j.done
	if j.panic != nil {
		panic(j.panic) //nolint:forbidigo // the panic of the caller's own function, on its own goroutine
	}
	if j.exited {
		runtime.Goexit()
	}
	return j.err
}

var errExited = errors.New("a member of the group ended its goroutine")

// loop runs groups until close, then those already being handed over.
func (w *writer) loop() {
	ended := false
	defer func() {
		if ended {
			close(w.over)
			return
		}
		w.abandon(errExited)
		go w.loop()
	}()
	for {
		if len(w.redo) > 0 {
			j := w.redo[0]
			w.redo = w.redo[1:]
			w.group(j)
			continue
		}
		select {
		case j := <-w.jobs:
			w.group(j)
		case <-w.stop:
			w.drain()
			w.last = errors.Join(w.conn.Close(), w.db.Close())
			ended = true
			return
		}
	}
}

func (w *writer) drain() {
	for {
		select {
		case j := <-w.jobs:
			w.group(j)
		default:
			return
		}
	}
}

// close ends the loop and the connection.
func (w *writer) close() error {
	close(w.stop)
	<-w.over
	return w.last
}

// discard ends the connection for good, with the transaction that it may hold. SQLite keeps one that has
// statements open, and the pool would hand out again one that was only closed.
func (w *writer) discard() error {
	v := &w.verbs
	for _, verb := range []*verb{&v.begin, &v.commit, &v.rollback, &v.mark, &v.keep, &v.undo, &v.markPart, &v.keepPart, &v.undoPart} {
		_ = verb.stmt.Close() // of a connection that failed: its error says nothing new
	}
	if w.probe == nil {
		_ = w.q.Close() // as above
	}
	err := w.conn.Raw(func(any) error { return driver.ErrBadConn })
	if errors.Is(err, driver.ErrBadConn) || errors.Is(err, sql.ErrConnDone) {
		return nil
	}
	return err
}

// renew replaces a connection that cannot even roll back.
func (w *writer) renew() error {
	ctx := context.Background()
	err := w.discard()
	conn, openErr := w.db.Conn(ctx)
	if openErr != nil {
		return errors.Join(err, openErr)
	}
	return w.prepare(ctx, conn)
}
