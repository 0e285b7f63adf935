package main

import (
	"fmt"
	"net/http"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestDiskFull: a file system without room is answered as a database that is not available. What was acknowledged
// is there, the server goes on serving what it can, and goes on with everything once there is room again.
func TestDiskFull(t *testing.T) {
	dir := t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=4m"); err != nil {
		t.Skipf("a small file system cannot be mounted here: %v", err)
	}
	t.Cleanup(func() { assert.NoError(t, syscall.Unmount(dir, syscall.MNT_DETACH)) })
	db := filepath.Join(dir, "dw.db")
	server := launch(t, db)
	c := newAPI(server.base(t))
	start := func(id string) envelope {
		t.Helper()
		e, err := c.call(t.Context(), http.MethodPost, "/workflows", map[string]any{"workflow_id": id, "workflow_type": "w",
			"task_queue": "q", "input": []any{strings.Repeat("x", 64<<10)}})
		require.NoError(t, err)
		return e
	}
	var acknowledged []string
	refused := envelope{status: 201}
	for n := 0; refused.status == 201 && n < 1000; n++ {
		id := fmt.Sprint("wf-", n)
		if refused = start(id); refused.status == 201 {
			acknowledged = append(acknowledged, id)
		}
	}
	require.Equal(t, 503, refused.status, refused)
	require.Equal(t, "backend_unavailable", refused.Reason)
	require.NotEmpty(t, acknowledged)
	require.Equal(t, 503, start("again").status)
	seen, err := c.call(t.Context(), http.MethodGet, "/workflows/"+acknowledged[0], nil)
	require.NoError(t, err)
	require.Equal(t, 200, seen.status, "what needs no room is served: %s", seen)

	require.NoError(t, syscall.Mount("tmpfs", dir, "tmpfs", syscall.MS_REMOUNT, "size=64m"))
	require.Eventually(t, func() bool { return start("room").status == 201 }, 10*time.Second, 50*time.Millisecond)
	for _, id := range append(acknowledged, "room") {
		e, err := c.call(t.Context(), http.MethodGet, "/workflows/"+id, nil)
		require.NoError(t, err)
		require.Equal(t, 200, e.status, "%s: %s", id, e)
	}
	require.NoError(t, server.cmd.Process.Signal(syscall.SIGINT))
	<-server.exited
	status, out, _ := call(t, nil, "check", "--database-url", "sqlite://"+db)
	require.Equal(t, exitOK, status, out)
}
