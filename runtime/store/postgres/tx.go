package postgres

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"dwserver/gen/pgdb"
	"dwserver/runtime/rules"
	"dwserver/runtime/store"
	"dwserver/runtime/store/batch"
	"dwserver/runtime/store/locking"
)

// begin names the isolation level: each statement sees what was committed when it started, so what
// is read after a lock was waited for is what its holder left (write-path.md 1).
const begin = "BEGIN ISOLATION LEVEL READ COMMITTED"

// tx implements store.Tx. BEGIN goes out with the first read, usually a lock; writes are held back
// and go out with the next read, or with COMMIT.
type tx struct {
	reads
	s          *Store
	ctx        context.Context
	conn       *pgxpool.Conn
	begun      bool
	wrote      bool   // has something to commit
	stands     bool   // is committed
	locked     bool   // holds a run's lock
	first      string // task whose run the claim waits for, "" when it waits for none
	settle     bool
	held       []batch.Write
	points     int // open savepoints
	trips      int // round trips made
	wakes      []store.Wake
	leave      func()        // leaves the in-process queue of a run
	worker     *rules.Worker // registration that is held
	ahead      locking.Ahead
	docs       *store.Documents   // read with the last claim's lock, nil when none were
	definition *definition        // expected to be asked for, nil when none is
	told       *told              // the claim of a task that was found, nil when there is none
	taking     locking.Taking     // tasks this transaction is the only one here to take
	seen       []rules.WorkerSeen // stored after the commit
	fault      error              // what ends the transaction, whatever its function makes of it
}

// trip fills and makes one round trip: BEGIN when it is the first, what was held back, then fill's.
func (t *tx) trip(fill func(*pipe)) error {
	if t.fault != nil {
		return t.fault
	}
	if err := t.acquire(); err != nil {
		return t.note(err)
	}
	p := &pipe{ctx: t.ctx, probe: t.s.opt.Probe}
	if !t.begun {
		p.text(begin)
	}
	p.queue(t.held)
	fill(p)
	t.begun, t.held = true, nil
	t.trips++
	err := t.note(classifyIn(t.ctx, p.send(t.conn.Conn())))
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		t.ahead.Forget()
	}
	return err
}

func (t *tx) acquire() (err error) {
	if t.conn == nil {
		t.conn, err = t.s.acquire(t.ctx)
	}
	return err
}

func (t *tx) note(err error) error {
	if hard(err) && t.fault == nil {
		t.fault = err
	}
	return err
}

// read runs one generated read behind what was held back.
func (t *tx) read(_ context.Context, fn func(*pgdb.Queries) error) error {
	return t.trip(func(p *pipe) { p.load(fn, nil) })
}

// commit sends what was held back with COMMIT. A caller that goes away now has the outcome it
// would have had.
func (t *tx) commit() error {
	if !t.wrote {
		return nil // rolled back: a commit of nothing but row locks would wait for the disk
	}
	if err := t.acquire(); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(t.ctx), commitTimeout)
	defer cancel()
	p := &pipe{ctx: ctx, probe: t.s.opt.Probe}
	if !t.begun {
		p.text(begin)
	}
	p.queue(t.held)
	t.next()
	done := ""
	if p.pass("COMMIT") {
		p.batch.Queue("COMMIT").Exec(func(tag pgconn.CommandTag) error {
			done = tag.String()
			return nil
		})
	}
	if err := p.send(t.conn.Conn()); err != nil {
		return classifyCommit(err)
	}
	if done != "COMMIT" { // the server answers ROLLBACK for a transaction that had failed
		return fmt.Errorf("%w: COMMIT of a failed transaction", store.ErrBroken)
	}
	t.begun, t.stands = false, true
	t.taking.End(&t.s.takes, true)
	t.release()
	if t.s.opt.Probe != nil {
		return t.s.opt.Probe(ctx, store.Committed)
	}
	return nil
}

// queueFor waits in this process for the run's turn, if the transaction holds nothing yet.
func (t *tx) queueFor(runID string) (err error) {
	if runID == "" || t.conn != nil || t.leave != nil {
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

// end leaves nothing open: it rolls back what was not committed and gives the connection back.
func (t *tx) end() {
	t.next()
	defer func() { t.taking.End(&t.s.takes, t.stands) }()
	if t.conn == nil {
		return
	}
	if t.begun && !t.conn.Conn().IsClosed() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(t.ctx), 5*time.Second)
		defer cancel()
		if err := t.simple(ctx, "ROLLBACK"); err != nil {
			t.s.log.Debug("rollback failed; the connection is dropped", "error", err)
		}
	}
	t.release()
}

// simple runs statements that a failed transaction still takes, without preparing them.
func (t *tx) simple(ctx context.Context, sql string) error {
	_, err := t.conn.Conn().PgConn().Exec(ctx, sql).ReadAll()
	return err
}

func (t *tx) release() {
	t.conn.Release() // the pool drops a connection that is not idle
	t.conn = nil
}

// Savepoint implements store.Tx. It costs a round trip only when fn fails after something of it
// was sent.
func (t *tx) Savepoint(_ context.Context, fn func() error) error {
	t.points++
	defer func() { t.points-- }()
	name := fmt.Sprint("part", t.points)
	before, wakes := len(t.held), len(t.wakes)
	trips := t.trips
	t.held = append(t.held, batch.Write{SQL: "SAVEPOINT " + name})
	failed := fn()
	if failed == nil {
		t.held = append(t.held, batch.Write{SQL: "RELEASE " + name})
		return nil
	}
	t.wakes = t.wakes[:wakes]
	t.ahead.Forget()
	if trips == t.trips {
		t.held = t.held[:before]
		return failed
	}
	t.held = nil
	if t.fault != nil {
		return failed
	}
	if err := t.back(name); err != nil {
		t.fault = afterRollback(t.ctx, err, failed)
	}
	return failed
}

// back undoes what was sent since a savepoint.
func (t *tx) back(name string) error {
	text := "ROLLBACK TO " + name
	if probe := t.s.opt.Probe; probe != nil {
		if err := probe(t.ctx, text); err != nil {
			return err
		}
	}
	return t.simple(t.ctx, text+"; RELEASE "+name)
}
