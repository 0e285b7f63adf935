package mysql

import (
	"dwserver/gen/mysqldb"
	"dwserver/runtime/rules"
	"dwserver/runtime/store/rows"
)

func (t *tx) applyActivities(e *rules.Effects) {
	each(t, e.NewActs, func(q *mysqldb.Queries, r *rules.Activity) error {
		return q.ActivityInsert(t.ctx, mysqldb.ActivityInsertParams(rows.Activity(*r)))
	})
	each(t, e.Acts, func(q *mysqldb.Queries, r *rules.Activity) error {
		return affected(q.ActivityUpdate(t.ctx, mysqldb.ActivityUpdateParams(rows.UpdateActivity(r))))
	})
}

func (t *tx) applyAttempts(e *rules.Effects) {
	each(t, e.NewTries, func(q *mysqldb.Queries, r *rules.Attempt) error {
		return q.AttemptInsert(t.ctx, mysqldb.AttemptInsertParams(rows.Attempt(*r)))
	})
	each(t, e.Tries, func(q *mysqldb.Queries, r *rules.Attempt) error {
		return affected(q.AttemptUpdate(t.ctx, mysqldb.AttemptUpdateParams(rows.UpdateAttempt(r))))
	})
}

func (t *tx) applyTimers(e *rules.Effects) {
	each(t, e.NewTimers, func(q *mysqldb.Queries, r *rules.Timer) error {
		return q.TimerInsert(t.ctx, mysqldb.TimerInsertParams(rows.Timer(*r)))
	})
	each(t, e.Timers, func(q *mysqldb.Queries, r *rules.Timer) error {
		return affected(q.TimerUpdate(t.ctx, mysqldb.TimerUpdateParams(rows.UpdateTimer(r))))
	})
}

func (t *tx) applyWaits(e *rules.Effects) {
	each(t, e.NewWaits, func(q *mysqldb.Queries, r *rules.Wait) error {
		return q.WaitInsert(t.ctx, mysqldb.WaitInsertParams(rows.Wait(*r)))
	})
	each(t, e.Waits, func(q *mysqldb.Queries, r *rules.Wait) error {
		return affected(q.WaitUpdate(t.ctx, mysqldb.WaitUpdateParams(rows.UpdateWait(r))))
	})
}
