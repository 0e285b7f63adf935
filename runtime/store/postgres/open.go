// Package postgres is the store on PostgreSQL 15 and newer, and on servers that speak its protocol
// and understand row locks with SKIP LOCKED.
//
// Locking: a transition takes the lock of one run's row, and the locks of registrations and
// workflow ids around it, at READ COMMITTED; claims skip what is locked. BEGIN, the lock and what
// is loaded with it make one round trip, all writes and COMMIT another.
//
// Wake-ups between processes are notifications sent right after a commit, not inside it: NOTIFY in
// a transaction takes a lock of the whole database until its commit is on disk, which would put all
// commits into a row. What a process that dies in between does not send, a scan finds (notify.go).
package postgres

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgconn/ctxwatch"
	"github.com/jackc/pgx/v5/pgxpool"

	"dwserver/gen/pgdb"
	"dwserver/runtime/store"
	"dwserver/runtime/store/locking"
)

const (
	defaultConns   = 16
	connectTimeout = 5 * time.Second
)

// Store implements store.Store.
type Store struct {
	reads
	pool     *pgxpool.Pool
	opt      store.Options
	log      *slog.Logger
	notifier *notifier
	queue    *locking.Queue
	takes    locking.Takes
	closed   atomic.Bool
	closing  sync.Once
}

// Open connects to the database of a URL, creates its schema when it is empty and upgrades it when
// opt allows. Errors: store.ErrUnavailable, store.ErrSchema.
func Open(ctx context.Context, dbURL string, opt store.Options) (*Store, error) {
	opt.Probe, opt.Count = opt.Watched(), nil
	cfg, err := config(dbURL, opt)
	if err != nil {
		return nil, err
	}
	if err := ensure(ctx, dbURL, opt.MigrateOnStart); err != nil {
		return nil, err
	}
	pool, err := pgxpool.NewWithConfig(ctx, cfg)
	if err != nil {
		return nil, fmt.Errorf("postgres: pool: %w", err)
	}
	s := &Store{pool: pool, opt: opt, log: opt.Log(), queue: locking.NewQueue()}
	s.run = s.read
	if err := s.Ping(ctx); err != nil {
		pool.Close()
		return nil, err
	}
	s.notifier = startNotifier(s, cfg.ConnConfig)
	return s, nil
}

// config is the pool's configuration. It never shows the password in an error.
func config(dbURL string, opt store.Options) (*pgxpool.Config, error) {
	cfg, err := pgxpool.ParseConfig(dbURL)
	if err != nil {
		return nil, fmt.Errorf("postgres: database URL: %w", err)
	}
	cfg.MaxConns = defaultConns
	if opt.MaxConns > 0 {
		cfg.MaxConns = int32(min(opt.MaxConns, 1000))
	}
	cfg.MaxConnIdleTime = 5 * time.Minute
	cfg.MaxConnLifetime = time.Hour
	cfg.MaxConnLifetimeJitter = 10 * time.Minute
	if cfg.ConnConfig.ConnectTimeout == 0 {
		cfg.ConnConfig.ConnectTimeout = connectTimeout
	}
	// A caller that goes away ends its statement, not its connection.
	cfg.ConnConfig.BuildContextWatcherHandler = func(c *pgconn.PgConn) ctxwatch.Handler {
		return &pgconn.CancelRequestContextWatcherHandler{Conn: c, DeadlineDelay: 250 * time.Millisecond}
	}
	cfg.ConnConfig.RuntimeParams["application_name"] = "dwserver"
	cfg.AfterConnect = func(ctx context.Context, conn *pgx.Conn) error {
		return settings(ctx, conn, fmt.Sprintf("lock_timeout = %d", opt.LockWait().Milliseconds()))
	}
	return cfg, nil
}

// settings bounds waiting, and holds the planner to the indexes: a plan made while a table was
// small would go on scanning it when it is large. A server that does not know a setting goes on
// without it.
func settings(ctx context.Context, conn *pgx.Conn, lockTimeout string) error {
	for _, set := range []string{
		lockTimeout, "statement_timeout = '30s'", "idle_in_transaction_session_timeout = '60s'",
		"plan_cache_mode = force_generic_plan", "enable_seqscan = off", "enable_bitmapscan = off",
		"enable_hashjoin = off", "enable_mergejoin = off", "jit = off",
	} {
		if _, err := conn.PgConn().Exec(ctx, "SET "+set).ReadAll(); err != nil && !refused(err) {
			return err
		}
	}
	return nil
}

func refused(err error) bool {
	var pe *pgconn.PgError
	return errors.As(err, &pe)
}

// acquire takes a connection of the pool, waiting a bounded time for one.
func (s *Store) acquire(ctx context.Context) (*pgxpool.Conn, error) {
	if s.closed.Load() {
		return nil, store.ErrClosed
	}
	wait, cancel := context.WithTimeout(ctx, s.opt.LockWait())
	defer cancel()
	conn, err := s.pool.Acquire(wait)
	switch {
	case err == nil:
		return conn, nil
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case s.closed.Load():
		return nil, store.ErrClosed
	case wait.Err() != nil && s.pool.Stat().AcquiredConns() >= s.pool.Config().MaxConns:
		return nil, fmt.Errorf("%w: no connection became free in %s", store.ErrUnavailable, s.opt.LockWait())
	}
	return nil, fmt.Errorf("%w: %w", store.ErrUnavailable, err)
}

// read runs one generated read on a connection of the pool, and again when that was dead.
func (s *Store) read(ctx context.Context, fn func(*pgdb.Queries) error) error {
	return locking.Reread(func() error {
		err := s.readOnce(ctx, fn)
		s.distrust(err)
		return err
	})
}

// distrust makes the pool connect anew after a connection was found dead. A server that ended one session
// has often ended all, and a caller who met one after the other would run out of tries.
func (s *Store) distrust(err error) {
	if errors.Is(err, locking.ErrDead) {
		s.pool.Reset()
	}
}

func (s *Store) readOnce(ctx context.Context, fn func(*pgdb.Queries) error) error {
	conn, err := s.acquire(ctx)
	if err != nil {
		return err
	}
	defer conn.Release()
	if s.opt.Probe != nil {
		return classifyIn(ctx, fn(pgdb.New(probed{conn: conn, probe: s.opt.Probe})))
	}
	return classifyIn(ctx, fn(pgdb.New(conn)))
}

// Ping implements store.Store.
func (s *Store) Ping(ctx context.Context) error {
	conn, err := s.acquire(ctx)
	if err != nil {
		return err
	}
	defer conn.Release()
	return classifyIn(ctx, conn.Ping(ctx))
}

// Close ends the notifier and waits for the connections in use.
func (s *Store) Close() error {
	s.closing.Do(func() {
		s.closed.Store(true)
		s.notifier.close()
		s.pool.Close()
	})
	return nil
}

var _ store.Store = (*Store)(nil)
