package cluster

import (
	"bytes"
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"runtime"
	"strconv"
	"syscall"
	"time"
)

// process is a server started here, in a folder of its own.
type process struct {
	dir  string
	cmd  *exec.Cmd
	log  *bytes.Buffer
	down syscall.Signal
	done chan struct{} // closed when the server has ended

	// what serve was told, for another start
	ready func() error
	name  string
	args  []string
}

// startTimeout bounds how long a server may take until it answers.
const startTimeout = 60 * time.Second

// newProcess makes the folder of a server, owned by the user it will run as.
func newProcess(down syscall.Signal) (*process, error) {
	dir, err := os.MkdirTemp("", "dwtest-")
	if err != nil {
		return nil, err
	}
	p := &process{dir: dir, down: down, log: &bytes.Buffer{}, done: make(chan struct{})}
	if err := os.Chmod(dir, 0o755); err != nil {
		return nil, err
	}
	cred, err := credential()
	if err != nil || cred == nil {
		return p, err
	}
	return p, os.Chown(dir, int(cred.Uid), int(cred.Gid))
}

// credential is the user a server runs as when this is root: servers refuse to be root.
func credential() (*syscall.Credential, error) {
	if os.Geteuid() != 0 {
		return nil, nil
	}
	for _, name := range []string{"dwtest", "postgres", "mysql", "nobody"} {
		u, err := user.Lookup(name)
		if err != nil {
			continue
		}
		uid, _ := strconv.ParseUint(u.Uid, 10, 32)
		gid, _ := strconv.ParseUint(u.Gid, 10, 32)
		return &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}, nil
	}
	return nil, fmt.Errorf("no unprivileged user to run a database server as")
}

func (p *process) command(name string, args ...string) (*exec.Cmd, error) {
	cred, err := credential()
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(name, args...)
	cmd.Dir = p.dir
	cmd.Env = []string{"PATH=/usr/sbin:/usr/bin:/sbin:/bin", "HOME=" + p.dir, "TMPDIR=" + p.dir, "LC_ALL=C"}
	// The server ends with this process, however that ends.
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: cred, Pdeathsig: p.down, Setpgid: true}
	return cmd, nil
}

// run runs a command to its end.
func (p *process) run(name string, args ...string) error {
	cmd, err := p.command(name, args...)
	if err != nil {
		return err
	}
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w\n%s", name, err, out)
	}
	return nil
}

// serve starts the server and waits until ready says that it answers.
func (p *process) serve(ready func() error, name string, args ...string) error {
	p.ready, p.name, p.args = ready, name, args
	return p.start()
}

func (p *process) start() error {
	cmd, err := p.command(p.name, p.args...)
	if err != nil {
		return err
	}
	cmd.Stdout, cmd.Stderr = p.log, p.log
	p.cmd, p.done = cmd, make(chan struct{})
	done := p.done
	started := make(chan error)
	go func() {
		runtime.LockOSThread() // the death signal comes when the thread that started the server ends
		err := cmd.Start()
		started <- err
		if err == nil {
			_ = cmd.Wait()
		}
		close(done)
	}()
	if err := <-started; err != nil {
		return fmt.Errorf("%s: %w", p.name, err)
	}
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	timeout := time.After(startTimeout)
	for {
		select {
		case <-tick.C:
			if err = p.ready(); err == nil {
				return nil
			}
		case <-p.done:
			return fmt.Errorf("%s ended at once:\n%s", filepath.Base(p.name), p.log)
		case <-timeout:
			p.stop()
			return fmt.Errorf("%s did not answer in %s: %w", filepath.Base(p.name), startTimeout, err)
		}
	}
}

// crash ends the server without any chance to finish what it does.
func (p *process) crash() {
	if p.cmd != nil && p.cmd.Process != nil {
		_ = p.cmd.Process.Signal(p.down) // it may have ended already
		<-p.done
	}
}

func (p *process) stop() {
	p.crash()
	_ = os.RemoveAll(p.dir) // a folder left over does no harm
}

// freePort is a port nobody listens on just now.
func freePort() (int, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, err
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port, nil
}
