package schema

import (
	"context"
	"database/sql"
)

// Dialect is what migrating differs in between engines.
type Dialect struct {
	Engine string // folder of sqlc/
	// Exists counts the tables named schema_migrations that this database sees: 0 or 1.
	Exists string
	// Tables lists the names of all tables that this database sees.
	Tables string
	// Create creates the table schema_migrations, and does nothing when it is there.
	Create string
	// Record inserts version, name, checksum and applied_at; Forget deletes a version.
	Record, Forget string
	// Begin, Commit and Rollback enclose a whole run of migrations; all empty on an engine whose
	// DDL commits by itself. There every migration must be repeatable.
	Begin, Commit, Rollback string
	// Lock keeps other processes from migrating until its result is called.
	Lock func(ctx context.Context, conn *sql.Conn) (unlock func() error, err error)
}

// creating is recorded as version 0 while a database is created on an engine without
// transactional DDL, so that a creation cut off in the middle is taken up again and not mistaken
// for an older schema.
const creating = int64(0)

type applied struct {
	version   int64
	name      string
	sum       string
	appliedAt int64
}

// read lists what is applied, in order, and whether a creation was cut off.
func (d *Dialect) read(ctx context.Context, conn *sql.Conn) (list []applied, cut bool, err error) {
	var n int
	if err := conn.QueryRowContext(ctx, d.Exists).Scan(&n); err != nil || n == 0 {
		return nil, false, err
	}
	rows, err := conn.QueryContext(ctx,
		"SELECT version, name, checksum, applied_at FROM schema_migrations ORDER BY version")
	if err != nil {
		return nil, false, err
	}
	defer rows.Close()
	for rows.Next() {
		var a applied
		if err := rows.Scan(&a.version, &a.name, &a.sum, &a.appliedAt); err != nil {
			return nil, false, err
		}
		if a.version == creating {
			cut = true
			continue
		}
		list = append(list, a)
	}
	return list, cut, rows.Err()
}

func run(ctx context.Context, conn *sql.Conn, statement string) error {
	if statement == "" {
		return nil
	}
	_, err := conn.ExecContext(ctx, statement)
	return err
}
