package main

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

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

func TestVectorsThatFailAreAnExitStatus(t *testing.T) {
	// A server that knows nothing: every vector that does anything fails on it.
	empty := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, err := w.Write([]byte(`{}`))
		assert.NoError(t, err)
	}))
	defer empty.Close()
	status, out, stderr := call(t, nil, "vectors", "--target", empty.URL, "--json")
	assert.Equal(t, exitFailure, status)
	assert.Contains(t, stderr, "failed")
	var report vectors.Report
	require.NoError(t, json.Unmarshal([]byte(out), &report))
	assert.NotZero(t, report.Failed)
	assert.Zero(t, report.Passed)
}

func TestVectorsServesThemselves(t *testing.T) {
	status, out, stderr := call(t, nil, "vectors", "--only", "^commands", "--json")
	assert.Equal(t, exitOK, status, stderr+out)
	var report vectors.Report
	require.NoError(t, json.Unmarshal([]byte(out), &report))
	assert.NotZero(t, report.Passed)
}

func TestVectorsOfNoNameAreAFailure(t *testing.T) {
	status, _, _ := call(t, nil, "vectors", "--only", "no such vector")
	assert.Equal(t, exitFailure, status)
}
