package mysql

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/go-sql-driver/mysql"
)

const connectTimeout = 5 * time.Second

// config reads mysql://user:password@host:port/database?parameter=value, with the parameters of the
// Go driver (tls and the like). It never shows the password in an error.
func config(dbURL string) (*mysql.Config, error) {
	u, err := url.Parse(dbURL)
	if err != nil || u.Scheme != "mysql" {
		return nil, errors.New("mysql: the database URL is not of the form mysql://user:password@host:port/database")
	}
	cfg, err := mysql.ParseDSN("/?" + u.RawQuery)
	if err != nil {
		return nil, fmt.Errorf("mysql: parameters of the database URL: %w", err)
	}
	cfg.Net, cfg.Addr, cfg.DBName = "tcp", u.Host, strings.TrimPrefix(u.Path, "/")
	if u.Port() == "" {
		cfg.Addr += ":3306"
	}
	if cfg.User = u.User.Username(); cfg.User == "" || cfg.DBName == "" {
		return nil, errors.New("mysql: the database URL names no user or no database")
	}
	cfg.Passwd, _ = u.User.Password()
	if cfg.Timeout == 0 {
		cfg.Timeout = connectTimeout
	}
	cfg.ClientFoundRows = true   // a guarded update counts the rows it found, changed or not
	cfg.InterpolateParams = true // statements whose text varies make one round trip
	cfg.MultiStatements = false
	cfg.ParseTime = false
	cfg.Logger = &mysql.NopLogger{} // what it would log comes back as an error
	return cfg, nil
}

// connector sets up every session: its isolation level by the statement that all servers know (the
// variable has two names), a bounded wait for locks, and no silent changes to what is stored.
type connector struct {
	driver.Connector
	session []string
}

func session(lockWait time.Duration) []string {
	return []string{
		"SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED",
		fmt.Sprintf("SET SESSION innodb_lock_wait_timeout = %d", max(1, int(lockWait.Seconds()))),
		"SET SESSION sql_mode = 'STRICT_ALL_TABLES,NO_ENGINE_SUBSTITUTION'",
	}
}

func (c connector) Connect(ctx context.Context) (driver.Conn, error) {
	conn, err := c.Connector.Connect(ctx)
	if err != nil {
		return nil, connectError{err}
	}
	for _, statement := range c.session {
		if _, err := conn.(driver.ExecerContext).ExecContext(ctx, statement, nil); err != nil {
			return nil, connectError{errors.Join(fmt.Errorf("%s: %w", statement, err), conn.Close())}
		}
	}
	return conn, nil
}

func connect(cfg *mysql.Config, lockWait time.Duration) (*sql.DB, error) {
	c, err := mysql.NewConnector(cfg)
	if err != nil {
		return nil, fmt.Errorf("mysql: database URL: %w", err)
	}
	return sql.OpenDB(connector{c, session(lockWait)}), nil
}
