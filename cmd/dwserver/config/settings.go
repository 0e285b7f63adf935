package config

import (
	"strings"
	"time"
)

// Names of the authentication drivers.
const (
	DriverNone  = "none"
	DriverToken = "token"
)

// Setting is one row of the table: a name for each source, the default and what it means.
type Setting struct {
	Env     string // environment name and file key
	Alias   string // a second name for the same setting; empty for most
	Default string // the text that the default would have in the environment
	Shown   string // how the documentation shows a default that is worked out at start
	Help    string

	read value
	bool bool
}

// Flag is the setting's flag without dashes: DW_DATABASE_URL is database-url.
func (s Setting) Flag() string {
	return strings.ReplaceAll(strings.ToLower(strings.TrimPrefix(s.Env, "DW_")), "_", "-")
}

// Settings returns every setting, in the order of the documentation.
func Settings() []Setting {
	return append(append(append(serverSettings(), authSettings()...), workerSettings()...), limitSettings()...)
}

func serverSettings() []Setting {
	return []Setting{
		{Env: "DW_LISTEN", Default: "127.0.0.1:8080", read: text(func(c *Config) *string { return &c.Listen }),
			Help: "Address of the API."},
		{Env: "DW_DATABASE_URL", Default: "sqlite:///./dwserver.db", read: text(func(c *Config) *string { return &c.DatabaseURL }),
			Help: "`sqlite:///absolute/path`, `sqlite:///./relative/path`, `postgres://user:pass@host:port/db` or `mysql://user:pass@host:port/db`."},
		{Env: "DW_MIGRATE_ON_START", Default: "false", bool: true, read: flagValue(func(c *Config) *bool { return &c.MigrateOnStart }),
			Help: "Upgrade an older schema at start on PostgreSQL and MySQL. SQLite always does; an empty database is always filled."},
		{Env: "DW_DATABASE_MAX_CONNECTIONS", Default: "16", read: integer(func(c *Config) *int64 { return &c.MaxConnections }),
			Help: "Connections of this process to PostgreSQL or MySQL. On PostgreSQL it holds one more, which listens for wake-ups."},
		{Env: "DW_DEFAULT_NAMESPACE", Default: "default", read: text(func(c *Config) *string { return &c.DefaultNamespace }),
			Help: "Namespace of requests that name none. Created at start."},
		{Env: "DW_SERVER_ID", Shown: "host name", read: text(func(c *Config) *string { return &c.ServerID }),
			Help: "Name of this process in cluster info and in the log."},
		{Env: "DW_SHUTDOWN_TIMEOUT", Default: "20s", read: duration(func(c *Config) *time.Duration { return &c.ShutdownTimeout }),
			Help: "How long requests are still served after SIGTERM."},
		{Env: "DW_METRICS_LISTEN", Shown: "off", read: text(func(c *Config) *string { return &c.MetricsListen }),
			Help: "Address of the Prometheus listener, `GET /metrics`, with Go's profiles under `/debug/pprof/`. No authentication: keep it inside."},
		{Env: "DW_LOG_LEVEL", Default: "info", read: logLevel,
			Help: "`debug`, `info`, `warn` or `error`."},
		{Env: "DW_LOG_FORMAT", Default: "json", read: oneOf(func(c *Config) *string { return &c.LogFormat }, "json", "text"),
			Help: "`json` or `text`."},
	}
}

func authSettings() []Setting {
	return []Setting{
		{Env: "DW_AUTH_DRIVER", Shown: "`token` when any token is set, else `none`",
			read: oneOf(func(c *Config) *string { return &c.Auth.Driver }, DriverNone, DriverToken),
			Help: "`none`: everyone may do everything. `token`: bearer tokens."},
		{Env: "DW_AUTH_TOKEN", Shown: "none", read: text(func(c *Config) *string { return &c.Auth.Token }),
			Help: "Alone: full access to both planes. Beside role tokens: plain `admin`."},
		{Env: "DW_WORKER_TOKEN", Shown: "none", read: text(func(c *Config) *string { return &c.Auth.WorkerToken }),
			Help: "Token of the role `worker`."},
		{Env: "DW_OPERATOR_TOKEN", Shown: "none", read: text(func(c *Config) *string { return &c.Auth.OperatorToken }),
			Help: "Token of the role `operator`."},
		{Env: "DW_ADMIN_TOKEN", Shown: "none", read: text(func(c *Config) *string { return &c.Auth.AdminToken }),
			Help: "Token of the role `admin`."},
		{Env: "DW_AUTH_BACKWARD_COMPATIBLE", Default: "true", bool: true, read: flagValue(func(c *Config) *bool { return &c.Auth.BackwardCompatible }),
			Help: "Whether `DW_AUTH_TOKEN` is still accepted beside role tokens."},
	}
}

func workerSettings() []Setting {
	return []Setting{
		{Env: "DW_WORKER_POLL_TIMEOUT", Default: "30s", read: duration(func(c *Config) *time.Duration { return &c.Worker.PollTimeout }),
			Help: "How long a poll is held that asks for no time of its own. At most 60 s."},
		{Env: "DW_WORKFLOW_TASK_TIMEOUT", Default: "60s", read: duration(func(c *Config) *time.Duration { return &c.Worker.WorkflowTaskTimeout }),
			Help: "Lease of a workflow task, renewed by its heartbeat."},
		{Env: "DW_ACTIVITY_TASK_TIMEOUT", Default: "300s", read: duration(func(c *Config) *time.Duration { return &c.Worker.ActivityTaskTimeout }),
			Help: "Lease of an activity task, renewed by its heartbeat."},
		{Env: "DW_WORKER_STALE_AFTER_SECONDS", Shown: "two poll timeouts, at least 60 s", read: duration(func(c *Config) *time.Duration { return &c.Worker.StaleAfter }),
			Help: "A worker that was not seen for this long is stale."},
	}
}

func limitSettings() []Setting {
	size := func(env, alias, def, help string, field func(*Limits) *int64) Setting {
		return Setting{Env: env, Alias: alias, Default: def, Help: help,
			read: integer(func(c *Config) *int64 { return field(&c.Limits) })}
	}
	return []Setting{
		size("DW_MAX_REQUEST_BYTES", "", "4194304", "Largest body of any request but a workflow-task completion.", func(l *Limits) *int64 { return &l.RequestBytes }),
		size("DW_MAX_COMPLETION_BYTES", "", "33554432", "Largest body of a workflow-task completion.", func(l *Limits) *int64 { return &l.CompletionBytes }),
		size("DW_MAX_PAYLOAD_BYTES", "DW_V2_LIMIT_PAYLOAD_SIZE_BYTES", "2097152", "Largest payload, in decoded bytes.", func(l *Limits) *int64 { return &l.PayloadBytes }),
		size("DW_MAX_MEMO_BYTES", "DW_V2_LIMIT_MEMO_SIZE_BYTES", "262144", "Largest memo of a run, as JSON.", func(l *Limits) *int64 { return &l.MemoBytes }),
		size("DW_V2_LIMIT_SEARCH_ATTRIBUTE_SIZE_BYTES", "", "40960", "Largest set of search attributes of a run, as JSON.", func(l *Limits) *int64 { return &l.SearchAttributeBytes }),
		size("DW_V2_LIMIT_PENDING_ACTIVITIES", "", "2000", "Open activities of a run.", func(l *Limits) *int64 { return &l.PendingActivities }),
		size("DW_V2_LIMIT_PENDING_CHILDREN", "", "1000", "Open child workflows of a run.", func(l *Limits) *int64 { return &l.PendingChildren }),
		size("DW_V2_LIMIT_PENDING_TIMERS", "", "2000", "Open timers of a run.", func(l *Limits) *int64 { return &l.PendingTimers }),
		size("DW_V2_LIMIT_PENDING_SIGNALS", "", "5000", "Signals of a run that were received and not yet applied.", func(l *Limits) *int64 { return &l.PendingSignals }),
		size("DW_V2_LIMIT_PENDING_UPDATES", "", "500", "Updates of a run that were accepted and not yet completed.", func(l *Limits) *int64 { return &l.PendingUpdates }),
		size("DW_V2_LIMIT_COMMAND_BATCH_SIZE", "", "1000", "Commands of one completion.", func(l *Limits) *int64 { return &l.CommandBatchSize }),
		size("DW_V2_LIMIT_HISTORY_TRANSACTION_SIZE", "", "5000", "Events that one completion may write.", func(l *Limits) *int64 { return &l.HistoryTransaction }),
		size("DW_COMPLETION_MAX_EVENTS", "", "5000", "Whole-completion budget: events.", func(l *Limits) *int64 { return &l.CompletionMaxEvents }),
		size("DW_COMPLETION_MAX_ROWS", "", "20000", "Whole-completion budget: rows.", func(l *Limits) *int64 { return &l.CompletionMaxRows }),
		size("DW_COMPLETION_MAX_BYTES", "", "67108864", "Whole-completion budget: bytes of events, rows and payloads (docs/decisions/0011).", func(l *Limits) *int64 { return &l.CompletionMaxBytes }),
	}
}
