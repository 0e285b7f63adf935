package worker

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"dwserver/cmd/dwbench/usage"
)

// closedInterval is how often a process tells how many workflows it has closed. The times it tells are
// exact; only their arrival waits, so that telling costs nothing.
const closedInterval = 10 * time.Millisecond

// Process runs a worker as a process of its own until stdin ends. It writes "ready" once it is registered,
// "closed <count> <unix nanoseconds of the last>" as workflows close and "report <json>" at the end.
func Process(ctx context.Context, options string, stdin io.Reader, stdout io.Writer) error {
	var opt Options
	if err := json.Unmarshal([]byte(options), &opt); err != nil {
		return fmt.Errorf("options: %w", err)
	}
	w := New(opt)
	if err := w.Register(); err != nil {
		return err
	}
	if _, err := fmt.Fprintln(stdout, "ready"); err != nil {
		return err
	}
	before := usage.Self()
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	go func() {
		_, _ = io.Copy(io.Discard, stdin) // until the parent closes it, or ends
		stop()
	}()
	told := make(chan error, 1)
	go func() { told <- w.tell(ctx, stdout) }()
	err := w.Run(ctx)
	stop()
	if err := errors.Join(err, <-told); err != nil {
		return err
	}
	report := w.Report()
	report.CPU = usage.Self() - before
	text, err := json.Marshal(report)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(stdout, "report %s\n", text)
	return err
}

// tell writes the count of closed workflows whenever it grew.
func (w *Worker) tell(ctx context.Context, stdout io.Writer) error {
	tick := time.NewTicker(closedInterval)
	defer tick.Stop()
	told := int64(0)
	for {
		if n, last := w.Closed(); n > told {
			told = n
			if _, err := fmt.Fprintf(stdout, "closed %d %d\n", n, last); err != nil {
				return err
			}
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return nil
		}
	}
}
