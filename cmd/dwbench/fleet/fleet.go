// Package fleet runs worker processes.
package fleet

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"time"

	"dwserver/cmd/dwbench/latency"
	"dwserver/cmd/dwbench/worker"
)

// Fleet is a set of worker processes.
type Fleet struct {
	members []*member

	mu      sync.Mutex
	changed chan struct{} // closed and replaced whenever a member tells something
}

type member struct {
	id     string
	cmd    *exec.Cmd
	stdin  io.WriteCloser
	stderr bytes.Buffer
	ended  chan struct{} // closed when its output ended

	// Under the fleet's mu.
	ready  bool
	closed int64
	last   int64
	report *worker.Report
	err    error
}

// Start runs a process per options, by executing this program with the subcommand worker, and returns when
// all of them are registered.
func Start(ctx context.Context, options []worker.Options) (*Fleet, error) {
	program, err := os.Executable()
	if err != nil {
		return nil, err
	}
	f := &Fleet{changed: make(chan struct{})}
	for _, opt := range options {
		m, err := f.launch(ctx, program, opt)
		if err != nil {
			f.Kill()
			return nil, err
		}
		f.members = append(f.members, m)
	}
	err = f.until(ctx, func() bool {
		for _, m := range f.members {
			if !m.ready {
				return false
			}
		}
		return true
	})
	if err != nil {
		f.Kill()
		return nil, err
	}
	return f, nil
}

func (f *Fleet) launch(ctx context.Context, program string, opt worker.Options) (*member, error) {
	text, err := json.Marshal(opt)
	if err != nil {
		return nil, err
	}
	m := &member{id: opt.ID, ended: make(chan struct{})}
	m.cmd = exec.CommandContext(ctx, program, "worker", string(text))
	// A worker has little to do at once; more threads would only take turns with the server's.
	m.cmd.Env = append(os.Environ(), "GOMAXPROCS=1")
	m.cmd.Stderr = &m.stderr
	if m.stdin, err = m.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	stdout, err := m.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := m.cmd.Start(); err != nil {
		return nil, err
	}
	go f.listen(m, stdout)
	return m, nil
}

// listen reads what a member tells until it ends.
func (f *Fleet) listen(m *member, stdout io.Reader) {
	defer close(m.ended)
	lines := bufio.NewScanner(stdout)
	lines.Buffer(nil, 16<<20)
	for lines.Scan() {
		word, rest, _ := strings.Cut(lines.Text(), " ")
		f.tell(func() error {
			switch word {
			case "ready":
				m.ready = true
			case "closed":
				_, err := fmt.Sscan(rest, &m.closed, &m.last)
				return err
			case "report":
				m.report = &worker.Report{}
				return json.Unmarshal([]byte(rest), m.report)
			}
			return nil
		}, m)
	}
	err := errors.Join(lines.Err(), m.cmd.Wait())
	f.tell(func() error {
		if err == nil && m.report == nil {
			err = errors.New("ended without a report")
		}
		return err
	}, m)
}

// tell changes a member under the lock and wakes whoever waits.
func (f *Fleet) tell(change func() error, m *member) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if err := change(); err != nil {
		m.err = errors.Join(m.err, fmt.Errorf("worker %s: %w: %s", m.id, err, m.stderr.String()))
	}
	close(f.changed)
	f.changed = make(chan struct{})
}

// until waits for a condition, which is asked under the lock. Errors: a member's, and the context's.
func (f *Fleet) until(ctx context.Context, reached func() bool) error {
	for {
		f.mu.Lock()
		changed := f.changed
		err := f.fault()
		done := reached()
		f.mu.Unlock()
		switch {
		case err != nil:
			return err
		case done:
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

func (f *Fleet) fault() error {
	var faults []error
	for _, m := range f.members {
		faults = append(faults, m.err)
	}
	return errors.Join(faults...)
}

// Closed waits until the fleet has closed n workflows and returns when the last one was acknowledged.
func (f *Fleet) Closed(ctx context.Context, n int64) (time.Time, error) {
	var total, last int64
	err := f.until(ctx, func() bool {
		total, last = 0, 0
		for _, m := range f.members {
			total += m.closed
			last = max(last, m.last)
		}
		return total >= n
	})
	if err != nil {
		return time.Time{}, fmt.Errorf("%d of %d workflows closed: %w", total, n, err)
	}
	return time.Unix(0, last), nil
}

// Stop lets every worker finish and merges their reports.
func (f *Fleet) Stop() (*worker.Report, error) {
	for _, m := range f.members {
		_ = m.stdin.Close() // one that ended is found below
	}
	sum := &worker.Report{Latency: map[string]*latency.Histogram{}, Counts: map[string]int64{}}
	for _, m := range f.members {
		<-m.ended
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if err := f.fault(); err != nil {
		return nil, err
	}
	for _, m := range f.members {
		sum.Add(m.report)
	}
	return sum, nil
}

// Kill ends the processes without a report.
func (f *Fleet) Kill() {
	for _, m := range f.members {
		_ = m.cmd.Process.Kill() // one that has ended is just as well
		<-m.ended
	}
}
