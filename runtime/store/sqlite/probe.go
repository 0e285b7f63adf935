package sqlite

import (
	"context"
	"database/sql"

	"dwserver/gen/sqlitedb"
	"dwserver/runtime/store"
)

// queries are the generated queries on db: prepared, or under a probe unprepared so that the probe
// sees each by name.
func queries(ctx context.Context, db sqlitedb.DBTX, probe store.Probe) (*sqlitedb.Queries, error) {
	if probe == nil {
		return sqlitedb.Prepare(ctx, db)
	}
	return sqlitedb.New(probed{DBTX: db, probe: probe}), nil
}

// probed calls a probe before every statement.
type probed struct {
	sqlitedb.DBTX
	probe store.Probe
}

func (p probed) ExecContext(ctx context.Context, text string, args ...any) (sql.Result, error) {
	if err := p.probe(ctx, store.StatementName(text)); err != nil {
		return nil, err
	}
	return p.DBTX.ExecContext(ctx, text, args...)
}

func (p probed) QueryContext(ctx context.Context, text string, args ...any) (*sql.Rows, error) {
	if err := p.probe(ctx, store.StatementName(text)); err != nil {
		return nil, err
	}
	return p.DBTX.QueryContext(ctx, text, args...)
}

// QueryRowContext cannot return an error, so a failed probe puts its own in the context's place.
func (p probed) QueryRowContext(ctx context.Context, text string, args ...any) *sql.Row {
	if err := p.probe(ctx, store.StatementName(text)); err != nil {
		return p.DBTX.QueryRowContext(failed{Context: ctx, err: err}, text, args...)
	}
	return p.DBTX.QueryRowContext(ctx, text, args...)
}

// failed is a context that has ended with an error of its own.
type failed struct {
	context.Context
	err error
}

var ended = func() chan struct{} { c := make(chan struct{}); close(c); return c }()

func (f failed) Done() <-chan struct{} { return ended }
func (f failed) Err() error            { return f.err }
