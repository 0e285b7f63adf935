// Package floor compares the SQLite store under many callers with a bare loop that runs the same statements
// on the same disk in groups of the same size: what is lost to queueing, savepoints, decisions and answers.
package floor

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"dwserver/runtime/store"
	"dwserver/runtime/store/sqlite"
)

// Callers is how many callers the store has at once, and the size of the bare loop's groups.
const Callers = 64

// Rates are transitions per second.
type Rates struct {
	Store float64
	Bare  float64
	// Statements are the writes of one transition, as the store runs it. Its reads of rows that it wrote
	// itself come from memory, so that the bare loop has none.
	Statements []string
}

// Measure runs both for a while each, on fresh files in a folder ("" for the temporary folder).
func Measure(ctx context.Context, dir string, each time.Duration) (r Rates, err error) {
	dir, err = os.MkdirTemp(dir, "dwbench-floor-")
	if err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	if r.Statements, err = record(ctx, filepath.Join(dir, "record.db")); err != nil {
		return r, err
	}
	if r.Store, err = throughStore(ctx, filepath.Join(dir, "store.db"), each); err != nil {
		return r, err
	}
	r.Bare, err = bare(ctx, filepath.Join(dir, "bare.db"), r.Statements, each)
	return r, err
}

// record is what one transition of a run that has had some before makes the store write.
func record(ctx context.Context, path string) (statements []string, err error) {
	probe := func(_ context.Context, name string) error {
		if !around[name] && !strings.Contains(name, "Get") && !strings.Contains(name, "Lock") {
			statements = append(statements, name)
		}
		return nil
	}
	s, err := sqlite.Open(ctx, "sqlite://"+path, store.Options{Probe: probe})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	c, err := newCaller(ctx, s, 0)
	for i := 0; i < 10 && err == nil; i++ {
		statements = statements[:0]
		err = c.step(ctx)
	}
	return statements, err
}

// around are the statements that a group has around and between its members' own.
var around = map[string]bool{
	"BEGIN IMMEDIATE": true, "COMMIT": true, "COMMITTED": true, "ROLLBACK": true,
	"SAVEPOINT member": true, "RELEASE member": true,
}

// throughStore lets every caller advance a run of its own.
func throughStore(ctx context.Context, path string, each time.Duration) (rate float64, err error) {
	s, err := sqlite.Open(ctx, "sqlite://"+path, store.Options{})
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	var done atomic.Int64
	faults := make([]error, Callers)
	began := time.Now()
	var wg sync.WaitGroup
	for i := range Callers {
		wg.Go(func() {
			c, err := newCaller(ctx, s, i)
			for err == nil && time.Since(began) < each {
				if err = c.step(ctx); err == nil {
					done.Add(1)
				}
			}
			faults[i] = err
		})
	}
	wg.Wait()
	return float64(done.Load()) / time.Since(began).Seconds(), errors.Join(faults...)
}
