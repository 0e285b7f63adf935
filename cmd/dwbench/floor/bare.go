package floor

import (
	"context"
	"errors"
	"fmt"
	"time"

	"dwserver/gen/sqlitedb"
	"dwserver/gen/sqliteraw"
	"dwserver/runtime/rules"
	"dwserver/runtime/store"
	"dwserver/runtime/store/rows"
	"dwserver/runtime/store/sqlite"
	"dwserver/runtime/store/sqlite/raw"
)

// bareLoop runs statements on one connection, without anything of the store.
type bareLoop struct {
	conn          *raw.Conn
	stmts         [len(sqliteraw.All)]*raw.Stmt
	queries       *sqliteraw.Queries
	begin, commit *raw.Stmt
	runs          []bareRun
}

type bareRun struct {
	run  rules.Run
	task rules.Task
}

// settings are those of the store's writer.
var settings = []string{"journal_mode(WAL)", "synchronous(FULL)", "foreign_keys(1)", "temp_store(MEMORY)", "cache_size(-32768)",
	"wal_autocheckpoint(4000)"}

// bare commits groups of transitions, made of the statements named, for a while and returns their rate.
func bare(ctx context.Context, path string, statements []string, each time.Duration) (rate float64, err error) {
	s, err := sqlite.Open(ctx, "sqlite://"+path, store.Options{}) // makes the schema
	if err != nil {
		return 0, err
	}
	if err := s.Close(); err != nil {
		return 0, err
	}
	l := &bareLoop{}
	if l.conn, err = raw.Open(path, raw.ReadWrite); err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, l.conn.Close()) }()
	if err := l.prepare(ctx); err != nil {
		return 0, err
	}
	done, began := 0, time.Now()
	for time.Since(began) < each {
		if err := l.group(ctx, statements); err != nil {
			return 0, err
		}
		done += Callers
	}
	return float64(done) / time.Since(began).Seconds(), nil
}

// Start implements sqliteraw.DB.
func (l *bareLoop) Start(_ context.Context, q *sqliteraw.Query) (sqliteraw.Stmt, error) {
	return l.stmts[q.Index], nil
}

func (l *bareLoop) prepare(ctx context.Context) (err error) {
	for _, setting := range settings {
		if err := l.conn.Exec("PRAGMA " + setting); err != nil {
			return err
		}
	}
	for _, q := range sqliteraw.All {
		if l.stmts[q.Index], err = l.conn.Prepare(q.Text); err != nil {
			return fmt.Errorf("prepare %s: %w", q.Name, err)
		}
	}
	if l.begin, err = l.conn.Prepare("BEGIN IMMEDIATE"); err != nil {
		return err
	}
	if l.commit, err = l.conn.Prepare("COMMIT"); err != nil {
		return err
	}
	l.queries = sqliteraw.New(l)
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
	if err := run(l.begin); err != nil {
		return err
	}
	for i := range l.runs {
		if err := l.transition(ctx, &l.runs[i], statements); err != nil {
			return err
		}
	}
	return run(l.commit)
}

func run(s *raw.Stmt) error {
	s.Next()
	return s.End()
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
