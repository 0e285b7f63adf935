// Package cluster gives tests empty databases of every engine. For PostgreSQL and MySQL it uses the
// servers that DW_TEST_POSTGRES_URL and DW_TEST_MYSQL_URL name (of a user who may create databases),
// or starts throw-away ones of its own, once per test process. A package that uses it runs its tests
// through Run.
//
// DW_TEST_ENGINES=sqlite (a list, by commas) limits the engines; tests of others are skipped.
package cluster

import (
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
)

// Names of the engines, which are the schemes of their URLs.
const (
	SQLite   = "sqlite"
	Postgres = "postgres"
	MySQL    = "mysql"
)

// Engines lists the engines that tests run on.
func Engines() []string {
	if list := os.Getenv("DW_TEST_ENGINES"); list != "" {
		return strings.Split(list, ",")
	}
	return []string{SQLite, Postgres, MySQL}
}

// Each runs fn as a subtest on every engine.
func Each(t *testing.T, fn func(t *testing.T, engine string)) {
	t.Helper()
	for _, engine := range Engines() {
		t.Run(engine, func(t *testing.T) { fn(t, engine) })
	}
}

// URL is the URL of a new, empty database of an engine, dropped when t ends. It skips the test when
// the engine is not among Engines, and fails it when its server cannot be had.
func URL(t testing.TB, engine string) string {
	t.Helper()
	if !slices.Contains(Engines(), engine) {
		t.Skipf("%s is not among DW_TEST_ENGINES", engine)
	}
	switch engine {
	case SQLite:
		return "sqlite://" + filepath.Join(t.TempDir(), "dw.db")
	case Postgres:
		return postgres.database(t)
	case MySQL:
		return mysql.database(t)
	}
	t.Fatalf("unknown engine %q", engine)
	return ""
}

// Run runs a package's tests and stops the servers that were started for them. Call it from
// TestMain: os.Exit(cluster.Run(m)).
func Run(m *testing.M) int {
	defer Stop()
	return m.Run()
}

// Stop stops the servers that this process started.
func Stop() {
	postgres.stop()
	mysql.stop()
}

// server is one database server: given by the environment, or started here when first needed.
type server struct {
	env   string
	start func() (*process, string, error)
	admin func(base string) (admin, error)

	once sync.Once
	proc *process
	base string
	err  error
	n    atomic.Int64
}

// admin creates and drops databases.
type admin interface {
	exec(statement string) error
	close() error
}

func (s *server) up() (string, error) {
	s.once.Do(func() {
		if s.base = os.Getenv(s.env); s.base == "" {
			s.proc, s.base, s.err = s.start()
		}
	})
	return s.base, s.err
}

func (s *server) stop() {
	if s.proc != nil {
		s.proc.stop()
	}
}

func (s *server) database(t testing.TB) string {
	t.Helper()
	base, err := s.up()
	if err != nil {
		t.Fatalf("%v\nInstall the servers with .ci/databases, name running ones in %s, or set DW_TEST_ENGINES=sqlite.", err, s.env)
	}
	name := fmt.Sprintf("dwtest_%d_%d", os.Getpid(), s.n.Add(1))
	s.exec(t, base, "CREATE DATABASE "+name)
	t.Cleanup(func() { s.exec(t, base, s.drop(name)) })
	u, err := url.Parse(base)
	if err != nil {
		t.Fatalf("%s: %v", s.env, err)
	}
	u.Path = "/" + name
	return u.String()
}

func (s *server) drop(name string) string {
	if s == &postgres {
		return "DROP DATABASE " + name + " WITH (FORCE)"
	}
	return "DROP DATABASE " + name
}

func (s *server) exec(t testing.TB, base, statement string) {
	t.Helper()
	a, err := s.admin(base)
	if err != nil {
		t.Fatalf("connect to %s: %v", s.env, err)
	}
	defer a.close()
	if err := a.exec(statement); err != nil {
		t.Fatalf("%s: %v", statement, err)
	}
}
