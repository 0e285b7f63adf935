package main

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

type migrationList struct {
	Migrations []migrationLine `json:"migrations"`
}

func migrated(t *testing.T, db string, args ...string) []migrationLine {
	t.Helper()
	status, out, stderr := call(t, map[string]string{"DW_DATABASE_URL": "sqlite://" + db}, append([]string{"migrate"}, args...)...)
	require.Equal(t, exitOK, status, stderr)
	var list migrationList
	require.NoError(t, json.Unmarshal([]byte(out), &list))
	return list.Migrations
}

func TestMigrateUpDownStatusValidate(t *testing.T) {
	db := dbFile(t)
	environment := map[string]string{"DW_DATABASE_URL": "sqlite://" + db}
	for _, m := range migrated(t, db, "status", "--json") {
		assert.Equal(t, "pending", m.State)
	}
	status, _, stderr := call(t, environment, "migrate", "validate")
	assert.Equal(t, exitFailure, status)
	assert.Contains(t, stderr, "schema_upgrade_required")

	up := migrated(t, db, "up", "--json")
	require.NotEmpty(t, up)
	assert.Empty(t, migrated(t, db, "up", "--json"), "a second time there is nothing to do")
	status, out, _ := call(t, environment, "migrate", "validate")
	assert.Equal(t, exitOK, status)
	assert.Contains(t, out, "up to date")
	for _, m := range migrated(t, db, "status", "--json") {
		assert.Equal(t, "applied", m.State)
		assert.NotEmpty(t, m.AppliedAt)
	}

	down := migrated(t, db, "down", "--json")
	require.Len(t, down, 1)
	assert.Equal(t, up[len(up)-1].Version, down[0].Version)
	states := migrated(t, db, "status", "--json")
	assert.Equal(t, "pending", states[len(states)-1].State)
	assert.Len(t, migrated(t, db, "down", "--steps=99", "--json"), len(up)-1)
	assert.Len(t, migrated(t, db, "up", "--json"), len(up))
}

func TestMigrateIsRefusedWhileAServerRuns(t *testing.T) {
	db := dbFile(t)
	launch(t, db).base(t)
	status, _, stderr := call(t, map[string]string{"DW_DATABASE_URL": "sqlite://" + db}, "migrate", "up")
	assert.Equal(t, exitFailure, status)
	assert.Contains(t, stderr, "in use by another server process")
}

func TestMigrateMistakes(t *testing.T) {
	for _, args := range [][]string{{"migrate"}, {"migrate", "sideways"}, {"migrate", "up", "--nope"}, {"migrate", "up", "more"}} {
		status, _, _ := call(t, nil, args...)
		assert.Equal(t, exitUsage, status, args)
	}
	status, _, _ := call(t, map[string]string{"DW_DATABASE_URL": "oracle://x/y"}, "migrate", "up")
	assert.Equal(t, exitUsage, status)
}
