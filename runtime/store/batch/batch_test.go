package batch_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"dwserver/gen/mysqldb"
	"dwserver/gen/pgdb"
	"dwserver/runtime/store/batch"
)

// rows are n writes of a statement whose last argument is the row's key.
func rows(text string, n, bytes int) []batch.Write {
	var out []batch.Write
	for i := range n {
		out = append(out, batch.Write{SQL: text, Args: []any{int64(i), []byte(strings.Repeat("x", bytes)), fmt.Sprint("key", i)}})
	}
	return out
}

// sizes cuts writes into statements and tells how many rows each has; the rows keep their order.
func sizes(t *testing.T, writes []batch.Write) (out []int) {
	t.Helper()
	var order []batch.Write
	for rest := writes; len(rest) > 0; {
		var group []batch.Write
		group, rest = batch.Next(rest)
		out = append(out, len(group))
		order = append(order, group...)
	}
	require.Equal(t, writes, order)
	return out
}

func TestRowsAreSplitByCountAndBytes(t *testing.T) {
	for _, text := range []string{pgdb.EventInsert, mysqldb.EventInsert, pgdb.TaskUpdate, mysqldb.TaskUpdate, mysqldb.RegistrationUpsert} {
		require.Equal(t, []int{1}, sizes(t, rows(text, 1, 10)), text)
		require.Equal(t, []int{100}, sizes(t, rows(text, 100, 10)), text)
		require.Equal(t, []int{100, 1}, sizes(t, rows(text, 101, 10)), text)
		require.Equal(t, []int{100, 100, 50}, sizes(t, rows(text, 250, 10)), text)
		require.Equal(t, []int{2, 2, 1}, sizes(t, rows(text, 5, 400_000)), "three would be over 1 MiB")
		require.Equal(t, []int{1, 1}, sizes(t, rows(text, 2, 1<<20)), "a larger row goes alone")
	}
	large := rows(pgdb.EventInsert, 1, 2<<20)
	small := rows(pgdb.EventInsert, 3, 10)
	require.Equal(t, []int{3, 1, 3}, sizes(t, append(append(append([]batch.Write{}, small...), large...), small...)))
}

func TestOnlyNeighboursTravelTogether(t *testing.T) {
	events, tasks := rows(pgdb.EventInsert, 2, 1), rows(pgdb.TaskInsert, 2, 1)
	mixed := []batch.Write{events[0], tasks[0], events[1], tasks[1]}
	require.Equal(t, []int{1, 1, 1, 1}, sizes(t, mixed))
	require.Equal(t, []int{2, 2}, sizes(t, append(append([]batch.Write{}, events...), tasks...)))
}

// One statement changes a row once: a second change of it is the next statement's.
func TestARowIsChangedOnceAStatement(t *testing.T) {
	for _, text := range []string{pgdb.TaskUpdate, mysqldb.TaskUpdate, pgdb.ActivityUpdate, mysqldb.SignalUpdate} {
		writes := append(rows(text, 3, 1), rows(text, 2, 1)...)
		require.Equal(t, []int{3, 2}, sizes(t, writes), text)
	}
	token := func(s string) batch.Write {
		return batch.Write{SQL: pgdb.RegistrationUpsert, Args: []any{s, "namespace"}}
	}
	require.Equal(t, []int{2, 1}, sizes(t, []batch.Write{token("a"), token("b"), token("a")}))
	definition := func(namespace, name string) batch.Write {
		return batch.Write{SQL: pgdb.DefinitionUpsert, Args: []any{namespace, name}}
	}
	require.Equal(t, []int{2, 1}, sizes(t, []batch.Write{definition("a", "1"), definition("b", "1"), definition("b", "1")}))
}

// What is found by more than its key, or deleted, goes out by itself.
func TestGuardsOfTheirOwnGoAlone(t *testing.T) {
	for _, text := range []string{
		pgdb.RunUpdate, mysqldb.RunUpdate, pgdb.WorkerDelete, mysqldb.WorkerDelete, pgdb.WorkerSeen, mysqldb.WorkerSeen, "SAVEPOINT part1",
	} {
		require.Equal(t, []int{1, 1}, sizes(t, rows(text, 2, 1)), text)
	}
}
