package main

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// call runs a subcommand in this process.
func call(t *testing.T, environment map[string]string, args ...string) (status int, stdout, stderr string) {
	t.Helper()
	var out, errs bytes.Buffer
	status = run(t.Context(), process{args: args, getenv: func(k string) string { return environment[k] }, stdout: &out, stderr: &errs})
	return status, out.String(), errs.String()
}

func TestExitStatuses(t *testing.T) {
	for _, c := range []struct {
		name   string
		env    map[string]string
		args   []string
		status int
		stderr string
	}{
		{"unknown subcommand", nil, []string{"serv"}, exitUsage, `unknown subcommand "serv"`},
		{"unknown flag", nil, []string{"--nope"}, exitUsage, "nope"},
		{"unknown flag of a subcommand", nil, []string{"version", "--nope"}, exitUsage, "nope"},
		{"argument too many", nil, []string{"serve", "now"}, exitUsage, `unexpected argument "now"`},
		{"bad setting", map[string]string{"DW_LOG_LEVEL": "loud"}, nil, exitUsage, "DW_LOG_LEVEL"},
		{"missing settings file", map[string]string{"DW_CONFIG": "/nonexistent"}, nil, exitUsage, "/nonexistent"},
		{"strangers without a token", map[string]string{"DW_LISTEN": "0.0.0.0:0"}, nil, exitUsage, "no token is set"},
		{"no such engine", map[string]string{"DW_DATABASE_URL": "oracle://x/y"}, nil, exitUsage, "oracle"},
		{"address of no interface", map[string]string{"DW_LISTEN": "192.0.2.1:1", "DW_AUTH_DRIVER": "none"}, nil, exitFailure, "192.0.2.1"},
		{"help", nil, []string{"help"}, exitOK, ""},
		{"help of a subcommand", nil, []string{"serve", "--help"}, exitOK, "DW_LISTEN"},
	} {
		t.Run(c.name, func(t *testing.T) {
			status, _, stderr := call(t, c.env, c.args...)
			assert.Equal(t, c.status, status, stderr)
			assert.Contains(t, stderr, c.stderr)
		})
	}
}

func TestTheProgramExitsWithTheStatus(t *testing.T) {
	program := exec.CommandContext(t.Context(), binary(t), "--nope")
	program.Env = cleanEnv()
	err := program.Run()
	var exit *exec.ExitError
	require.ErrorAs(t, err, &exit)
	assert.Equal(t, exitUsage, exit.ExitCode())
}

func TestVersion(t *testing.T) {
	status, out, _ := call(t, nil, "version")
	assert.Equal(t, exitOK, status)
	assert.True(t, strings.HasPrefix(out, "dwserver "+version+" (go1."), out)

	status, out, _ = call(t, nil, "version", "--json")
	assert.Equal(t, exitOK, status)
	var got struct{ Version, Go string }
	require.NoError(t, json.Unmarshal([]byte(out), &got))
	assert.Equal(t, version, got.Version)
}

func TestHelpNamesEverySubcommand(t *testing.T) {
	_, out, _ := call(t, nil, "help")
	for _, c := range commands() {
		assert.Contains(t, out, "  "+c.name+" ")
	}
}

func TestHealthIsTheExitStatus(t *testing.T) {
	for code, want := range map[int]int{http.StatusOK: exitOK, http.StatusServiceUnavailable: exitFailure, http.StatusNotFound: exitFailure} {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			assert.Equal(t, "/api/health", r.URL.Path)
			w.WriteHeader(code)
		}))
		status, _, stderr := call(t, map[string]string{"DW_LISTEN": s.Listener.Addr().String()}, "health")
		s.Close()
		assert.Equal(t, want, status, stderr)
	}
}

func TestHealthOfNobody(t *testing.T) {
	s := httptest.NewServer(http.NotFoundHandler())
	s.Close()
	status, _, stderr := call(t, nil, "health", "--listen", s.Listener.Addr().String())
	assert.Equal(t, exitFailure, status)
	assert.Contains(t, stderr, "unhealthy")

	status, _, _ = call(t, nil, "health", "--listen", "nowhere")
	assert.Equal(t, exitUsage, status)
}

func TestHealthAsksLoopbackForAnUnspecifiedAddress(t *testing.T) {
	for listen, want := range map[string]string{
		"0.0.0.0:1": "http://localhost:1/api/health", ":1": "http://localhost:1/api/health",
		"[::]:1": "http://localhost:1/api/health", "10.0.0.1:1": "http://10.0.0.1:1/api/health",
		"[::1]:1": "http://[::1]:1/api/health",
	} {
		got, err := healthURL(listen)
		require.NoError(t, err)
		assert.Equal(t, want, got)
	}
}
