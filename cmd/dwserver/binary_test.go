package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"dwserver/runtime/store/storetest/cluster"
)

func TestMain(m *testing.M) {
	if orders := os.Getenv(tortureEnv); orders != "" {
		if err := runTortureWorker(orders); err != nil {
			os.Stderr.WriteString(err.Error() + "\n")
			os.Exit(1)
		}
		return
	}
	dir, err := os.MkdirTemp("", "dwserver-test")
	if err != nil {
		os.Stderr.WriteString(err.Error() + "\n")
		os.Exit(1)
	}
	builtBinary.dir = dir
	code := cluster.Run(m)
	if err := os.RemoveAll(dir); err != nil {
		os.Stderr.WriteString(err.Error() + "\n")
		code = 1
	}
	os.Exit(code)
}

var builtBinary struct {
	sync.Mutex
	dir, path string
}

// binary builds the real program, once for all tests.
func binary(t *testing.T) string {
	t.Helper()
	builtBinary.Lock()
	defer builtBinary.Unlock()
	if builtBinary.path != "" {
		return builtBinary.path
	}
	path := filepath.Join(builtBinary.dir, "dwserver")
	build := exec.CommandContext(t.Context(), "go", "build", "-o", path, ".")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	out, err := build.CombinedOutput()
	require.NoError(t, err, string(out))
	builtBinary.path = path
	return path
}

// instance is a running server process.
type instance struct {
	cmd    *exec.Cmd
	ready  chan string   // the address it serves, once
	meters chan string   // the address of its metrics, once
	exited chan struct{} // closed when the process ended and its log was read
	err    error         // how it ended; valid after exited

	mu  sync.Mutex
	log []string
}

// launch starts a server process on a database file. Settings are NAME=VALUE and override the defaults
// given here; nothing else of the environment that is ours gets in.
func launch(t *testing.T, db string, settings ...string) *instance {
	t.Helper()
	p := &instance{ready: make(chan string, 1), meters: make(chan string, 1), exited: make(chan struct{})}
	p.cmd = exec.CommandContext(t.Context(), binary(t), "serve")
	p.cmd.Env = append(cleanEnv(), append([]string{"DW_LISTEN=127.0.0.1:0", "DW_DATABASE_URL=sqlite://" + db}, settings...)...)
	stderr, err := p.cmd.StderrPipe()
	require.NoError(t, err)
	require.NoError(t, p.cmd.Start())
	t.Cleanup(func() {
		_ = p.cmd.Process.Kill() // it has usually ended already
		<-p.exited
	})
	go func() {
		defer close(p.exited)
		for lines := bufio.NewScanner(stderr); lines.Scan(); {
			p.logged(lines.Text())
		}
		p.err = p.cmd.Wait()
	}()
	return p
}

func cleanEnv() []string {
	var env []string
	for _, e := range os.Environ() {
		if !strings.HasPrefix(e, "DW_") {
			env = append(env, e)
		}
	}
	return env
}

func (p *instance) logged(line string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.log = append(p.log, line)
	if len(p.log) > 1000 {
		p.log = p.log[500:]
	}
	var record struct{ Msg, Listen string }
	if json.Unmarshal([]byte(line), &record) != nil {
		return
	}
	switch record.Msg {
	case "serving":
		p.ready <- record.Listen
	case "serving metrics":
		p.meters <- record.Listen
	}
}

func (p *instance) output() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return strings.Join(p.log, "\n")
}

// base waits until the process serves and returns its URL.
func (p *instance) base(t *testing.T) string {
	t.Helper()
	select {
	case listen := <-p.ready:
		return "http://" + listen
	case <-p.exited:
		require.FailNow(t, "the server ended at its start", p.output())
	case <-time.After(30 * time.Second):
		require.FailNow(t, "the server did not start in time", p.output())
	}
	return ""
}

func (p *instance) signal(t *testing.T, sig os.Signal) {
	t.Helper()
	require.NoError(t, p.cmd.Process.Signal(sig))
}

// kill ends the process as a crash would and waits until it is gone.
func (p *instance) kill(t *testing.T) {
	t.Helper()
	p.signal(t, syscall.SIGKILL)
	<-p.exited
}

// exit waits for the process to end by itself and returns its status.
func (p *instance) exit(t *testing.T) int {
	t.Helper()
	select {
	case <-p.exited:
	case <-time.After(30 * time.Second):
		require.FailNow(t, "the server did not end in time", p.output())
	}
	if p.err == nil {
		return 0
	}
	status, ok := errors.AsType[*exec.ExitError](p.err)
	require.True(t, ok, "%v", p.err)
	return status.ExitCode()
}
