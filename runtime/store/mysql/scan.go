package mysql

import (
	"context"
	"sync"
	"time"

	"dwserver/gen/mysqldb"
	"dwserver/runtime/store"
	"dwserver/runtime/store/locking"
)

const (
	// scanInterval is the longest that work which another process made stays unseen.
	scanInterval = 250 * time.Millisecond
	scanOverlap  = 5 * time.Second // how long a transaction may take from deciding to commit
)

// scanner tells this process about work that others made: there are no notifications here, so one
// small query looks for queues whose tasks became claimable lately, for all polls at once.
type scanner struct {
	s      *Store
	stop   context.CancelFunc
	group  sync.WaitGroup
	mu     sync.Mutex
	wake   func(store.Wake)
	looked locking.Scanned
}

func startScanner(s *Store) *scanner {
	ctx, stop := context.WithCancel(context.Background())
	c := &scanner{s: s, stop: stop}
	c.group.Go(func() { c.loop(ctx) })
	return c
}

func (c *scanner) close() {
	c.stop()
	c.group.Wait()
}

// Notify implements store.Store.
func (s *Store) Notify(fn func(store.Wake)) {
	s.scanner.mu.Lock()
	defer s.scanner.mu.Unlock()
	s.scanner.wake = fn
}

// WakeInterval implements store.Store: the scan is faster, so a poll hardly ever needs to look for
// itself.
func (s *Store) WakeInterval() int64 { return (30 * time.Second).Microseconds() }

func (c *scanner) loop(ctx context.Context) {
	tick := time.NewTicker(scanInterval)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		if err := c.look(ctx); err != nil && ctx.Err() == nil {
			c.s.log.Debug("scan for work of other processes failed", "error", err)
		}
	}
}

func (c *scanner) look(ctx context.Context) error {
	c.mu.Lock()
	fn := c.wake
	c.mu.Unlock()
	if fn == nil {
		return nil
	}
	now := c.s.opt.Now()
	after := c.looked.From(now, scanOverlap)
	err := c.s.read(ctx, func(q *mysqldb.Queries) error {
		rows, err := q.TaskListFresh(ctx, mysqldb.TaskListFreshParams{After: after, Now: now})
		for _, r := range rows {
			fn(store.Wake{Namespace: r.Namespace, TaskQueue: r.TaskQueue, Kind: r.Kind, TypeName: r.TypeName, AvailableAt: now})
		}
		return err
	})
	if err == nil {
		c.looked.Done(now)
	}
	return err
}
