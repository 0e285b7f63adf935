package schema_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"dwserver/runtime/rules"
	"dwserver/runtime/store"
	"dwserver/runtime/store/open"
	"dwserver/runtime/store/schema"
	"dwserver/runtime/store/storetest/cluster"
)

func TestMain(m *testing.M) { os.Exit(cluster.Run(m)) }

func manager(t *testing.T, url string) *schema.Manager {
	t.Helper()
	m, err := open.Schema(t.Context(), url)
	require.NoError(t, err)
	return m
}

// with runs fn on a manager of its own.
func with(t *testing.T, url string, fn func(m *schema.Manager)) {
	t.Helper()
	m := manager(t, url)
	fn(m)
	require.NoError(t, m.Close())
}

func requireReason(t *testing.T, err error, reason string) {
	t.Helper()
	require.ErrorIs(t, err, store.ErrSchema)
	var se *store.SchemaError
	require.ErrorAs(t, err, &se)
	require.Equal(t, reason, se.Reason)
}

func TestUpAndDown(t *testing.T) {
	cluster.Each(t, func(t *testing.T, engine string) {
		url := cluster.URL(t, engine)
		known, err := schema.Load(engine)
		require.NoError(t, err)
		with(t, url, func(m *schema.Manager) {
			requireReason(t, m.Validate(t.Context()), store.SchemaUpgradeRequired)
			done, err := m.Up(t.Context())
			require.NoError(t, err)
			require.Len(t, done, len(known))
			require.NoError(t, m.Validate(t.Context()))
			done, err = m.Up(t.Context())
			require.NoError(t, err)
			require.Empty(t, done, "nothing is left to do")
			states, err := m.Status(t.Context())
			require.NoError(t, err)
			for i, s := range states {
				require.Equal(t, known[i].Version, s.Version)
				require.True(t, s.Applied)
				require.Positive(t, s.AppliedAt)
			}
			undone, err := m.Down(t.Context(), 2)
			require.NoError(t, err)
			require.Len(t, undone, 2)
			require.Equal(t, known[len(known)-1].Version, undone[0].Version)
			states, err = m.Status(t.Context())
			require.NoError(t, err)
			require.False(t, states[len(states)-1].Applied)
			require.False(t, states[len(states)-2].Applied)
			require.True(t, states[len(states)-3].Applied)
		})
	})
}

// TestStart: an empty database is created, an older schema is upgraded where that is allowed, and
// what is newer or unknown is refused by name.
func TestStart(t *testing.T) {
	cluster.Each(t, func(t *testing.T, engine string) {
		url := cluster.URL(t, engine)
		start := func(opt store.Options) error {
			s, err := open.Store(t.Context(), url, opt)
			if err == nil {
				require.NoError(t, s.Close())
			}
			return err
		}
		require.NoError(t, start(store.Options{}), "created")
		require.NoError(t, start(store.Options{}), "up to date")
		with(t, url, func(m *schema.Manager) {
			_, err := m.Down(t.Context(), 1)
			require.NoError(t, err)
		})
		if engine != cluster.SQLite {
			requireReason(t, start(store.Options{}), store.SchemaUpgradeRequired)
		}
		require.NoError(t, start(store.Options{MigrateOnStart: true}))
		require.NoError(t, start(store.Options{}))

		with(t, url, func(m *schema.Manager) {
			schema.Exec(t, m, "UPDATE schema_migrations SET checksum = 'other' WHERE version = 2")
		})
		requireReason(t, start(store.Options{MigrateOnStart: true}), store.SchemaUnknown)
		known, err := schema.Load(engine)
		require.NoError(t, err)
		with(t, url, func(m *schema.Manager) {
			schema.Exec(t, m, "UPDATE schema_migrations SET checksum = '"+known[1].Sum+"' WHERE version = 2")
			schema.Exec(t, m, "INSERT INTO schema_migrations (version, name, checksum, applied_at) VALUES (99, 'later', 'x', 1)")
		})
		requireReason(t, start(store.Options{MigrateOnStart: true}), store.SchemaTooNew)
		with(t, url, func(m *schema.Manager) {
			_, err := m.Up(t.Context())
			requireReason(t, err, store.SchemaTooNew)
			_, err = m.Down(t.Context(), 1)
			requireReason(t, err, store.SchemaTooNew)
		})
	})
}

// TestForeignTables: a database that has another program's table by one of this program's names is refused by
// name, and nothing is changed in it.
func TestForeignTables(t *testing.T) {
	cluster.Each(t, func(t *testing.T, engine string) {
		url := cluster.URL(t, engine)
		with(t, url, func(m *schema.Manager) { schema.Exec(t, m, "CREATE TABLE tasks (mine INTEGER)") })
		_, err := open.Store(t.Context(), url, store.Options{MigrateOnStart: true})
		requireReason(t, err, store.SchemaUnknown)
		with(t, url, func(m *schema.Manager) {
			_, err := m.Up(t.Context())
			requireReason(t, err, store.SchemaUnknown)
			schema.Exec(t, m, "CREATE TABLE workflow_runs (mine INTEGER)") // it was not created
			schema.Exec(t, m, "DROP TABLE tasks")
			schema.Exec(t, m, "DROP TABLE workflow_runs")
			_, err = m.Up(t.Context())
			require.NoError(t, err)
			require.NoError(t, m.Validate(t.Context()))
		})
	})
}

// TestStartersAtOnce: however many start on an empty database, it is created once.
func TestStartersAtOnce(t *testing.T) {
	for _, engine := range cluster.Engines() {
		if engine == cluster.SQLite {
			continue // one process per file
		}
		t.Run(engine, func(t *testing.T) {
			url := cluster.URL(t, engine)
			errs := make([]error, 6)
			var wg sync.WaitGroup
			for i := range errs {
				wg.Go(func() {
					s, err := open.Store(t.Context(), url, store.Options{})
					if errs[i] = err; err == nil {
						errs[i] = s.Close()
					}
				})
			}
			wg.Wait()
			for _, err := range errs {
				require.NoError(t, err)
			}
			with(t, url, func(m *schema.Manager) { require.NoError(t, m.Validate(t.Context())) })
		})
	}
}

// TestInterruptedCreation: a creation that was cut off after any statement is taken up again by the
// next start, with the schema that a clean one gives.
func TestInterruptedCreation(t *testing.T) {
	cluster.Each(t, func(t *testing.T, engine string) {
		known, err := schema.Load(engine)
		require.NoError(t, err)
		total := 0
		for _, k := range known {
			total += len(k.Up)
		}
		for n := range total {
			url := cluster.URL(t, engine)
			with(t, url, func(m *schema.Manager) {
				require.ErrorIs(t, schema.Interrupt(t, m, n), schema.ErrInterrupted)
			})
			s, err := open.Store(t.Context(), url, store.Options{})
			require.NoError(t, err, "after %d statements", n)
			require.NoError(t, s.Transition(t.Context(), func(ctx context.Context, tx store.Tx) error {
				return tx.Apply(ctx, &rules.Effects{NewTasks: []rules.Task{{TaskID: "t"}}, NewWaits: []rules.Wait{{WaitID: "w"}},
					Registrations: []rules.Registration{{Token: "r"}}, NewCommands: []rules.Command{{CommandID: "c"}}})
			}))
			require.NoError(t, s.Close())
			with(t, url, func(m *schema.Manager) { require.NoError(t, m.Validate(t.Context())) })
		}
	})
}

// TestEnginesMigrateAlike: the same versions with the same names, each with a way back.
func TestEnginesMigrateAlike(t *testing.T) {
	want, err := schema.Load(cluster.SQLite)
	require.NoError(t, err)
	for _, engine := range []string{cluster.Postgres, cluster.MySQL} {
		got, err := schema.Load(engine)
		require.NoError(t, err)
		require.Len(t, got, len(want))
		for i := range got {
			require.Equal(t, want[i].Name, got[i].Name)
			require.NotEmpty(t, got[i].Up)
			require.NotEmpty(t, got[i].Down)
		}
	}
	_, err = schema.Load("oracle")
	require.Error(t, err)
}

func TestUnknownURL(t *testing.T) {
	for _, url := range []string{"", "oracle://user:secret@host/db", "dw.db", "mysql:", "mysql://host/db", "postgres://u@h:port/x"} {
		_, err := open.Store(t.Context(), url, store.Options{})
		require.Error(t, err, url)
		require.NotContains(t, err.Error(), "secret")
		_, err = open.Schema(t.Context(), url)
		require.Error(t, err, url)
	}
	_, err := open.Store(t.Context(), "sqlite://"+filepath.Join(t.TempDir(), strings.Repeat("x", 300)), store.Options{})
	require.Error(t, err)
}
