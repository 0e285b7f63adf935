package floor

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"dwserver/gen/sqlitedb"
	"dwserver/runtime/rules"
	"dwserver/runtime/store"
	"dwserver/runtime/store/rows"
	"dwserver/runtime/store/sqlite"
)

// bareLoop runs statements on one connection, without anything of the store.
type bareLoop struct {
	conn          *sql.Conn
	queries       *sqlitedb.Queries
	begin, commit *sql.Stmt
	runs          []bareRun
}

type bareRun struct {
	run  rules.Run
	task rules.Task
}

// bare commits groups of transitions, made of the statements named, for a while and returns their rate.
func bare(ctx context.Context, path string, statements []string, each time.Duration) (rate float64, err error) {
	s, err := sqlite.Open(ctx, "sqlite://"+path, store.Options{}) // makes the schema
	if err != nil {
		return 0, err
	}
	if err := s.Close(); err != nil {
		return 0, err
	}
	db, err := sql.Open("sqlite", "file:"+path+"?_pragma=journal_mode(WAL)&_pragma=synchronous(FULL)&_pragma=foreign_keys(1)"+
		"&_pragma=temp_store(MEMORY)&_pragma=cache_size(-32768)&_pragma=wal_autocheckpoint(4000)") // as the store's writer
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	ctx = context.WithoutCancel(ctx) // the driver would start a goroutine per statement to watch it
	l := &bareLoop{}
	if err := l.open(ctx, db); err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, l.conn.Close()) }()
	done, began := 0, time.Now()
	for time.Since(began) < each {
		if err := l.group(ctx, statements); err != nil {
			return 0, err
		}
		done += Callers
	}
	return float64(done) / time.Since(began).Seconds(), nil
}

func (l *bareLoop) open(ctx context.Context, db *sql.DB) (err error) {
	if l.conn, err = db.Conn(ctx); err != nil {
		return err
	}
	if l.queries, err = sqlitedb.Prepare(ctx, l.conn); err != nil {
		return err
	}
	if l.begin, err = l.conn.PrepareContext(ctx, "BEGIN IMMEDIATE"); err != nil {
		return err
	}
	if l.commit, err = l.conn.PrepareContext(ctx, "COMMIT"); err != nil {
		return err
	}
	for i := range Callers {
		r := bareRun{run: newRun(runID(i), runID(i)+"-0"), task: newTask(runID(i), runID(i)+"-0")}
		if err := l.queries.RunInsert(ctx, sqlitedb.RunInsertParams(rows.Run(r.run))); err != nil {
			return err
		}
		if err := l.queries.TaskInsert(ctx, sqlitedb.TaskInsertParams(rows.Task(r.task))); err != nil {
			return err
		}
		l.runs = append(l.runs, r)
	}
	return nil
}

func (l *bareLoop) group(ctx context.Context, statements []string) error {
	if _, err := l.begin.ExecContext(ctx); err != nil {
		return err
	}
	for i := range l.runs {
		if err := l.transition(ctx, &l.runs[i], statements); err != nil {
			return err
		}
	}
	_, err := l.commit.ExecContext(ctx)
	return err
}

func (l *bareLoop) transition(ctx context.Context, r *bareRun, statements []string) error {
	base := r.run.LastHistorySequence
	next := newTask(r.run.RunID, fmt.Sprintf("%s-%d", r.run.RunID, base+1))
	r.run.LastHistorySequence += 2
	r.run.WorkflowTaskID = next.TaskID
	r.task.Status = rules.TaskCompleted
	event := base
	for _, name := range statements {
		var err error
		switch name {
		case "RunLockOfTask":
			_, err = l.queries.RunLockOfTask(ctx, r.task.TaskID)
		case "RunGet":
			_, err = l.queries.RunGet(ctx, r.run.RunID)
		case "TaskGet":
			_, err = l.queries.TaskGet(ctx, r.task.TaskID)
		case "RunUpdate":
			_, err = l.queries.RunUpdate(ctx, sqlitedb.RunUpdateParams(rows.UpdateRun(&r.run, base)))
		case "EventInsert":
			event++
			err = l.queries.EventInsert(ctx, sqlitedb.EventInsertParams(rows.Event(newEvent(r.run.RunID, event))))
		case "TaskUpdate":
			_, err = l.queries.TaskUpdate(ctx, sqlitedb.TaskUpdateParams(rows.UpdateTask(&r.task)))
		case "TaskInsert":
			err = l.queries.TaskInsert(ctx, sqlitedb.TaskInsertParams(rows.Task(next)))
		default:
			err = errors.New("the bare loop does not know it")
		}
		if err != nil {
			return fmt.Errorf("statement %s: %w", name, err)
		}
	}
	r.task = next
	return nil
}
