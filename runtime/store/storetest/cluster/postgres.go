package cluster

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"syscall"

	"github.com/jackc/pgx/v5"
)

var postgres = server{
	env: "DW_TEST_POSTGRES_URL", admin: postgresAdmin,
	start: func() (*process, string, error) { return startPostgres("-c", "fsync=off", "-c", "shared_buffers=64MB") },
}

// startPostgres runs the newest PostgreSQL that is installed. With fsync=off its databases outlive the
// death of a server process, but not that of the machine.
func startPostgres(settings ...string) (*process, string, error) {
	found, _ := filepath.Glob("/usr/lib/postgresql/*/bin")
	if len(found) == 0 {
		return nil, "", fmt.Errorf("PostgreSQL is not installed")
	}
	slices.SortFunc(found, func(a, b string) int { return version(a) - version(b) })
	bin := found[len(found)-1]
	p, err := newProcess(syscall.SIGQUIT)
	if err != nil {
		return nil, "", err
	}
	port, err := freePort()
	if err != nil {
		return nil, "", err
	}
	data := filepath.Join(p.dir, "data")
	err = p.run(filepath.Join(bin, "initdb"), "-D", data, "-U", "dw", "-A", "trust", "-E", "UTF8", "--locale=C.UTF-8", "--no-sync")
	if err != nil {
		p.stop()
		return nil, "", err
	}
	url := fmt.Sprintf("postgres://dw@127.0.0.1:%d/postgres?sslmode=disable", port)
	settings = append([]string{"-D", data, "-p", strconv.Itoa(port), "-k", p.dir, "-c", "listen_addresses=127.0.0.1",
		"-c", "max_connections=200", "-c", "log_min_messages=fatal"}, settings...)
	err = p.serve(func() error { return pingPostgres(url) }, filepath.Join(bin, "postgres"), settings...)
	if err != nil {
		p.stop()
		return nil, "", err
	}
	return p, url, nil
}

func version(bin string) int {
	n, _ := strconv.Atoi(filepath.Base(filepath.Dir(bin))) // a folder of another name sorts first
	return n
}

func pingPostgres(url string) error {
	a, err := postgresAdmin(url)
	if err != nil {
		return err
	}
	return a.close()
}

type pgAdmin struct{ conn *pgx.Conn }

func postgresAdmin(base string) (admin, error) {
	conn, err := pgx.Connect(context.Background(), base)
	return pgAdmin{conn}, err
}

func (a pgAdmin) exec(statement string) error {
	_, err := a.conn.Exec(context.Background(), statement)
	return err
}

func (a pgAdmin) close() error { return a.conn.Close(context.Background()) }
