package cluster

import (
	"fmt"
	"net/url"
	"slices"
	"testing"
)

// Server is a database server that a test has for itself and may crash. It syncs what it commits, as
// servers do by default.
type Server struct {
	p    *process
	base string
	kind *server
}

// Own starts a server of an engine for one test, which ends with it. It skips the test when the engine is
// not among Engines, and fails it when the server is not installed.
func Own(t testing.TB, engine string) *Server {
	t.Helper()
	if !slices.Contains(Engines(), engine) {
		t.Skipf("%s is not among DW_TEST_ENGINES", engine)
	}
	s := &Server{}
	var err error
	switch engine {
	case Postgres:
		s.kind = &postgres
		s.p, s.base, err = startPostgres()
	case MySQL:
		s.kind = &mysql
		s.p, s.base, err = startMariaDB()
	default:
		err = fmt.Errorf("no server for engine %q", engine)
	}
	if err != nil {
		t.Fatalf("%v\nInstall the servers with .ci/databases, or set DW_TEST_ENGINES=sqlite.", err)
	}
	t.Cleanup(s.p.stop)
	return s
}

// URL is the URL of a new, empty database.
func (s *Server) URL(t testing.TB) string {
	t.Helper()
	name := fmt.Sprintf("own_%d", s.kind.n.Add(1))
	s.kind.exec(t, s.base, "CREATE DATABASE "+name)
	u, err := url.Parse(s.base)
	if err != nil {
		t.Fatal(err)
	}
	u.Path = "/" + name
	return u.String()
}

// Crash ends the server at once, in the middle of what it does.
func (s *Server) Crash() { s.p.crash() }

// Start starts a crashed server again and returns when it has recovered and answers.
func (s *Server) Start() error { return s.p.start() }
