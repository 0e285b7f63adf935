package main

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dwserver/runtime/store/storetest/cluster"
	"dwserver/vectors"
)

func TestVectorsMistakes(t *testing.T) {
	status, _, _ := call(t, nil, "vectors", "--only", "(")
	assert.Equal(t, exitUsage, status)
	status, _, _ = call(t, nil, "vectors", "--nope")
	assert.Equal(t, exitUsage, status)

	nobody := httptest.NewServer(http.NotFoundHandler())
	nobody.Close()
	status, _, stderr := call(t, nil, "vectors", "--target", nobody.URL)
	assert.Equal(t, exitFailure, status)
	assert.Contains(t, stderr, "cluster info")
}

func TestVectorsThatFailAreTheExitStatus(t *testing.T) {
	real, err := url.Parse(launch(t, dbFile(t)).base(t))
	require.NoError(t, err)
	// A server that cannot start workflows, otherwise the real one.
	proxy := httputil.NewSingleHostReverseProxy(real)
	broken := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost && r.URL.Path == "/api/workflows" {
			w.WriteHeader(http.StatusInternalServerError)
			return
		}
		proxy.ServeHTTP(w, r)
	}))
	defer broken.Close()
	const some = "^(lease/workflow/heartbeat-renews|receipts/registration/unknown-token)$"
	status, out, stderr := call(t, nil, "vectors", "--target", broken.URL, "--only", some)
	assert.Equal(t, exitFailure, status)
	assert.Contains(t, stderr, "1 failed, 1 passed")
	assert.Contains(t, out, "failed lease/workflow/heartbeat-renews: ")
	assert.Contains(t, out, "\n1 passed, 1 failed, 0 skipped\n")

	status, out, stderr = call(t, nil, "vectors", "--target", real.String(), "--only", some)
	assert.Equal(t, exitOK, status, stderr)
	assert.Equal(t, "2 passed, 0 failed, 0 skipped\n", out)
}

func TestVectorsServeThemselves(t *testing.T) {
	status, out, stderr := call(t, nil, "vectors", "--only", "^lease/workflow/heartbeat-renews$", "--json")
	assert.Equal(t, exitOK, status, stderr+out)
	var report vectors.Report
	require.NoError(t, json.Unmarshal([]byte(out), &report))
	assert.Equal(t, 1, report.Passed)
}

// TestVectorsOnEveryDatabaseServer replays all of the contract's vectors on PostgreSQL and MySQL; on SQLite
// make vectors does.
func TestVectorsOnEveryDatabaseServer(t *testing.T) {
	cluster.Each(t, func(t *testing.T, engine string) {
		if engine == cluster.SQLite {
			t.Skip("make vectors replays them there")
		}
		t.Parallel()
		tokens := map[string]string{"DW_WORKER_TOKEN": "worker", "DW_OPERATOR_TOKEN": "operator", "DW_ADMIN_TOKEN": "admin"}
		settings := []string{"DW_DATABASE_URL=" + cluster.URL(t, engine), "DW_WORKFLOW_TASK_TIMEOUT=5s", "DW_ACTIVITY_TASK_TIMEOUT=5s"}
		for name, value := range tokens {
			settings = append(settings, name+"="+value)
		}
		status, out, stderr := call(t, tokens, "vectors", "--target", launch(t, dbFile(t), settings...).base(t), "--json")
		var report vectors.Report
		require.NoError(t, json.Unmarshal([]byte(out), &report), stderr)
		for _, r := range report.Results {
			assert.Contains(t, []string{"passed", "skipped"}, string(r.Outcome), "%s: %s", r.Name, r.Detail)
		}
		assert.Equal(t, exitOK, status, stderr)
		assert.Greater(t, report.Passed, 500)
	})
}

func TestVectorsOfNoNameAreAFailure(t *testing.T) {
	status, _, _ := call(t, nil, "vectors", "--only", "no such vector")
	assert.Equal(t, exitFailure, status)
}
