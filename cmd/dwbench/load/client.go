package load

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"dwserver/cmd/dwbench/latency"
	"dwserver/cmd/dwbench/program"
	"dwserver/cmd/dwbench/wire"
	"dwserver/cmd/dwbench/worker"
)

// clients are callers of the control plane, each on a connection of its own.
type clients struct {
	http *wire.Client
	n    int

	mu   sync.Mutex
	took latency.Histogram
}

func newClients(address string, n int) *clients {
	return &clients{http: wire.NewClient(address, worker.ControlHeaders), n: n}
}

// each calls fn for 0 to count-1, one after the other by each of the clients.
func (c *clients) each(ctx context.Context, count int, fn func(conn *wire.Conn, i int) error) error {
	var next atomic.Int64
	faults := make([]error, c.n)
	var wg sync.WaitGroup
	for k := range c.n {
		wg.Go(func() {
			conn := c.http.Get()
			defer c.http.Put(conn)
			for faults[k] == nil {
				i := int(next.Add(1)) - 1
				if i >= count {
					return
				}
				if faults[k] = ctx.Err(); faults[k] == nil {
					faults[k] = fn(conn, i)
				}
			}
		})
	}
	wg.Wait()
	return errors.Join(faults...)
}

// post sends a command and counts its latency.
func (c *clients) post(conn *wire.Conn, path string, body []byte) (wire.Response, bool, error) {
	began := time.Now()
	r, retried, err := conn.Post(path, body)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.took.Add(time.Since(began))
	return r, retried, err
}

func workflowID(i int) string { return fmt.Sprintf("wf-%06d", i) }

// start starts count workflows of a program.
func (c *clients) start(ctx context.Context, p program.Program, count int) error {
	return c.each(ctx, count, func(conn *wire.Conn, i int) error {
		var o wire.Object
		o.Text("workflow_id", workflowID(i))
		o.Text("workflow_type", p.Kind)
		o.Text("task_queue", queue)
		o.Raw("input", []byte("[1]"))
		r, retried, err := c.post(conn, "/workflows", o.Bytes())
		if err != nil {
			return err
		}
		if retried && r.Status == 409 {
			return nil // the first request was carried out
		}
		return wire.Check("/workflows", r)
	})
}

// signal sends a signal to the i-th of n workflows, round and round.
func (c *clients) signal(ctx context.Context, n, count int) error {
	return c.each(ctx, count, func(conn *wire.Conn, i int) error {
		path := "/workflows/" + workflowID(i%n) + "/signal/" + program.SignalName
		var o wire.Object
		o.Raw("input", []byte("[1]"))
		o.Text("request_id", fmt.Sprintf("signal-%d", i))
		r, _, err := c.post(conn, path, o.Bytes())
		if err != nil {
			return err
		}
		return wire.Check(path, r)
	})
}

func merged(r *worker.Report, operations ...string) *latency.Histogram {
	var sum latency.Histogram
	for _, name := range operations {
		if h := r.Latency[name]; h != nil {
			sum.Merge(h)
		}
	}
	return &sum
}
