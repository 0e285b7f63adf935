// Package mysql is the store on MySQL 8.0 and newer and MariaDB 10.6 and newer (both have SKIP
// LOCKED), and on servers that speak their protocol.
//
// Locking: a transition takes the lock of one run's row, and the locks of registrations and
// workflow ids around it, at READ COMMITTED, where InnoDB locks no gaps; claims skip what is locked.
// There is no pipelining, so statements are prepared once per connection and rows of one table go
// out together. Work that other processes made is found by one small scan per process.
package mysql

import (
	"context"
	"database/sql"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-sql-driver/mysql"

	"dwserver/gen/mysqldb"
	"dwserver/runtime/store"
	"dwserver/runtime/store/locking"
)

const defaultConns = 16

// minPacket is the smallest max_allowed_packet that takes the largest legal document.
const minPacket = 4 << 20

// Store implements store.Store.
type Store struct {
	reads
	db      *sql.DB
	stmts   statements
	opt     store.Options
	log     *slog.Logger
	queue   *locking.Queue
	takes   locking.Takes
	scanner *scanner
	closed  atomic.Bool
	closing sync.Once
}

// Open connects to the database of a URL (see config), creates its schema when it is empty and
// upgrades it when opt allows. Errors: store.ErrUnavailable, store.ErrSchema.
func Open(ctx context.Context, dbURL string, opt store.Options) (*Store, error) {
	opt.Probe, opt.Count = opt.Watched(), nil
	cfg, err := config(dbURL)
	if err != nil {
		return nil, err
	}
	if err := ensure(ctx, dbURL, opt.MigrateOnStart); err != nil {
		return nil, err
	}
	if cfg.MaxAllowedPacket, err = packet(ctx, cfg); err != nil {
		return nil, err
	}
	db, err := connect(cfg, opt.LockWait())
	if err != nil {
		return nil, err
	}
	conns := defaultConns
	if opt.MaxConns > 0 {
		conns = opt.MaxConns
	}
	db.SetMaxOpenConns(conns)
	db.SetMaxIdleConns(conns)
	db.SetConnMaxIdleTime(5 * time.Minute)
	db.SetConnMaxLifetime(time.Hour)
	s := &Store{db: db, opt: opt, log: opt.Log(), queue: locking.NewQueue()}
	s.stmts.db = db
	s.run = s.read
	s.scanner = startScanner(s)
	return s, nil
}

// packet is the server's largest packet; the driver sends longer arguments in parts.
func packet(ctx context.Context, cfg *mysql.Config) (n int, err error) {
	db, err := connect(cfg, time.Minute)
	if err != nil {
		return 0, err
	}
	defer db.Close()
	if err := db.QueryRowContext(ctx, "SELECT @@max_allowed_packet").Scan(&n); err != nil {
		return 0, classifyIn(ctx, err)
	}
	if n < minPacket {
		return 0, fmt.Errorf("mysql: max_allowed_packet is %d bytes; %d are needed", n, minPacket)
	}
	return n, nil
}

// acquire takes a connection of the pool, waiting a bounded time for one.
func (s *Store) acquire(ctx context.Context) (*sql.Conn, error) {
	wait, cancel := context.WithTimeout(ctx, s.opt.LockWait())
	defer cancel()
	conn, err := s.db.Conn(wait)
	if err != nil && ctx.Err() == nil && wait.Err() != nil {
		return nil, fmt.Errorf("%w: no connection became free in %s", store.ErrUnavailable, s.opt.LockWait())
	}
	return conn, err
}

// read runs one generated read on a connection of the pool, and again when that was dead.
func (s *Store) read(ctx context.Context, fn func(*mysqldb.Queries) error) error {
	return s.readOn(ctx, link{stmts: &s.stmts, probe: s.opt.Probe}, fn)
}

// readText is read for a query whose text varies.
func (s *Store) readText(ctx context.Context, fn func(*mysqldb.Queries) error) error {
	return s.readOn(ctx, plain{link{stmts: &s.stmts, probe: s.opt.Probe}}, fn)
}

func (s *Store) readOn(ctx context.Context, db mysqldb.DBTX, fn func(*mysqldb.Queries) error) error {
	if s.closed.Load() {
		return store.ErrClosed
	}
	return locking.Reread(func() error {
		return classifyIn(ctx, fn(mysqldb.New(db)))
	})
}

// Ping implements store.Store.
func (s *Store) Ping(ctx context.Context) error {
	if s.closed.Load() {
		return store.ErrClosed
	}
	return classifyIn(ctx, s.db.PingContext(ctx))
}

// Close ends the scan and the pool.
func (s *Store) Close() error {
	s.closing.Do(func() {
		s.closed.Store(true)
		s.scanner.close()
		if err := s.db.Close(); err != nil { // of saying goodbye on a connection that is gone
			s.log.Debug("closing the pool", "error", err)
		}
	})
	return nil
}

var _ store.Store = (*Store)(nil)
