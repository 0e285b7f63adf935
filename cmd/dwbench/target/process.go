// Package target runs the servers that are measured: dwserver on a fresh database, and the null server.
package target

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
	"sync"
	"time"

	"dwserver/cmd/dwbench/usage"
)

// startTime bounds how long a server may take to serve.
const startTime = 60 * time.Second

// process is a server process that tells in JSON lines on stderr where it listens.
type process struct {
	cmd     *exec.Cmd
	api     chan string // the addresses it told, each once
	metrics chan string
	ended   chan struct{}
	err     error // how it ended; valid after ended

	mu  sync.Mutex
	log []string // its last lines
}

func launch(ctx context.Context, path string, args, settings []string) (*process, error) {
	p := &process{api: make(chan string, 1), metrics: make(chan string, 1), ended: make(chan struct{})}
	p.cmd = exec.CommandContext(ctx, path, args...)
	for _, e := range os.Environ() {
		if !strings.HasPrefix(e, "DW_") {
			p.cmd.Env = append(p.cmd.Env, e)
		}
	}
	p.cmd.Env = append(p.cmd.Env, settings...)
	stderr, err := p.cmd.StderrPipe()
	if err != nil {
		return nil, err
	}
	if err := p.cmd.Start(); err != nil {
		return nil, err
	}
	go p.listen(stderr)
	return p, nil
}

func (p *process) listen(stderr io.Reader) {
	defer close(p.ended)
	for lines := bufio.NewScanner(stderr); lines.Scan(); {
		p.logged(lines.Text())
	}
	p.err = p.cmd.Wait()
}

func (p *process) logged(line string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.log = append(p.log[max(0, len(p.log)-30):], line)
	var record struct{ Msg, Listen string }
	if json.Unmarshal([]byte(line), &record) != nil {
		return
	}
	switch record.Msg {
	case "serving":
		p.api <- record.Listen
	case "serving metrics":
		p.metrics <- record.Listen
	}
}

// address waits for one of the addresses. Errors: the process ended, or took too long.
func (p *process) address(told <-chan string) (string, error) {
	t := time.NewTimer(startTime)
	defer t.Stop()
	select {
	case a := <-told:
		return a, nil
	case <-p.ended:
		return "", p.fault(errors.New("it ended at its start"))
	case <-t.C:
		return "", p.fault(errors.New("it did not serve in time"))
	}
}

func (p *process) fault(err error) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return fmt.Errorf("server: %w\n%s", err, strings.Join(p.log, "\n"))
}

// stop interrupts the process and waits for its end.
func (p *process) stop() error {
	select {
	case <-p.ended:
		return p.fault(errors.New("it ended before its time"))
	default:
	}
	if err := p.cmd.Process.Signal(os.Interrupt); err != nil {
		return p.fault(err)
	}
	<-p.ended
	if p.err != nil {
		return p.fault(p.err)
	}
	return nil
}

// kill ends a process that did not come up.
func (p *process) kill() {
	_ = p.cmd.Process.Kill() // it may have ended already
	<-p.ended
}

func (p *process) usage() (usage.Process, error) { return usage.Of(p.cmd.Process.Pid, false) }
