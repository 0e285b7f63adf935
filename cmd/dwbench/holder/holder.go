// Package holder holds many polls at once: the load of a large fleet that has nothing to do.
package holder

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"

	"dwserver/cmd/dwbench/program"
	"dwserver/cmd/dwbench/wire"
	"dwserver/cmd/dwbench/worker"
)

// Options say what is held.
type Options struct {
	Address string
	Queue   string
	Polls   int // on as many connections
	// PollsPerWorker share a registration, half of them for each kind of task.
	PollsPerWorker int
	Seconds        int64 // how long a poll asks to be held; it is polled again at once
}

// Process holds polls until stdin ends.
func Process(ctx context.Context, options string, stdin io.Reader, stdout io.Writer) error {
	var opt Options
	if err := json.Unmarshal([]byte(options), &opt); err != nil {
		return fmt.Errorf("options: %w", err)
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	go func() {
		_, _ = io.Copy(io.Discard, stdin) // until the parent closes it, or ends
		stop()
	}()
	h := holder{opt: opt, stop: stop}
	if err := h.register(); err != nil {
		return err
	}
	if _, err := fmt.Fprintln(stdout, "ready"); err != nil {
		return err
	}
	return h.hold(ctx)
}

type holder struct {
	opt     Options
	stop    context.CancelFunc
	workers []*worker.Worker
}

func (h *holder) register() error {
	for i := 0; i*h.opt.PollsPerWorker < h.opt.Polls; i++ {
		w := worker.New(worker.Options{Address: h.opt.Address, Queue: h.opt.Queue, ID: fmt.Sprintf("idle-%d", i),
			Program: program.Program{Kind: program.Sequence}, Slots: h.opt.PollsPerWorker})
		if err := w.Register(); err != nil {
			return err
		}
		h.workers = append(h.workers, w)
	}
	return nil
}

// hold keeps every poll held until the context ends.
func (h *holder) hold(ctx context.Context) error {
	faults := make([]error, h.opt.Polls)
	var wg sync.WaitGroup
	for i := range h.opt.Polls {
		wg.Go(func() {
			w := h.workers[i/h.opt.PollsPerWorker]
			if err := w.Hold(ctx, i%2 == 0, h.opt.Seconds); err != nil && !errors.Is(err, wire.ErrInterrupted) {
				faults[i] = err
				h.stop()
			}
		})
	}
	wg.Wait()
	return errors.Join(faults...)
}
