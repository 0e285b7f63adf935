package config

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestServesStrangersOnlyOnPurpose(t *testing.T) {
	const refused = "is not a loopback address and no token is set"
	for _, c := range []struct {
		listen, driver, token string
		err                   string
	}{
		{"127.0.0.1:8080", "", "", ""},
		{"127.9.9.9:8080", "", "", ""},
		{"[::1]:8080", "", "", ""},
		{"[::ffff:127.0.0.1]:8080", "", "", ""},
		{"localhost:8080", "", "", ""},
		{"0.0.0.0:8080", "", "", refused},
		{":8080", "", "", refused},
		{"[::]:8080", "", "", refused},
		{"192.168.1.5:8080", "", "", refused},
		{"localhost.example:8080", "", "", refused},
		{"127.0.0.1.example:8080", "", "", refused},
		{"0.0.0.0:8080", "none", "", ""},
		{"0.0.0.0:8080", "none", "t", ""},
		{"0.0.0.0:8080", "", "t", ""},
		{"0.0.0.0:8080", "token", "t", ""},
		{"127.0.0.1:8080", "token", "", "needs at least one of"},
		{"0.0.0.0:8080", "token", "", "needs at least one of"},
		{"8080", "", "t", "is not host:port"},
	} {
		cfg := Default()
		cfg.Listen, cfg.Auth.Driver, cfg.Auth.WorkerToken = c.listen, c.driver, c.token
		if c.err == "" {
			assert.NoError(t, cfg.Verify(), "%+v", c)
		} else {
			assert.ErrorContains(t, cfg.Verify(), c.err, "%+v", c)
		}
	}
}

func TestTokenAuthFollowsDriverThenTokens(t *testing.T) {
	assert.False(t, Auth{}.TokenAuth())
	for _, a := range []Auth{{Token: "t"}, {WorkerToken: "t"}, {OperatorToken: "t"}, {AdminToken: "t"}} {
		assert.True(t, a.TokenAuth())
		a.Driver = DriverNone
		assert.False(t, a.TokenAuth())
	}
	assert.True(t, Auth{Driver: DriverToken}.TokenAuth())
}

func TestWarnings(t *testing.T) {
	c := Default()
	require.Len(t, c.Warnings(), 1)
	assert.Contains(t, c.Warnings()[0], "no authentication")
	c.Auth.Token = "t"
	assert.Empty(t, c.Warnings())
	c.Auth.Driver = DriverNone
	assert.Len(t, c.Warnings(), 2)
	c.MetricsListen = "0.0.0.0:9090"
	assert.Len(t, c.Warnings(), 3)
	c.MetricsListen = "127.0.0.1:9090"
	assert.Len(t, c.Warnings(), 2)
}

func TestVerifyNamesTheSetting(t *testing.T) {
	for want, change := range map[string]func(*Config){
		"DW_AUTH_TOKEN and DW_ADMIN_TOKEN are the same":         func(c *Config) { c.Auth.Token, c.Auth.AdminToken = "x", "x" },
		"DW_WORKER_TOKEN holds a blank":                         func(c *Config) { c.Auth.WorkerToken = "a b" },
		"DW_WORKER_POLL_TIMEOUT: 1m1s":                          func(c *Config) { c.Worker.PollTimeout = 61 * time.Second },
		"DW_WORKFLOW_TASK_TIMEOUT: 0s":                          func(c *Config) { c.Worker.WorkflowTaskTimeout = 0 },
		"DW_ACTIVITY_TASK_TIMEOUT: 999ms":                       func(c *Config) { c.Worker.ActivityTaskTimeout = 999 * time.Millisecond },
		"DW_WORKER_STALE_AFTER_SECONDS: 1ms":                    func(c *Config) { c.Worker.StaleAfter = time.Millisecond },
		"DW_SHUTDOWN_TIMEOUT: 2h0m0s":                           func(c *Config) { c.ShutdownTimeout = 2 * time.Hour },
		"DW_DEFAULT_NAMESPACE: \"Default\"":                     func(c *Config) { c.DefaultNamespace = "Default" },
		"DW_MAX_REQUEST_BYTES: 0 is less than 1024":             func(c *Config) { c.Limits.RequestBytes = 0 },
		"DW_MAX_COMPLETION_BYTES: 2048 is less than 4194304":    func(c *Config) { c.Limits.CompletionBytes = 2048 },
		"DW_METRICS_LISTEN: \"9090\" is not host:port":          func(c *Config) { c.MetricsListen = "9090" },
		"DW_DATABASE_URL names no file":                         func(c *Config) { c.DatabaseURL = "sqlite:///" },
		"DW_DATABASE_URL: scheme \"oracle\" is not one of":      func(c *Config) { c.DatabaseURL = "oracle://h/d" },
		"DW_DATABASE_URL: postgres:// without a host":           func(c *Config) { c.DatabaseURL = "postgres:///d" },
		"DW_DATABASE_URL: scheme \"\" is not one of":            func(c *Config) { c.DatabaseURL = "dw.db" },
		"needs at least one of DW_AUTH_TOKEN, DW_WORKER_TOKEN,": func(c *Config) { c.Auth.Driver = DriverToken },
	} {
		c := Default()
		change(&c)
		assert.ErrorContains(t, c.Verify(), want)
	}
	c := Default()
	c.DatabaseURL, c.Worker.PollTimeout = "postgres://u:s3cret@%zz/d", 0
	assert.NotContains(t, c.Verify().Error(), "s3cret")
	assert.ErrorContains(t, c.Verify(), "DW_WORKER_POLL_TIMEOUT", "all problems are told at once")
}

func TestStaleAfterIsTwoPollsAndAtLeastAMinute(t *testing.T) {
	assert.Equal(t, time.Minute, Worker{PollTimeout: 5 * time.Second}.EffectiveStaleAfter())
	assert.Equal(t, 100*time.Second, Worker{PollTimeout: 50 * time.Second}.EffectiveStaleAfter())
	assert.Equal(t, 7*time.Second, Worker{PollTimeout: 50 * time.Second, StaleAfter: 7 * time.Second}.EffectiveStaleAfter())
}
