package schema

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"dwserver/runtime/store"
)

// Manager migrates one database. It is not safe for concurrent use; several managers of one
// database, in any process, are.
type Manager struct {
	dialect Dialect
	conn    *sql.Conn
	known   []Migration
	close   func() error
	before  func() error // of a test, before every statement
}

// State is one migration and whether it is applied.
type State struct {
	Version   int64
	Name      string
	Applied   bool
	AppliedAt int64 // microseconds UTC
}

// New makes a manager that uses conn until Close, which also calls close.
func New(d Dialect, conn *sql.Conn, close func() error) (*Manager, error) {
	known, err := Load(d.Engine)
	if err != nil {
		return nil, err
	}
	return &Manager{dialect: d, conn: conn, known: known, close: close}, nil
}

// Close releases the connection.
func (m *Manager) Close() error { return errors.Join(m.conn.Close(), m.close()) }

// Ensure is what a starting server calls: an up-to-date schema passes, an empty database is
// created, an older one is upgraded when upgrade says so. Otherwise a *store.SchemaError.
func (m *Manager) Ensure(ctx context.Context, upgrade bool) error {
	have, cut, err := m.check(ctx)
	if err != nil {
		return err
	}
	if len(have) == len(m.known) && !cut {
		return nil
	}
	_, err = m.up(ctx, upgrade)
	return err
}

// Up applies what is missing and returns it.
func (m *Manager) Up(ctx context.Context) ([]Migration, error) { return m.up(ctx, true) }

// Status lists every migration this program knows. It also returns a *store.SchemaError when the
// database holds others.
func (m *Manager) Status(ctx context.Context) ([]State, error) {
	have, _, err := m.check(ctx)
	list := make([]State, len(m.known))
	for i, k := range m.known {
		list[i] = State{Version: k.Version, Name: k.Name}
		if i < len(have) {
			list[i].Applied, list[i].AppliedAt = true, have[i].appliedAt
		}
	}
	return list, err
}

// Validate returns nil when the schema is exactly this program's, else a *store.SchemaError.
func (m *Manager) Validate(ctx context.Context) error {
	have, cut, err := m.check(ctx)
	if err != nil {
		return err
	}
	if len(have) < len(m.known) || cut {
		return m.refuse(store.SchemaUpgradeRequired, have, "")
	}
	return nil
}

// check reads what is applied and refuses what this program does not know.
func (m *Manager) check(ctx context.Context) ([]applied, bool, error) {
	have, cut, err := m.dialect.read(ctx, m.conn)
	if err != nil {
		return nil, false, fmt.Errorf("schema: read state: %w", err)
	}
	for i, a := range have {
		switch {
		case i >= len(m.known):
			return have, cut, m.refuse(store.SchemaTooNew, have, "")
		case a.version != m.known[i].Version || a.sum != m.known[i].Sum:
			return have, cut, m.refuse(store.SchemaUnknown, have, fmt.Sprintf("migration %d %s differs", a.version, a.name))
		}
	}
	return have, cut, nil
}

func (m *Manager) refuse(reason string, have []applied, detail string) error {
	e := &store.SchemaError{Reason: reason, Want: m.known[len(m.known)-1].Version, Detail: detail}
	if len(have) > 0 {
		e.Have = have[len(have)-1].version
	}
	return e
}

// up decides and applies under the lock, as another process may have been faster.
func (m *Manager) up(ctx context.Context, upgrade bool) (done []Migration, err error) {
	unlock, err := m.dialect.Lock(ctx, m.conn)
	if err != nil {
		return nil, fmt.Errorf("schema: lock: %w", err)
	}
	defer func() { err = errors.Join(err, unlock()) }()
	have, cut, err := m.check(ctx)
	if err != nil {
		return nil, err
	}
	missing := m.known[len(have):]
	if len(missing) == 0 && !cut {
		return nil, nil
	}
	fresh := len(have) == 0 || cut
	if len(have) == 0 && !cut {
		if err := m.foreign(ctx); err != nil {
			return nil, err
		}
	}
	if !fresh && !upgrade {
		return nil, m.refuse(store.SchemaUpgradeRequired, have, "run `dwserver migrate up` or start with DW_MIGRATE_ON_START=1")
	}
	return missing, m.enclose(ctx, func() error { return m.apply(ctx, missing, fresh) })
}

func (m *Manager) apply(ctx context.Context, missing []Migration, fresh bool) error {
	d := m.dialect
	if err := run(ctx, m.conn, d.Create); err != nil {
		return fmt.Errorf("schema: %w", err)
	}
	mark := fresh && d.Begin == ""
	if mark {
		if err := m.mark(ctx); err != nil {
			return err
		}
	}
	for _, k := range missing {
		for _, s := range k.Up {
			if err := m.statement(ctx, s); err != nil {
				return fmt.Errorf("schema: migration %d %s: %w", k.Version, k.Name, err)
			}
		}
		if _, err := m.conn.ExecContext(ctx, d.Record, k.Version, k.Name, k.Sum, time.Now().UnixMicro()); err != nil {
			return fmt.Errorf("schema: record migration %d: %w", k.Version, err)
		}
	}
	if mark {
		if _, err := m.conn.ExecContext(ctx, d.Forget, creating); err != nil {
			return fmt.Errorf("schema: finish creation: %w", err)
		}
	}
	return nil
}

func (m *Manager) statement(ctx context.Context, text string) error {
	if m.before != nil {
		if err := m.before(); err != nil {
			return err
		}
	}
	return run(ctx, m.conn, text)
}

// mark records that a creation began, unless an earlier one that was cut off already did.
func (m *Manager) mark(ctx context.Context) error {
	if _, cut, err := m.dialect.read(ctx, m.conn); cut || err != nil {
		return err
	}
	if _, err := m.conn.ExecContext(ctx, m.dialect.Record, creating, "creating", "", time.Now().UnixMicro()); err != nil {
		return fmt.Errorf("schema: begin creation: %w", err)
	}
	return nil
}

// Down reverts the newest steps migrations and returns them, newest first. All their data is lost.
func (m *Manager) Down(ctx context.Context, steps int) (done []Migration, err error) {
	unlock, err := m.dialect.Lock(ctx, m.conn)
	if err != nil {
		return nil, fmt.Errorf("schema: lock: %w", err)
	}
	defer func() { err = errors.Join(err, unlock()) }()
	have, _, err := m.check(ctx)
	if err != nil {
		return nil, err
	}
	for i := len(have) - 1; i >= 0 && len(done) < steps; i-- {
		done = append(done, m.known[i])
	}
	return done, m.enclose(ctx, func() error { return m.revert(ctx, done) })
}

func (m *Manager) revert(ctx context.Context, list []Migration) error {
	for _, k := range list {
		for _, s := range k.Down {
			if err := run(ctx, m.conn, s); err != nil {
				return fmt.Errorf("schema: revert %d %s: %w", k.Version, k.Name, err)
			}
		}
		if _, err := m.conn.ExecContext(ctx, m.dialect.Forget, k.Version); err != nil {
			return fmt.Errorf("schema: forget migration %d: %w", k.Version, err)
		}
	}
	return nil
}

// enclose runs fn in one transaction where the engine's DDL takes part in one.
func (m *Manager) enclose(ctx context.Context, fn func() error) error {
	if err := run(ctx, m.conn, m.dialect.Begin); err != nil {
		return fmt.Errorf("schema: begin: %w", err)
	}
	if err := fn(); err != nil {
		return errors.Join(err, run(context.WithoutCancel(ctx), m.conn, m.dialect.Rollback))
	}
	if err := run(ctx, m.conn, m.dialect.Commit); err != nil {
		return errors.Join(fmt.Errorf("schema: commit: %w", err), run(context.WithoutCancel(ctx), m.conn, m.dialect.Rollback))
	}
	return nil
}
