package database

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"strings"
	"sync/atomic"

	"github.com/go-sql-driver/mysql"
	"github.com/jackc/pgx/v5"

	"dwserver/cmd/dwbench/usage"
)

// remote makes databases on a running database server.
type remote struct {
	name  string
	base  *url.URL // of any database on it, with rights to create others
	exec  func(ctx context.Context, statement string) error
	close func() error
	stop  func() // the server
	pid   int    // of the server's process, 0 when it is not on this machine
	tree  bool   // a process per connection
	made  atomic.Int64
}

// Postgres uses the server of a postgres:// URL, whose user may create databases. Closing the engine stops it.
func Postgres(ctx context.Context, dbURL string, stop func()) (Engine, error) {
	base, err := url.Parse(dbURL)
	if err != nil {
		return nil, fmt.Errorf("postgres: %w", err)
	}
	admin, err := pgx.Connect(ctx, dbURL)
	if err != nil {
		return nil, fmt.Errorf("postgres: %w", err)
	}
	r := &remote{name: "postgres", base: base, stop: stop, tree: true,
		exec:  func(ctx context.Context, s string) error { _, err := admin.Exec(ctx, s); return err },
		close: func() error { return admin.Close(context.WithoutCancel(ctx)) }}
	var backend int
	if err := admin.QueryRow(ctx, "SELECT pg_backend_pid()").Scan(&backend); err != nil {
		return nil, errors.Join(fmt.Errorf("postgres: %w", err), r.close())
	}
	if local(base) {
		r.pid = usage.Parent(backend)
	}
	return r, nil
}

// MySQL uses the server of a mysql:// URL, whose user may create databases. Closing the engine stops it.
func MySQL(ctx context.Context, dbURL string, stop func()) (Engine, error) {
	base, err := url.Parse(dbURL)
	if err != nil {
		return nil, fmt.Errorf("mysql: %w", err)
	}
	cfg := mysql.NewConfig()
	cfg.Net, cfg.Addr, cfg.User = "tcp", base.Host, base.User.Username()
	cfg.Passwd, _ = base.User.Password()
	connector, err := mysql.NewConnector(cfg)
	if err != nil {
		return nil, fmt.Errorf("mysql: %w", err)
	}
	admin := sql.OpenDB(connector)
	r := &remote{name: "mysql", base: base, stop: stop, close: admin.Close,
		exec: func(ctx context.Context, s string) error { _, err := admin.ExecContext(ctx, s); return err }}
	var file string
	if err := admin.QueryRowContext(ctx, "SELECT @@pid_file").Scan(&file); err != nil {
		return nil, errors.Join(fmt.Errorf("mysql: %w", err), r.close())
	}
	if local(base) {
		r.pid = pidIn(file)
	}
	return r, nil
}

func local(u *url.URL) bool {
	return u.Hostname() == "localhost" || strings.HasPrefix(u.Hostname(), "127.") || u.Hostname() == "::1"
}

// pidIn is the number in a pid file, 0 when it cannot be read: its usage is then not reported.
func pidIn(file string) int {
	text, err := os.ReadFile(file)
	if err != nil {
		return 0
	}
	pid := 0
	_, _ = fmt.Sscan(string(text), &pid)
	return pid
}

// Name implements Engine.
func (r *remote) Name() string { return r.name }

// Fresh implements Engine.
func (r *remote) Fresh(ctx context.Context) (Database, error) {
	name := fmt.Sprintf("dwbench_%d_%d", os.Getpid(), r.made.Add(1))
	if err := r.exec(ctx, "CREATE DATABASE "+name); err != nil {
		return nil, fmt.Errorf("%s: %w", r.name, err)
	}
	return &remoteDatabase{r, name}, nil
}

// Close implements Engine.
func (r *remote) Close() error {
	err := r.close()
	r.stop()
	return err
}

type remoteDatabase struct {
	*remote
	database string
}

func (d *remoteDatabase) URL() string {
	u := *d.base
	u.Path = "/" + d.database
	return u.String()
}

func (d *remoteDatabase) Usage() (usage.Process, error) {
	if d.pid == 0 {
		return usage.Process{}, nil
	}
	return usage.Of(d.pid, d.tree)
}

func (d *remoteDatabase) Drop(ctx context.Context) error {
	return d.exec(ctx, "DROP DATABASE "+d.database)
}
