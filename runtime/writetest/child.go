package writetest

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"dwserver/runtime/store"
	"dwserver/runtime/store/open"
)

// Environment of a test binary that is to be the other process of testKilled.
const (
	childURL = "DW_WRITETEST_URL" // its database
	childRun = "DW_WRITETEST_RUN" // the run it adds events to
)

// childEvents is how many events the other process writes.
const childEvents = 5

// Child is the other process of a test: it is one when the environment says so, and then returns its exit code.
// TestMain of a package that uses the suite calls it first.
func Child() (code int, child bool) {
	url := os.Getenv(childURL)
	if url == "" {
		return 0, false
	}
	if err := beChild(context.Background(), url, os.Getenv(childRun), os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1, true
	}
	return 0, true
}

// beChild adds events to a run. It says when its writes are in the database ("written"), when it is about to commit
// and when it has, and goes on each time it is told to.
func beChild(ctx context.Context, url, runID string, in io.Reader, out io.Writer) error {
	lines := bufio.NewReader(in)
	say := func(what string) error {
		if _, err := fmt.Fprintln(out, what); err != nil {
			return err
		}
		_, err := lines.ReadString('\n')
		return err
	}
	writing := false
	s, err := open.Store(ctx, url, store.Options{Probe: func(_ context.Context, name string) error {
		if writing && (name == commit || name == committed) {
			return say(name)
		}
		return nil
	}})
	if err != nil {
		return err
	}
	defer s.Close()
	return s.Transition(ctx, func(ctx context.Context, tx store.Tx) error {
		if err := writeEvents(ctx, tx, runID, childEvents, nil); err != nil {
			return err
		}
		writing = true
		return say("written")
	})
}

// process is a running child.
type process struct {
	t     *testing.T
	cmd   *exec.Cmd
	in    io.WriteCloser
	lines *bufio.Scanner
}

// startChild starts the other process, which stops once its writes are in the database.
func startChild(t *testing.T, url, runID string) *process {
	t.Helper()
	program, err := os.Executable()
	require.NoError(t, err)
	cmd := exec.CommandContext(t.Context(), program)
	cmd.Env = append(os.Environ(), childURL+"="+url, childRun+"="+runID)
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	require.NoError(t, err)
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	p := &process{t: t, cmd: cmd, in: in, lines: bufio.NewScanner(out)}
	t.Cleanup(p.kill)
	p.expect("written")
	return p
}

// expect waits until the child says something.
func (p *process) expect(what string) {
	p.t.Helper()
	require.True(p.t, p.lines.Scan(), "the other process ended: %v", p.lines.Err())
	require.Equal(p.t, what, strings.TrimSpace(p.lines.Text()))
}

// goOn lets the child go on.
func (p *process) goOn() {
	p.t.Helper()
	_, err := io.WriteString(p.in, "\n")
	require.NoError(p.t, err)
}

// kill ends the child as kill -9 does.
func (p *process) kill() {
	if p.cmd.ProcessState == nil {
		_ = p.cmd.Process.Kill()
		_ = p.cmd.Wait()
	}
}
