//go:build unix

package sqlite

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"syscall"

	"dwserver/runtime/store"
)

// lockFile takes the lock that keeps a second server process away from a database file, and
// returns what releases it. It is a lock on a side file, as SQLite's own locks come and go. The
// operating system drops it when the process dies. ErrInUse when another process holds it.
func lockFile(path string) (func() error, error) {
	f, err := os.OpenFile(path+".lock", os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("sqlite: lock file: %w", err)
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		defer f.Close()
		if errors.Is(err, syscall.EWOULDBLOCK) {
			return nil, fmt.Errorf("%w: %s is held by process %s", store.ErrInUse, path, holder(f))
		}
		return nil, fmt.Errorf("sqlite: lock %s: %w", f.Name(), err)
	}
	if err = f.Truncate(0); err == nil {
		_, err = fmt.Fprintf(f, "%d\n", os.Getpid())
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("sqlite: lock file: %w", err), f.Close())
	}
	return f.Close, nil
}

// holder is the process id the lock's holder wrote down.
func holder(f *os.File) string {
	buf := make([]byte, 32)
	n, _ := f.ReadAt(buf, 0)
	if id := strings.TrimSpace(string(buf[:n])); id != "" {
		return id
	}
	return "unknown"
}
