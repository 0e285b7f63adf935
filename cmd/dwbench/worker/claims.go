package worker

import (
	"context"
	"errors"
	"time"

	"dwserver/cmd/dwbench/latency"
	"dwserver/cmd/dwbench/wire"
)

// Claims takes n workflow tasks that are ready, one after the other, and completes none of them. It returns
// how long each took and the bytes of all answers.
func (w *Worker) Claims(ctx context.Context, n int) (*latency.Histogram, int64, error) {
	conn := w.client.Get()
	defer w.client.Put(conn)
	took, bytes := &latency.Histogram{}, int64(0)
	for range n {
		if err := ctx.Err(); err != nil {
			return nil, 0, err
		}
		body := w.pollObject(w.ids.next(), workflowKind, 0)
		began := time.Now()
		r, _, err := conn.Post(pollPaths[workflowKind], body)
		if err == nil {
			err = wire.Check(pollPaths[workflowKind], r)
		}
		if err != nil {
			return nil, 0, err
		}
		took.Add(time.Since(began))
		bytes += int64(len(r.Body))
		l, err := readLease(workflowKind, r.Body)
		if err == nil && l == nil {
			err = errors.New("there was no task to claim")
		}
		if err != nil {
			return nil, 0, err
		}
	}
	return took, bytes, nil
}
