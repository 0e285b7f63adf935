package target

import (
	"context"
	"errors"
	"fmt"
	"os"

	"dwserver/cmd/dwbench/database"
	"dwserver/cmd/dwbench/usage"
	"dwserver/cmd/dwbench/wire"
)

// Null is the name of the null server among the engines.
const Null = "null"

// Server is a running server with a database of its own.
type Server struct {
	Engine  string
	Address string // of the API, host:port

	process *process
	metrics string // address of /metrics, "" for none
	db      database.Database
}

// Kind starts servers of one kind.
type Kind struct {
	Engine   database.Engine // nil for the null server
	Binary   string          // dwserver's; unused for the null server
	Settings []string        // more NAME=VALUE for dwserver
}

// Name is the engine's name, or Null.
func (k *Kind) Name() string {
	if k.Engine == nil {
		return Null
	}
	return k.Engine.Name()
}

// Start runs a server on a fresh database. Prepare, when given, fills the database's file or tables first.
func (k *Kind) Start(ctx context.Context, prepare func(ctx context.Context, databaseURL string) error) (*Server, error) {
	if k.Engine == nil {
		return startNull(ctx)
	}
	db, err := k.Engine.Fresh(ctx)
	if err != nil {
		return nil, err
	}
	s := &Server{Engine: k.Name(), db: db}
	if prepare != nil {
		err = prepare(ctx, db.URL())
	}
	if err == nil {
		err = s.launch(ctx, k)
	}
	if err != nil {
		return nil, errors.Join(err, db.Drop(ctx))
	}
	return s, nil
}

func (s *Server) launch(ctx context.Context, k *Kind) (err error) {
	settings := append([]string{"DW_LISTEN=127.0.0.1:0", "DW_METRICS_LISTEN=127.0.0.1:0", "DW_DATABASE_URL=" + s.db.URL()}, k.Settings...)
	if s.process, err = launch(ctx, k.Binary, []string{"serve"}, settings); err != nil {
		return err
	}
	if s.metrics, err = s.process.address(s.process.metrics); err == nil {
		s.Address, err = s.process.address(s.process.api)
	}
	if err != nil {
		s.process.kill()
	}
	return err
}

func startNull(ctx context.Context) (*Server, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	s := &Server{Engine: Null}
	if s.process, err = launch(ctx, self, []string{"null"}, nil); err != nil {
		return nil, err
	}
	if s.Address, err = s.process.address(s.process.api); err != nil {
		s.process.kill()
		return nil, err
	}
	return s, nil
}

// Stop ends the server and drops its database.
func (s *Server) Stop(ctx context.Context) error {
	err := s.process.stop()
	if s.db != nil {
		err = errors.Join(err, s.db.Drop(ctx))
	}
	return err
}

// Usage is what the server's process and its database's have taken so far.
func (s *Server) Usage() (server, db usage.Process, err error) {
	if server, err = s.process.usage(); err != nil || s.db == nil {
		return server, db, err
	}
	db, err = s.db.Usage()
	return server, db, err
}

// Capabilities are the flags of server_capabilities that say what the server can do, local activities and
// each workflow command included. The null server can do everything.
func (s *Server) Capabilities() (map[string]bool, error) {
	if s.Engine == Null {
		return nil, nil
	}
	conn := wire.NewClient(s.Address, "").Get()
	defer conn.Close()
	r, err := conn.GetDocument("/cluster/info")
	if err == nil {
		err = wire.Check("/cluster/info", r)
	}
	if err != nil {
		return nil, err
	}
	can := map[string]bool{}
	flags := func(name, value []byte) bool {
		if wire.True(value) {
			can[string(name)] = true
		}
		if string(name) == "supported_workflow_task_commands" {
			err = wire.Elements(value, func(command []byte) bool { can[wire.Text(command)] = true; return true })
		}
		return err == nil
	}
	fault := member(r.Body, "worker_protocol", func(protocol []byte) error {
		return member(protocol, "server_capabilities", func(c []byte) error { return wire.Members(c, flags) })
	})
	if err = errors.Join(fault, err); err != nil {
		return nil, fmt.Errorf("cluster info: %w", err)
	}
	return can, nil
}

func member(object []byte, name string, fn func(value []byte) error) error {
	err := fmt.Errorf("no member %s", name)
	fault := wire.Members(object, func(n, value []byte) bool {
		if string(n) != name {
			return true
		}
		err = fn(value)
		return false
	})
	return errors.Join(fault, err)
}
