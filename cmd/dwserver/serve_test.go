package main

import (
	"io"
	"net/http"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func dbFile(t *testing.T) string {
	t.Helper()
	return filepath.Join(t.TempDir(), "dw.db")
}

// outcome is the answer of a call made in the background.
type outcome struct {
	answer envelope
	err    error
	took   time.Duration
}

func background(t *testing.T, a *api, path string, body any) <-chan outcome {
	t.Helper()
	c, began := make(chan outcome, 1), time.Now()
	go func() {
		e, err := a.call(t.Context(), http.MethodPost, path, body)
		c <- outcome{e, err, time.Since(began)}
	}()
	return c
}

func get(t *testing.T, a *api, path string) envelope {
	t.Helper()
	e, err := a.call(t.Context(), http.MethodGet, path, nil)
	require.NoError(t, err)
	return e
}

func post(t *testing.T, a *api, path string, body any) envelope {
	t.Helper()
	e, err := a.call(t.Context(), http.MethodPost, path, body)
	require.NoError(t, err)
	return e
}

func TestSIGTERMDrainsARealServer(t *testing.T) {
	metrics := freeAddress(t)
	p := launch(t, dbFile(t), "DW_SHUTDOWN_TIMEOUT=3", "DW_METRICS_LISTEN="+metrics)
	a := newAPI(p.base(t))
	require.Equal(t, http.StatusOK, get(t, a, "/ready").status)
	require.Equal(t, http.StatusCreated, post(t, a, "/worker/register", registration("w1", "q")).status)
	held := background(t, a, "/worker/workflow-tasks/poll", map[string]any{"worker_id": "w1", "task_queue": "q", "timeout_seconds": 60})
	awaitHeldPoll(t, metrics)

	began := time.Now()
	p.signal(t, syscall.SIGTERM)
	poll := wait(t, held)
	require.NoError(t, poll.err)
	assert.Equal(t, http.StatusOK, poll.answer.status)
	var empty struct {
		Task   *struct{} `json:"task"`
		Status string    `json:"poll_status"`
	}
	require.NoError(t, poll.answer.decode(&empty))
	assert.Nil(t, empty.Task)
	assert.Equal(t, "empty", empty.Status)

	assert.Equal(t, http.StatusServiceUnavailable, get(t, a, "/ready").status, "readiness is off at once")
	assert.Equal(t, http.StatusOK, get(t, a, "/health").status, "it still works")
	start := post(t, a, "/workflows", map[string]any{"workflow_type": "crash", "task_queue": "q"})
	assert.Equal(t, http.StatusCreated, start.status, "what still arrives is served: %s", start)
	again := wait(t, background(t, a, "/worker/activity-tasks/poll", map[string]any{"worker_id": "w1", "task_queue": "q", "timeout_seconds": 60}))
	require.NoError(t, again.err)
	assert.Equal(t, http.StatusOK, again.answer.status)
	assert.Less(t, again.took, 3*time.Second, "no poll is held any more")
	assert.Contains(t, scrape(t, metrics), "dwserver_held_polls 0", "metrics are served while it drains")

	assert.Zero(t, p.exit(t), p.output())
	assert.GreaterOrEqual(t, time.Since(began), 3*time.Second)
	assert.NotContains(t, p.output(), `"level":"ERROR"`)
}

// awaitHeldPoll waits until the server counts a held poll in its metrics.
func awaitHeldPoll(t *testing.T, metrics string) {
	t.Helper()
	require.Eventually(t, func() bool { return strings.Contains(scrape(t, metrics), "\ndwserver_held_polls 1\n") },
		20*time.Second, 5*time.Millisecond)
}

func scrape(t *testing.T, address string) string {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+address+"/metrics", http.NoBody)
	require.NoError(t, err)
	resp, err := http.DefaultClient.Do(req)
	require.NoError(t, err)
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	return string(text)
}

func TestSIGINTLeavesAtOnceWhenIdle(t *testing.T) {
	p := launch(t, dbFile(t), "DW_SHUTDOWN_TIMEOUT=1h")
	p.base(t)
	p.signal(t, syscall.SIGINT)
	assert.Zero(t, p.exit(t), p.output())
}

func TestSecondSIGTERMEndsTheDrain(t *testing.T) {
	p := launch(t, dbFile(t), "DW_SHUTDOWN_TIMEOUT=1h")
	a := newAPI(p.base(t))
	p.signal(t, syscall.SIGTERM)
	require.Eventually(t, func() bool { return get(t, a, "/ready").status == http.StatusServiceUnavailable }, 20*time.Second, time.Millisecond)
	p.signal(t, syscall.SIGTERM)
	assert.Zero(t, p.exit(t), "nothing was in flight, so nothing was cut: %s", p.output())
}

func TestSIGKILLKeepsWhatWasAcknowledged(t *testing.T) {
	db := dbFile(t)
	p := launch(t, db)
	require.Equal(t, http.StatusCreated, post(t, newAPI(p.base(t)), "/workflows", map[string]any{"workflow_id": "w", "workflow_type": "crash"}).status)
	p.kill(t)
	p = launch(t, db)
	assert.Equal(t, http.StatusOK, get(t, newAPI(p.base(t)), "/workflows/w").status)
}

func TestSecondServerOnTheSameFileRefuses(t *testing.T) {
	db := dbFile(t)
	first := launch(t, db)
	a := newAPI(first.base(t))
	second := launch(t, db)
	assert.Equal(t, exitFailure, second.exit(t))
	assert.Contains(t, second.output(), "in use by another server process")
	assert.Equal(t, http.StatusOK, get(t, a, "/health").status, "the first one did not notice")
}

func TestTakenAddressIsRefusedBeforeTheDatabaseIsTouched(t *testing.T) {
	first := launch(t, dbFile(t))
	address := strings.TrimPrefix(first.base(t), "http://")
	db := dbFile(t)
	second := launch(t, db, "DW_LISTEN="+address)
	assert.Equal(t, exitFailure, second.exit(t))
	assert.Contains(t, second.output(), "address already in use")
	assert.NoFileExists(t, db)
}

func TestWarnsWithoutAToken(t *testing.T) {
	p := launch(t, dbFile(t))
	p.base(t)
	assert.Contains(t, p.output(), "no authentication")
	p = launch(t, dbFile(t), "DW_AUTH_TOKEN=t", "DW_LISTEN=0.0.0.0:0")
	p.base(t)
	assert.NotContains(t, p.output(), "no authentication")
}

func TestHealthSubcommandOfARealServer(t *testing.T) {
	address := freeAddress(t)
	p := launch(t, dbFile(t), "DW_LISTEN="+address)
	p.base(t)
	status, _, stderr := call(t, map[string]string{"DW_LISTEN": address}, "health")
	assert.Equal(t, exitOK, status, stderr)
	p.kill(t)
	status, _, _ = call(t, map[string]string{"DW_LISTEN": address}, "health")
	assert.Equal(t, exitFailure, status)
}
