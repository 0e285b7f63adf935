package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestCommittedIsCurrent: what is committed is what sqlc's package of today makes.
func TestCommittedIsCurrent(t *testing.T) {
	out := t.TempDir()
	require.NoError(t, run("../../../gen/sqlitedb", out))
	want, err := filepath.Glob(filepath.Join(out, "*"))
	require.NoError(t, err)
	have, err := filepath.Glob("../../../gen/sqliteraw/*")
	require.NoError(t, err)
	require.Len(t, have, len(want))
	for _, path := range want {
		require.Equal(t, read(t, path), read(t, filepath.Join("../../../gen/sqliteraw", filepath.Base(path))), "run make generate")
	}
}

func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	return string(text)
}

const types = `
type Thing struct {
	ID   string
	Size int64
	Body []byte
	Rate float64
}

type ThingParams struct {
	Size int64
	ID   string
	Rate float64
}
`

// generate makes the methods of one file of sqlc's.
func generate(t *testing.T, source string) (string, error) {
	t.Helper()
	in, out := t.TempDir(), t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(in, "thing.sql.go"), []byte("package sqlitedb\n"+types+source), 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(out, "gone.gen.go"), nil, 0o600))
	if err := run(in, out); err != nil {
		return "", err
	}
	require.NoFileExists(t, filepath.Join(out, "gone.gen.go"))
	return read(t, filepath.Join(out, "thing.gen.go")), nil
}

// TestOrder: values are bound in the order of the call and columns read in the order of the scan, not in
// the order of the structs' fields.
func TestOrder(t *testing.T) {
	out, err := generate(t, `
const ThingOf = "-- name: ThingOf :many\nSELECT size, id FROM things WHERE id = ?1 AND size = ?2\n"

// Things of a size.
func (q *Queries) ThingOf(ctx context.Context, arg ThingParams) ([]Thing, error) {
	rows, err := q.db.QueryContext(ctx, ThingOf, arg.ID, arg.Size)
	for rows.Next() {
		var i Thing
		if err := rows.Scan(&i.Size, &i.ID); err != nil {
			return nil, err
		}
	}
	return nil, err
}`)
	require.NoError(t, err)
	for _, text := range []string{
		`Query{Name: "ThingOf", Text: sqlitedb.ThingOf, Index: 0, Params: 2, Columns: 2}`,
		"// ThingOf runs the query of that name.\n// Things of a size.\n",
		"ThingOf(ctx context.Context, arg sqlitedb.ThingParams) ([]sqlitedb.Thing, error)",
		"s.BindText(1, arg.ID)\n\ts.BindInt64(2, arg.Size)\n",
		"Size: s.Int64(0),\n\t\t\tID:   s.Text(1),\n",
	} {
		require.Contains(t, out, text)
	}
}

// TestRefusals: what it cannot generate faithfully it does not generate.
func TestRefusals(t *testing.T) {
	for want, source := range map[string]string{
		"json_each": `
const Some = "-- name: Some :exec\nDELETE FROM things WHERE id IN (/*SLICE:ids*/?)\n"
func (q *Queries) Some(ctx context.Context, ids []string) error {
	query := Some
	_, err := q.db.ExecContext(ctx, query, queryParams...)
	return err
}`,
		"Rate has a type that no column has": `
const Rate = "-- name: Rate :exec\nUPDATE things SET rate = ?1\n"
func (q *Queries) Rate(ctx context.Context, arg ThingParams) error {
	_, err := q.db.ExecContext(ctx, Rate, arg.Rate)
	return err
}`,
		":execresult is not supported": `
const Drop = "-- name: Drop :execresult\nDELETE FROM things\n"
func (q *Queries) Drop(ctx context.Context) (sql.Result, error) { return q.db.ExecContext(ctx, Drop) }`,
		"more than one parameter": `
const Two = "-- name: Two :exec\nDELETE FROM things WHERE id = ?1 AND size = ?2\n"
func (q *Queries) Two(ctx context.Context, id string, size int64) error {
	_, err := q.db.ExecContext(ctx, Two, id, size)
	return err
}`,
		"1 queries, but 0 methods": "\nconst Lost = \"-- name: Lost :exec\\nDELETE FROM things\\n\"\n",
	} {
		_, err := generate(t, source)
		require.ErrorContains(t, err, want)
	}
}
