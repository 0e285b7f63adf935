package postgres

import (
	"context"
	"encoding/json"
	"strconv"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgconn/ctxwatch"

	"dwserver/gen/pgdb"
	"dwserver/runtime/store"
	"dwserver/runtime/store/locking"
)

const (
	channel      = "dw_wake"
	scanInterval = time.Second     // how often work of other processes is looked for
	scanOverlap  = 5 * time.Second // how long a transaction may take from deciding to commit
	reconnectMin = 50 * time.Millisecond
	reconnectMax = 5 * time.Second
	gatherTime   = 10 * time.Millisecond // least between two notifications: a busy process sends a hundred a second
	sendTime     = 5 * time.Second       // how long sending may take
	lastSendTime = time.Second           // the same when the store is closed
)

// notifier tells other processes of this database about work this one made, and this one about
// theirs. Notifications are the fast way; the scan finds what they missed.
type notifier struct {
	s      *Store
	cfg    *pgx.ConnConfig
	self   string // names this process in its own notifications
	stop   context.CancelFunc
	group  sync.WaitGroup
	more   chan struct{}
	looked locking.Scanned
	// publish sends wakes; gather passes when more may be sent.
	publish func(context.Context, []store.Wake) error
	gather  func(context.Context)

	mu      sync.Mutex
	pending map[store.Wake]struct{}
	wake    func(store.Wake)
}

// message is a notification: who sent it, and the wakes.
type message struct {
	From  string
	Wakes []store.Wake
}

func startNotifier(s *Store, cfg *pgx.ConnConfig) *notifier {
	ctx, stop := context.WithCancel(context.Background())
	cfg = cfg.Copy()
	// Waiting for notifications is no statement that could be cancelled.
	cfg.BuildContextWatcherHandler = func(c *pgconn.PgConn) ctxwatch.Handler {
		return &pgconn.DeadlineContextWatcherHandler{Conn: c.Conn()}
	}
	n := &notifier{s: s, cfg: cfg, self: newID(), stop: stop, more: make(chan struct{}, 1),
		pending: map[store.Wake]struct{}{}}
	n.publish = n.notify
	n.gather = func(ctx context.Context) { _ = locking.Wait(ctx, gatherTime) }
	for _, loop := range []func(context.Context){n.send, n.listen, n.scan} {
		n.group.Go(func() { loop(ctx) })
	}
	return n
}

func (n *notifier) close() {
	n.stop()
	n.group.Wait()
}

// Notify implements store.Store.
func (s *Store) Notify(fn func(store.Wake)) {
	s.notifier.mu.Lock()
	defer s.notifier.mu.Unlock()
	s.notifier.wake = fn
}

// WakeInterval implements store.Store: notifications and the scan are faster, so a poll hardly ever
// needs to look for itself.
func (s *Store) WakeInterval() int64 { return (30 * time.Second).Microseconds() }

// add queues wakes of a committed transition. Equal ones of a burst are sent once.
func (n *notifier) add(wakes []store.Wake) {
	if len(wakes) == 0 {
		return
	}
	n.mu.Lock()
	for _, w := range wakes {
		n.pending[w] = struct{}{}
	}
	n.mu.Unlock()
	select {
	case n.more <- struct{}{}:
	default:
	}
}

// send publishes what has queued up, as long as there is more: the first at once, what comes right after it
// together. What is left when the store is closed goes out then.
func (n *notifier) send(ctx context.Context) {
	for ctx.Err() == nil {
		select {
		case <-ctx.Done():
		case <-n.more:
			n.sendAll(ctx, sendTime)
			n.gather(ctx)
		}
	}
	n.sendAll(ctx, lastSendTime)
}

func (n *notifier) sendAll(ctx context.Context, limit time.Duration) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), limit)
	defer cancel()
	if err := n.publish(ctx, n.take()); err != nil {
		n.s.log.Warn("wake-ups were not sent; other processes find the work by their scan", "error", err)
	}
}

func (n *notifier) take() []store.Wake {
	n.mu.Lock()
	defer n.mu.Unlock()
	list := make([]store.Wake, 0, len(n.pending))
	for w := range n.pending {
		list = append(list, w)
	}
	clear(n.pending)
	return list
}

// maxPayload keeps a notification under the server's limit of 8,000 bytes.
const maxPayload = 7000

// notify takes its connection from the pool itself: the store may be closed to others by now.
func (n *notifier) notify(ctx context.Context, wakes []store.Wake) error {
	payloads, err := n.payloads(wakes)
	if err != nil || len(payloads) == 0 {
		return err
	}
	conn, err := n.s.pool.Acquire(ctx)
	if err != nil {
		return err
	}
	defer conn.Release()
	_, err = conn.Exec(ctx, "SELECT pg_notify('"+channel+"', line) FROM unnest($1::text[]) AS line", payloads)
	return err
}

// payloads cuts wakes into notifications that are short enough.
func (n *notifier) payloads(wakes []store.Wake) (list []string, err error) {
	for len(wakes) > 0 {
		k, bytes := 0, 0
		for k < len(wakes) && (k == 0 || bytes < maxPayload/8) {
			w := wakes[k]
			bytes += len(w.Namespace) + len(w.TaskQueue) + len(w.TypeName) + 100
			k++
		}
		text, err := json.Marshal(message{From: n.self, Wakes: wakes[:k]})
		if err != nil {
			return nil, err
		}
		if len(text) <= maxPayload {
			list = append(list, string(text))
		} // one that does not fit is left to the scan
		wakes = wakes[k:]
	}
	return list, nil
}

// listen holds a connection of its own and passes on what it hears, reconnecting for as long as the
// store is open.
func (n *notifier) listen(ctx context.Context) {
	pause := reconnectMin
	for ctx.Err() == nil {
		began := time.Now()
		err := n.hear(ctx)
		if ctx.Err() != nil {
			return
		}
		if time.Since(began) > reconnectMax {
			pause = reconnectMin
		}
		n.s.log.Warn("the listener for wake-ups was lost; scanning meanwhile", "error", err, "retry_in", pause)
		if locking.Wait(ctx, locking.Jitter(int(pause.Milliseconds()))) != nil {
			return
		}
		pause = min(2*pause, reconnectMax)
	}
}

func (n *notifier) hear(ctx context.Context) error {
	conn, err := pgx.ConnectConfig(ctx, n.cfg)
	if err != nil {
		return err
	}
	defer conn.Close(context.WithoutCancel(ctx))
	if _, err := conn.Exec(ctx, "LISTEN "+channel); err != nil {
		return err
	}
	for {
		note, err := conn.WaitForNotification(ctx)
		if err != nil {
			return err
		}
		var m message
		if err := json.Unmarshal([]byte(note.Payload), &m); err != nil {
			n.s.log.Warn("a wake-up that does not decode", "error", err)
			continue
		}
		if m.From != n.self {
			n.pass(m.Wakes)
		}
	}
}

func (n *notifier) pass(wakes []store.Wake) {
	n.mu.Lock()
	fn := n.wake
	n.mu.Unlock()
	if fn == nil {
		return
	}
	for _, w := range wakes {
		fn(w)
	}
}

// scan looks for queues whose tasks became claimable lately, one small query for all polls.
func (n *notifier) scan(ctx context.Context) {
	tick := time.NewTicker(scanInterval)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		if err := n.look(ctx); err != nil && ctx.Err() == nil {
			n.s.log.Debug("scan for work of other processes failed", "error", err)
		}
	}
}

func (n *notifier) look(ctx context.Context) error {
	now := n.s.opt.Now()
	after := n.looked.From(now, scanOverlap)
	var wakes []store.Wake
	err := n.s.read(ctx, func(q *pgdb.Queries) error {
		rows, err := q.TaskListFresh(ctx, pgdb.TaskListFreshParams{After: after, Now: now})
		for _, r := range rows {
			wakes = append(wakes, store.Wake{Namespace: r.Namespace, TaskQueue: r.TaskQueue, Kind: r.Kind,
				TypeName: r.TypeName, AvailableAt: now})
		}
		return err
	})
	n.pass(wakes)
	if err == nil {
		n.looked.Done(now)
	}
	return err
}

var ids struct {
	sync.Mutex
	n int64
}

// newID names a store within and across processes.
func newID() string {
	ids.Lock()
	defer ids.Unlock()
	ids.n++
	return strconv.FormatInt(time.Now().UnixNano(), 36) + "-" + strconv.FormatInt(ids.n, 36)
}
