package postgres

import (
	"context"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"dwserver/runtime/store"
)

// probed calls a probe before every statement of a reader.
type probed struct {
	conn  *pgxpool.Conn
	probe store.Probe
}

func (p probed) Exec(ctx context.Context, sql string, args ...any) (pgconn.CommandTag, error) {
	if err := p.probe(ctx, store.StatementName(sql)); err != nil {
		return pgconn.CommandTag{}, err
	}
	return p.conn.Exec(ctx, sql, args...)
}

func (p probed) Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error) {
	if err := p.probe(ctx, store.StatementName(sql)); err != nil {
		return nil, err
	}
	return p.conn.Query(ctx, sql, args...)
}

func (p probed) QueryRow(ctx context.Context, sql string, args ...any) pgx.Row {
	if err := p.probe(ctx, store.StatementName(sql)); err != nil {
		return failed{err}
	}
	return p.conn.QueryRow(ctx, sql, args...)
}

type failed struct{ err error }

func (f failed) Scan(...any) error { return f.err }
