package mysql

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"time"

	"dwserver/gen/mysqldb"
	"dwserver/runtime/rules"
	"dwserver/runtime/store"
	"dwserver/runtime/store/batch"
	"dwserver/runtime/store/locking"
)

// tx implements store.Tx. It begins with the first read, usually a lock; writes are held back until
// the next read or COMMIT, so that rows of one table go out together.
type tx struct {
	reads
	s      *Store
	ctx    context.Context
	conn   *sql.Conn
	tx     *sql.Tx
	locked bool   // holds a run's lock
	first  string // task whose run the claim waits for, "" when it waits for none
	settle bool
	held   []batch.Write
	points int // open savepoints
	sent   int // times that something was sent
	leave  func()
	worker *rules.Worker // registration that is shared
	ahead  locking.Ahead
	taking locking.Taking     // tasks this transaction is the only one here to take
	stands bool               // is committed
	seen   []rules.WorkerSeen // stored after the commit
	fault  error              // what ends the transaction, whatever its function makes of it
}

// begin starts the transaction. Its own context does not end: a caller that goes away ends the
// statement that is running, and then the transaction here.
func (t *tx) begin() (err error) {
	if t.tx != nil {
		return nil
	}
	if err := t.probe("BEGIN"); err != nil {
		return err
	}
	if t.conn, err = t.s.acquire(t.ctx); err != nil {
		return err
	}
	t.tx, err = t.conn.BeginTx(context.WithoutCancel(t.ctx), nil)
	return err
}

func (t *tx) probe(statement string) error {
	if t.s.opt.Probe == nil {
		return nil
	}
	return t.s.opt.Probe(t.ctx, statement)
}

func (t *tx) link() link { return link{stmts: &t.s.stmts, tx: t.tx, probe: t.s.opt.Probe} }

// read runs one generated read behind what was held back.
func (t *tx) read(_ context.Context, fn func(*mysqldb.Queries) error) error {
	return t.reading(func() error { return fn(mysqldb.New(t.link())) })
}

func (t *tx) reading(fn func() error) error {
	if t.fault != nil {
		return t.fault
	}
	err := t.begin()
	if err == nil {
		err = t.flush()
	}
	if err == nil {
		t.sent++
		err = fn()
	}
	return t.note(classifyIn(t.ctx, err))
}

func (t *tx) note(err error) error {
	if hard(err) && t.fault == nil {
		t.fault = err
	}
	return err
}

// flush sends what was held back.
func (t *tx) flush() error {
	for len(t.held) > 0 {
		var group []batch.Write
		group, t.held = batch.Next(t.held)
		t.sent++
		if err := t.send(group); err != nil {
			t.held = nil
			return err
		}
	}
	return nil
}

func (t *tx) send(group []batch.Write) error {
	w := &group[0]
	var result sql.Result
	var err error
	switch {
	case len(group) > 1:
		prepare := len(group) <= maxPrepared
		text, args := together(group, prepare)
		result, err = t.link().orPlain(prepare).ExecContext(t.ctx, text, args...)
	case !strings.HasPrefix(w.SQL, "-- name"): // SAVEPOINT and RELEASE
		_, err := plain{t.link()}.ExecContext(t.ctx, w.SQL)
		return err
	default:
		result, err = t.link().ExecContext(t.ctx, w.SQL, w.Args...)
	}
	if err != nil || !w.Guarded() {
		return err
	}
	n, err := result.RowsAffected() // rows found, changed or not
	if err == nil && n != int64(len(group)) {
		err = fmt.Errorf("%w: %s found %d of %d rows", store.ErrConflict, store.StatementName(w.SQL), n, len(group))
	}
	return err
}

// commit sends what was held back, and COMMIT. A caller that goes away now has the outcome it would
// have had.
func (t *tx) commit() error {
	if t.tx == nil && len(t.held) == 0 {
		return nil
	}
	err := t.begin()
	if err == nil {
		err = t.flush()
	}
	if err != nil {
		return classifyIn(t.ctx, err)
	}
	t.next()
	if err := t.probe("COMMIT"); err != nil {
		return classify(err)
	}
	if err := t.committing(); err != nil {
		return classifyCommit(err)
	}
	t.stands = true
	t.taking.End(&t.s.takes, true)
	t.release()
	return t.probe(store.Committed)
}

var errNoAnswer = errors.New("no answer to COMMIT in time")

// committing waits a bounded time for the answer to COMMIT, which takes no context.
func (t *tx) committing() error {
	done := make(chan error, 1)
	conn, tx := t.conn, t.tx
	go func() { done <- tx.Commit() }()
	timer := time.NewTimer(commitTimeout)
	defer timer.Stop()
	select {
	case err := <-done:
		return err
	case <-timer.C:
		t.conn, t.tx = nil, nil
		go func() {
			if err := <-done; err != nil { // the caller was told that there was no answer
				t.s.log.Debug("a statement that was given up ended", "error", err)
			}
			_ = conn.Close() // nobody waits for it any more
		}()
		return errNoAnswer
	}
}

// queueFor waits in this process for the run's turn, if the transaction holds nothing yet.
func (t *tx) queueFor(runID string) (err error) {
	if runID == "" || t.tx != nil || t.leave != nil {
		return nil
	}
	t.leave, err = t.s.queue.Enter(t.ctx, runID)
	return t.note(err)
}

// next lets the run's next transition begin.
func (t *tx) next() {
	if t.leave != nil {
		t.leave()
	}
}

// end leaves nothing open: it rolls back what was not committed.
func (t *tx) end() {
	t.next()
	defer func() { t.taking.End(&t.s.takes, t.stands) }()
	defer t.release()
	if t.tx == nil {
		return
	}
	if err := t.tx.Rollback(); err != nil && !errors.Is(err, sql.ErrTxDone) {
		t.s.log.Debug("rollback failed; the connection is dropped", "error", err)
	}
}

// release gives the connection back.
func (t *tx) release() {
	if t.conn != nil {
		_ = t.conn.Close() // it goes back to the pool, which drops it when it is of no use
	}
	t.conn, t.tx = nil, nil
}

// Savepoint implements store.Tx. It costs nothing when nothing is sent within.
func (t *tx) Savepoint(_ context.Context, fn func() error) error {
	t.points++
	defer func() { t.points-- }()
	name := fmt.Sprint("part", t.points)
	before, sent := len(t.held), t.sent
	t.held = append(t.held, batch.Write{SQL: "SAVEPOINT " + name})
	failed := fn()
	if failed == nil {
		t.held = append(t.held, batch.Write{SQL: "RELEASE SAVEPOINT " + name})
		return nil
	}
	t.ahead.Forget()
	if sent == t.sent {
		t.held = t.held[:before]
		return failed
	}
	t.held = nil
	if t.fault != nil {
		return failed
	}
	for _, text := range []string{"ROLLBACK TO SAVEPOINT " + name, "RELEASE SAVEPOINT " + name} {
		if _, err := (plain{t.link()}).ExecContext(t.ctx, text); err != nil {
			t.fault = afterRollback(t.ctx, err, failed)
			break
		}
	}
	return failed
}
