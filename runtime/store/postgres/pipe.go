package postgres

import (
	"context"
	"errors"
	"io"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"dwserver/gen/pgdb"
	"dwserver/runtime/store"
)

// The generated methods send a statement and read its result in one call. A pipe takes them apart,
// so that many go out in one round trip: each is called once with a recorder in place of the
// connection, which notes its text and arguments, and again when its result is there.

var errRecorded = errors.New("recorded")

// recorder implements pgdb.DBTX and notes the one statement it is given.
type recorder struct {
	sql  string
	args []any
	row  bool
}

func (r *recorder) Exec(_ context.Context, sql string, args ...any) (pgconn.CommandTag, error) {
	r.sql, r.args = sql, args
	return pgconn.CommandTag{}, nil
}

func (r *recorder) Query(_ context.Context, sql string, args ...any) (pgx.Rows, error) {
	r.sql, r.args = sql, args
	return nil, errRecorded
}

func (r *recorder) QueryRow(_ context.Context, sql string, args ...any) pgx.Row {
	r.sql, r.args, r.row = sql, args, true
	return recorded{}
}

type recorded struct{}

func (recorded) Scan(...any) error { return errRecorded }

// player implements pgdb.DBTX and answers the one statement with its result.
type player struct {
	rows pgx.Rows
	row  pgx.Row
}

func (p player) Exec(context.Context, string, ...any) (pgconn.CommandTag, error) {
	return pgconn.CommandTag{}, errors.New("postgres: a write was queued as a read")
}

func (p player) Query(context.Context, string, ...any) (pgx.Rows, error) { return p.rows, nil }

func (p player) QueryRow(context.Context, string, ...any) pgx.Row { return p.row }

// pipe is one round trip being filled.
type pipe struct {
	ctx   context.Context
	batch pgx.Batch
	probe store.Probe
	none  bool  // a row is missing that has to be there
	err   error // of the probe, in place of the statement it was for
}

// text queues a statement without a result.
func (p *pipe) text(sql string, args ...any) {
	if p.pass(sql) {
		p.batch.Queue(sql, args...)
	}
}

// load queues what a generated read sends; fn is called again with its result. A missing row is
// found in *missing when that is not nil, and is ErrNotFound otherwise.
func (p *pipe) load(fn func(*pgdb.Queries) error, missing *bool) {
	rec := &recorder{}
	_ = fn(pgdb.New(rec)) // errRecorded
	if !p.pass(rec.sql) {
		return
	}
	item := p.batch.Queue(rec.sql, rec.args...)
	if missing == nil {
		missing = &p.none
	}
	// The driver takes an error here for one of the round trip and forgets its prepared statements.
	end := func(err error) error {
		if errors.Is(err, pgx.ErrNoRows) {
			*missing = true
			return nil
		}
		return err
	}
	if rec.row {
		item.QueryRow(func(row pgx.Row) error { return end(fn(pgdb.New(player{row: row}))) })
		return
	}
	item.Query(func(rows pgx.Rows) error { return end(fn(pgdb.New(player{rows: rows}))) })
}

func (p *pipe) pass(sql string) bool {
	if p.probe != nil && p.err == nil {
		p.err = p.probe(p.ctx, store.StatementName(sql))
	}
	return p.err == nil
}

// send makes the round trip. Its error is the first statement's that failed.
func (p *pipe) send(conn *pgx.Conn) error {
	if p.err != nil {
		return p.err
	}
	if err := conn.SendBatch(p.ctx, &p.batch).Close(); err != nil {
		return err
	}
	if p.none {
		return pgx.ErrNoRows
	}
	return nil
}

// isCut reports a connection that ended in the middle of an answer.
func isCut(err error) bool {
	return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.ErrClosedPipe)
}
