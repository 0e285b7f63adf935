package sqlite

import (
	"context"
	"errors"
	"fmt"
	"runtime"

	"dwserver/gen/sqliteraw"
	"dwserver/runtime/store"
	"dwserver/runtime/store/sqlite/raw"
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
	path  string
	conn  *session
	verbs verbs
	probe store.Probe
	keep  bool // rows of the transaction: nobody asks for every read
	tx    tx   // reused by every job

	registered *registered // for readers
	workers    []string    // registrations that the group changes

	jobs    chan *job
	members []*job // of the running group
	careful bool   // the running group gives members savepoints
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
	stmt  *raw.Stmt
	probe store.Probe
}

func (v *verb) run() error {
	if v.probe != nil {
		if err := v.probe(context.Background(), v.text); err != nil {
			return err
		}
	}
	v.stmt.Next()
	return v.stmt.End()
}

func startWriter(path string, probe store.Probe, keep bool) (*writer, error) {
	w := &writer{path: path, probe: probe, keep: keep, registered: &registered{}, jobs: make(chan *job), stop: make(chan struct{}), over: make(chan struct{})}
	if err := w.connect(); err != nil {
		return nil, err
	}
	go w.loop()
	return w, nil
}

// connect opens the connection and prepares everything on it.
func (w *writer) connect() (err error) {
	if w.conn, err = openSession(w.path, raw.ReadWrite, writerSettings); err != nil {
		return err
	}
	if err := w.prepare(); err != nil {
		return errors.Join(err, w.disconnect())
	}
	w.tx = tx{reads: reads{q: sqliteraw.New(w)}, w: w, cache: newCaches(w.keep)}
	return nil
}

func (w *writer) prepare() error {
	for _, q := range sqliteraw.All {
		if _, err := w.conn.prepare(q); err != nil {
			return err
		}
	}
	for text, v := range map[string]*verb{
		"BEGIN IMMEDIATE": &w.verbs.begin, "COMMIT": &w.verbs.commit, "ROLLBACK": &w.verbs.rollback,
		"SAVEPOINT member": &w.verbs.mark, "RELEASE member": &w.verbs.keep, "ROLLBACK TO member": &w.verbs.undo,
		"SAVEPOINT part": &w.verbs.markPart, "RELEASE part": &w.verbs.keepPart, "ROLLBACK TO part": &w.verbs.undoPart,
	} {
		stmt, err := w.conn.Prepare(text)
		if err != nil {
			return fmt.Errorf("sqlite: prepare %s: %w", text, err)
		}
		*v = verb{text: text, stmt: stmt, probe: w.probe}
	}
	return nil
}

// Start implements sqliteraw.DB on the writer's goroutine.
func (w *writer) Start(ctx context.Context, q *sqliteraw.Query) (sqliteraw.Stmt, error) {
	if w.probe != nil {
		if err := w.probe(ctx, q.Name); err != nil {
			return nil, err
		}
	}
	return w.conn.stmts[q.Index], nil
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
			w.group(w.again())
			continue
		}
		select {
		case j := <-w.jobs:
			w.group(j)
		case <-w.stop:
			w.drain()
			w.last = w.disconnect()
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

// renew replaces a connection that cannot even roll back; closing it ends its transaction.
func (w *writer) renew() error {
	return errors.Join(w.disconnect(), w.connect())
}

func (w *writer) disconnect() error {
	if w.conn == nil {
		return nil
	}
	err := w.conn.Close()
	w.conn = nil
	return err
}
