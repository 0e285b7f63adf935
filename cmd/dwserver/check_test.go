package main

import (
	"bufio"
	"database/sql"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dwserver/runtime/store/storetest/cluster"
)

// check reads beside running servers and without them, changes nothing, and says by its exit status whether
// it found anything. (Which invariants it finds broken is tested in runtime/check.)
func TestCheckCommand(t *testing.T) {
	cluster.Each(t, func(t *testing.T, engine string) {
		f := launchFleet(t, engine, 1)
		f.register(t, "scheduler")
		f.schedule(t, "checked", activityCommand())
		status, out, stderr := call(t, nil, "check", "--database-url", f.dbURL)
		require.Equal(t, exitOK, status, stderr)
		assert.Regexp(t, `^\d+ invariants of 1 runs and 3 events: 0 violations\n$`, out)

		f.servers[0].signal(t, os.Interrupt)
		require.Zero(t, f.servers[0].exit(t))
		corrupt(t, engine, f.dbURL)
		status, out, stderr = call(t, map[string]string{"DW_DATABASE_URL": f.dbURL}, "check")
		assert.Equal(t, exitFailure, status)
		assert.Contains(t, stderr, "breaks an invariant")
		lines := strings.Split(strings.TrimSpace(out), "\n")
		assert.Regexp(t, `^run_open_activities run_id=\S+ status=waiting open_activities=7 counted=1$`, lines[0])
		assert.Regexp(t, `: 1 violations$`, lines[len(lines)-1])

		status, out, _ = call(t, nil, "check", "--database-url", f.dbURL, "--json")
		assert.Equal(t, exitFailure, status)
		var violation struct {
			Invariant string
			Fields    map[string]string
			Summary   struct{ Runs, Violations int }
		}
		scan := bufio.NewScanner(strings.NewReader(out))
		for scan.Scan() {
			require.NoError(t, json.Unmarshal(scan.Bytes(), &violation), scan.Text())
		}
		assert.Equal(t, "run_open_activities", violation.Invariant)
		assert.Equal(t, "7", violation.Fields["open_activities"])
		assert.Equal(t, 1, violation.Summary.Violations)
		assert.Equal(t, 1, violation.Summary.Runs)
	})
}

func corrupt(t *testing.T, engine, dbURL string) {
	t.Helper()
	name, dsn := "pgx", dbURL
	switch engine {
	case cluster.SQLite:
		name, dsn = "sqlite", strings.TrimPrefix(dbURL, "sqlite://")
	case cluster.MySQL:
		name, dsn = "mysql", mysqlDSN(t, dbURL)
	}
	db, err := sql.Open(name, dsn)
	require.NoError(t, err)
	defer db.Close()
	_, err = db.ExecContext(t.Context(), "UPDATE workflow_runs SET open_activities = 7")
	require.NoError(t, err)
}

func TestCheckNeedsADatabaseOfThisProgram(t *testing.T) {
	missing := "sqlite://" + filepath.Join(t.TempDir(), "none.db")
	status, _, stderr := call(t, nil, "check", "--database-url", missing)
	assert.Equal(t, exitFailure, status)
	assert.Contains(t, stderr, "unable to open")
	assert.NoFileExists(t, strings.TrimPrefix(missing, "sqlite://"), "looking makes no file")

	empty := filepath.Join(t.TempDir(), "empty.db")
	require.NoError(t, os.WriteFile(empty, nil, 0o600))
	status, _, stderr = call(t, nil, "check", "--database-url", "sqlite://"+empty)
	assert.Equal(t, exitFailure, status)
	assert.Contains(t, stderr, "schema_upgrade_required")

	status, _, _ = call(t, nil, "check", "--database-url", "oracle://x")
	assert.Equal(t, exitUsage, status)
}

func TestCheckListsWhatItVerifies(t *testing.T) {
	status, out, _ := call(t, nil, "check", "--list")
	assert.Equal(t, exitOK, status)
	assert.Contains(t, out, "\nrun_workflow_task ")
	assert.Contains(t, out, "\nhistory_sequence ")
}

func TestQuotedValues(t *testing.T) {
	for in, want := range map[string]string{"plain": "plain", "": `""`, "a b": `"a b"`, "a\nb": `"a\nb"`, `a"b`: `"a\"b"`, "ä": "ä", "\x00": `"\x00"`} {
		assert.Equal(t, want, quoted(in))
	}
}
