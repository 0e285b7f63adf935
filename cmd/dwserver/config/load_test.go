package config

import (
	"bytes"
	"flag"
	"log/slog"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func env(pairs ...string) func(string) string {
	m := map[string]string{}
	for i := 0; i < len(pairs); i += 2 {
		m[pairs[i]] = pairs[i+1]
	}
	return func(k string) string { return m[k] }
}

func load(t *testing.T, args []string, getenv func(string) string) Config {
	t.Helper()
	c, err := Load("serve", args, getenv, &bytes.Buffer{})
	require.NoError(t, err)
	return c
}

func settingsFile(t *testing.T, text string) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "dwserver.env")
	require.NoError(t, os.WriteFile(name, []byte(text), 0o600))
	return name
}

func TestDefaultsAreTheContracts(t *testing.T) {
	c := load(t, nil, env())
	host, err := os.Hostname()
	require.NoError(t, err)
	assert.Equal(t, Config{
		Listen: "127.0.0.1:8080", DatabaseURL: "sqlite:///./dwserver.db", MaxConnections: 16,
		ShutdownTimeout: 20 * time.Second,
		LogLevel:        slog.LevelInfo, LogFormat: "json", ServerID: host, DefaultNamespace: "default",
		Auth: Auth{BackwardCompatible: true},
		Worker: Worker{PollTimeout: 30 * time.Second, WorkflowTaskTimeout: time.Minute,
			ActivityTaskTimeout: 5 * time.Minute},
		Limits: Limits{RequestBytes: 4 << 20, CompletionBytes: 32 << 20, PayloadBytes: 2 << 20,
			MemoBytes: 256 << 10, SearchAttributeBytes: 40 << 10, PendingActivities: 2000, PendingChildren: 1000,
			PendingTimers: 2000, PendingSignals: 5000, PendingUpdates: 500, CommandBatchSize: 1000,
			HistoryTransaction: 5000, CompletionMaxEvents: 5000, CompletionMaxRows: 20000, CompletionMaxBytes: 64 << 20},
	}, c)
	assert.NoError(t, c.Verify())
	assert.Equal(t, time.Minute, c.Worker.EffectiveStaleAfter())
}

func TestPrecedenceIsDefaultFileEnvironmentFlag(t *testing.T) {
	file := settingsFile(t, "DW_LISTEN=127.0.0.1:1\nDW_DATABASE_URL=sqlite:///file.db\nDW_LOG_LEVEL=warn\n")
	c := load(t, []string{"--listen", "127.0.0.1:3"},
		env("DW_CONFIG", file, "DW_LISTEN", "127.0.0.1:2", "DW_DATABASE_URL", "sqlite:///env.db"))
	assert.Equal(t, "127.0.0.1:3", c.Listen, "flag over environment over file")
	assert.Equal(t, "sqlite:///env.db", c.DatabaseURL, "environment over file")
	assert.Equal(t, slog.LevelWarn, c.LogLevel, "file over default")
	assert.Equal(t, "json", c.LogFormat, "default")

	other := settingsFile(t, "DW_LOG_LEVEL=error\n")
	assert.Equal(t, slog.LevelError, load(t, []string{"--config=" + other}, env("DW_CONFIG", file)).LogLevel)
}

// Every setting has to reach a field of its own through every source: two rows of the table that write
// the same field, or a row that writes none, would otherwise go unseen.
func TestEverySettingReachesItsOwnFieldFromEverySource(t *testing.T) {
	seen := map[string]string{}
	for _, s := range Settings() {
		value := otherValue(s)
		fromEnv := load(t, nil, env(s.Env, value))
		changed := changedField(t, fromEnv)
		assert.Empty(t, seen[changed], "%s and %s write the same field", seen[changed], s.Env)
		seen[changed] = s.Env

		assert.Equal(t, fromEnv, load(t, []string{"--" + s.Flag() + "=" + value}, env()), s.Env)
		assert.Equal(t, fromEnv, load(t, []string{"--config", settingsFile(t, s.Env+"="+value)}, env()), s.Env)
		if s.Alias != "" {
			assert.Equal(t, fromEnv, load(t, nil, env(s.Alias, value)), s.Alias)
			assert.Equal(t, fromEnv, load(t, []string{"--config", settingsFile(t, s.Alias+"="+value)}, env()), s.Alias)
		}
	}
	assert.Len(t, seen, countFields(reflect.TypeFor[Config]()), "every field of Config has a setting")
}

func otherValue(s Setting) string {
	for _, v := range []string{"7", "error", "text", "none", "true", "false"} {
		c, d := Default(), Default()
		if s.read(&c, v) == nil && !reflect.DeepEqual(c, d) {
			return v
		}
	}
	return ""
}

func changedField(t *testing.T, c Config) string {
	t.Helper()
	var changed []string
	base := load(t, nil, env())
	var walk func(path string, a, b reflect.Value)
	walk = func(path string, a, b reflect.Value) {
		if a.Kind() != reflect.Struct {
			if !a.Equal(b) {
				changed = append(changed, path)
			}
			return
		}
		for i := range a.NumField() {
			walk(path+"."+a.Type().Field(i).Name, a.Field(i), b.Field(i))
		}
	}
	walk("", reflect.ValueOf(c), reflect.ValueOf(base))
	require.Len(t, changed, 1)
	return changed[0]
}

func countFields(s reflect.Type) int {
	n := 0
	for f := range s.Fields() {
		if f.Type.Kind() == reflect.Struct {
			n += countFields(f.Type)
			continue
		}
		n++
	}
	return n
}

func TestDurationsAreSecondsOrGoDurations(t *testing.T) {
	for text, want := range map[string]time.Duration{"45": 45 * time.Second, "1m30s": 90 * time.Second, "250ms": 250 * time.Millisecond} {
		assert.Equal(t, want, load(t, nil, env("DW_ACTIVITY_TASK_TIMEOUT", text)).Worker.ActivityTaskTimeout, text)
	}
	for _, bad := range []string{"soon", "-1", "-1s", "99999999999999", "1.5"} {
		_, err := Load("serve", nil, env("DW_ACTIVITY_TASK_TIMEOUT", bad), &bytes.Buffer{})
		assert.ErrorContains(t, err, "environment: DW_ACTIVITY_TASK_TIMEOUT", bad)
	}
}

func TestBadTextNamesItsSourceAndSetting(t *testing.T) {
	for _, c := range []struct{ name, value string }{
		{"DW_MIGRATE_ON_START", "perhaps"}, {"DW_LOG_LEVEL", "loud"}, {"DW_LOG_FORMAT", "xml"},
		{"DW_AUTH_DRIVER", "signature"}, {"DW_MAX_REQUEST_BYTES", "4MB"}, {"DW_MAX_REQUEST_BYTES", "-1"},
		{"DW_MAX_REQUEST_BYTES", "9223372036854775808"}, {"DW_V2_LIMIT_PAYLOAD_SIZE_BYTES", "x"},
	} {
		_, err := Load("serve", nil, env(c.name, c.value), &bytes.Buffer{})
		assert.ErrorContains(t, err, "environment: "+c.name+": ")
		_, err = Load("serve", []string{"--config", settingsFile(t, c.name+"="+c.value)}, env(), &bytes.Buffer{})
		assert.ErrorContains(t, err, c.name+": ")
	}
}

func TestTwoNamesOfOneSettingMayNotDiffer(t *testing.T) {
	_, err := Load("serve", nil, env("DW_MAX_MEMO_BYTES", "1", "DW_V2_LIMIT_MEMO_SIZE_BYTES", "2"), &bytes.Buffer{})
	assert.ErrorContains(t, err, "DW_MAX_MEMO_BYTES and DW_V2_LIMIT_MEMO_SIZE_BYTES")
	c := load(t, nil, env("DW_MAX_MEMO_BYTES", "3", "DW_V2_LIMIT_MEMO_SIZE_BYTES", "3"))
	assert.EqualValues(t, 3, c.Limits.MemoBytes)
	file := settingsFile(t, "DW_MAX_MEMO_BYTES=1")
	c = load(t, nil, env("DW_CONFIG", file, "DW_V2_LIMIT_MEMO_SIZE_BYTES", "2"))
	assert.EqualValues(t, 2, c.Limits.MemoBytes, "another source wins under either name")
}

func TestFileSyntax(t *testing.T) {
	c := load(t, []string{"--config", settingsFile(t, strings.Join([]string{
		"# a comment", "", "  DW_AUTH_TOKEN = \"s=cret\" ", "DW_ADMIN_TOKEN='a'", "DW_LISTEN=127.0.0.1:0", "DW_OPERATOR_TOKEN=\"",
	}, "\r\n"))}, env())
	assert.Equal(t, Auth{Token: "s=cret", AdminToken: "a", OperatorToken: `"`, BackwardCompatible: true}, c.Auth)

	for text, want := range map[string]string{
		"DW_LISTEN":                  "line 1: not NAME=VALUE",
		"\nDW_LISTN=x":               "line 2: DW_LISTN is not a setting",
		"=x":                         "line 1:  is not a setting",
		"DW_LISTEN=a:1\nDW_LISTEN=b": "line 2: DW_LISTEN is set twice",
	} {
		_, err := Load("serve", []string{"--config", settingsFile(t, text)}, env(), &bytes.Buffer{})
		assert.ErrorContains(t, err, want)
	}
	_, err := Load("serve", []string{"--config", filepath.Join(t.TempDir(), "none")}, env(), &bytes.Buffer{})
	assert.ErrorIs(t, err, os.ErrNotExist)
}

func TestFlagsHelpAndMistakes(t *testing.T) {
	var out bytes.Buffer
	_, err := Load("serve", []string{"--help"}, env(), &out)
	require.ErrorIs(t, err, flag.ErrHelp)
	for _, s := range Settings() {
		assert.Regexp(t, `(?m)^  -`+s.Flag()+`( value)?$`, out.String())
		assert.Contains(t, out.String(), s.Env)
	}
	_, err = Load("serve", []string{"--no-such-flag"}, env(), &out)
	assert.ErrorContains(t, err, "no-such-flag")
	_, err = Load("serve", []string{"now"}, env(), &out)
	assert.ErrorContains(t, err, `unexpected argument "now"`)
	assert.True(t, load(t, []string{"--migrate-on-start"}, env()).MigrateOnStart)
}

func TestEmptyVariableIsNotSet(t *testing.T) {
	assert.Equal(t, "127.0.0.1:8080", load(t, nil, env("DW_LISTEN", "")).Listen)
}
