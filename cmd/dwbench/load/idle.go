package load

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"time"

	"dwserver/cmd/dwbench/holder"
	"dwserver/cmd/dwbench/report"
)

// idle: so many held polls and nothing to do.
func idle() Workload {
	return Workload{Name: "idle", Once: true, run: runIdle, Fleets: []Fleet{
		{Name: "1000-polls", Workers: 1000}, {Name: "10000-polls", Workers: 10_000}}}
}

func runIdle(ctx context.Context, t *trial) error {
	polls, window := t.fleet.Workers, 10*time.Second
	if t.quick {
		polls, window = polls/20, 2*time.Second
	}
	stop, err := startHolder(ctx, holder.Options{Address: t.server.Address, Queue: queue, Polls: polls, PollsPerWorker: 100, Seconds: 60})
	if err != nil {
		return err
	}
	err = t.watchIdle(ctx, polls, window)
	return errors.Join(err, stop())
}

// watchIdle waits until all polls are held, then looks what the server takes for a while.
func (t *trial) watchIdle(ctx context.Context, polls int, window time.Duration) error {
	for held := 0.0; int(held) < polls; {
		var err error
		if held, err = t.server.Gauge(ctx, "dwserver_held_polls"); err != nil {
			return err
		}
		if err := pause(ctx, 50*time.Millisecond); err != nil {
			return fmt.Errorf("%d of %d polls held: %w", int(held), polls, err)
		}
	}
	before, err := t.read(ctx)
	if err != nil {
		return err
	}
	began := time.Now()
	if err := pause(ctx, window); err != nil {
		return err
	}
	after, err := t.read(ctx)
	if err != nil {
		return err
	}
	t.set(report.HeldPolls, float64(polls))
	t.set(report.CPUPercent, 100*after.server.Since(before.server).Seconds()/time.Since(began).Seconds())
	t.set(report.ServerRSS, megabytes(after.server.RSS))
	return nil
}

// pause waits, or until the context ends.
func pause(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// startHolder starts a process that holds polls and returns what ends it.
func startHolder(ctx context.Context, opt holder.Options) (stop func() error, err error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	text, err := json.Marshal(opt)
	if err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, self, "hold", string(text))
	var stderr strings.Builder
	cmd.Stderr = &stderr
	stdin, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	stop = func() error {
		_ = stdin.Close() // a process that has ended is met by Wait
		_, _ = io.Copy(io.Discard, stdout)
		if err := cmd.Wait(); err != nil {
			return fmt.Errorf("holder of polls: %w: %s", err, stderr.String())
		}
		return nil
	}
	if line, err := bufio.NewReader(stdout).ReadString('\n'); line != "ready\n" {
		return nil, errors.Join(err, stop())
	}
	return stop, nil
}
