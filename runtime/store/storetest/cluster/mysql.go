package cluster

import (
	"database/sql"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"syscall"

	driver "github.com/go-sql-driver/mysql"
)

var mysql = server{
	env: "DW_TEST_MYSQL_URL", admin: mysqlAdmin,
	start: func() (*process, string, error) {
		return startMariaDB("--innodb-flush-log-at-trx-commit=0", "--innodb-doublewrite=0",
			"--innodb-log-file-size=256M", "--innodb-buffer-pool-size=256M")
	},
}

// startMariaDB runs the MariaDB that is installed, with settings as they come but for those given.
func startMariaDB(settings ...string) (*process, string, error) {
	const bin = "/usr/sbin/mariadbd"
	if _, err := os.Stat(bin); err != nil {
		return nil, "", fmt.Errorf("MariaDB is not installed")
	}
	p, err := newProcess(syscall.SIGKILL)
	if err != nil {
		return nil, "", err
	}
	port, err := freePort()
	if err != nil {
		return nil, "", err
	}
	data, socket := filepath.Join(p.dir, "data"), filepath.Join(p.dir, "socket")
	setup := filepath.Join(p.dir, "setup.sql")
	err = os.WriteFile(setup, []byte("CREATE USER IF NOT EXISTS dw@'127.0.0.1' IDENTIFIED BY 'dw';\nGRANT ALL ON *.* TO dw@'127.0.0.1';\n"), 0o644)
	if err != nil {
		return nil, "", err
	}
	err = p.run("mariadb-install-db", "--no-defaults", "--datadir="+data, "--tmpdir="+p.dir, "--auth-root-authentication-method=normal",
		"--skip-test-db", "--skip-log-bin")
	if err != nil {
		p.stop()
		return nil, "", err
	}
	base := fmt.Sprintf("mysql://dw:dw@127.0.0.1:%d/", port)
	settings = append([]string{"--no-defaults", "--datadir=" + data, "--socket=" + socket,
		"--pid-file=" + filepath.Join(p.dir, "pid"), "--bind-address=127.0.0.1", "--port=" + strconv.Itoa(port),
		"--init-file=" + setup, "--max-connections=300", "--skip-name-resolve"}, settings...)
	err = p.serve(func() error { return pingMySQL(base) }, bin, settings...)
	if err != nil {
		p.stop()
		return nil, "", err
	}
	return p, base, nil
}

func pingMySQL(base string) error {
	a, err := mysqlAdmin(base)
	if err != nil {
		return err
	}
	defer a.close()
	return a.exec("DO 1")
}

type myAdmin struct{ db *sql.DB }

func mysqlAdmin(base string) (admin, error) {
	u, err := url.Parse(base)
	if err != nil {
		return nil, err
	}
	cfg := driver.NewConfig()
	cfg.Net, cfg.Addr, cfg.User = "tcp", u.Host, u.User.Username()
	cfg.Passwd, _ = u.User.Password()
	cfg.Logger = &driver.NopLogger{}
	connector, err := driver.NewConnector(cfg)
	if err != nil {
		return nil, err
	}
	return myAdmin{sql.OpenDB(connector)}, nil
}

func (a myAdmin) exec(statement string) error {
	_, err := a.db.Exec(statement)
	return err
}

func (a myAdmin) close() error { return a.db.Close() }
