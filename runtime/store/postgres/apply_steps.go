package postgres

import (
	"dwserver/gen/pgdb"
	"dwserver/runtime/rules"
	"dwserver/runtime/store/rows"
)

func (t *tx) applyActivities(e *rules.Effects) {
	each(t, e.NewActs, func(q *pgdb.Queries, r *rules.Activity) error {
		return q.ActivityInsert(t.ctx, pgdb.ActivityInsertParams(rows.Activity(*r)))
	})
	each(t, e.Acts, func(q *pgdb.Queries, r *rules.Activity) error {
		return q.ActivityUpdate(t.ctx, pgdb.ActivityUpdateParams(rows.UpdateActivity(r)))
	})
}

func (t *tx) applyAttempts(e *rules.Effects) {
	each(t, e.NewTries, func(q *pgdb.Queries, r *rules.Attempt) error {
		return q.AttemptInsert(t.ctx, pgdb.AttemptInsertParams(rows.Attempt(*r)))
	})
	each(t, e.Tries, func(q *pgdb.Queries, r *rules.Attempt) error {
		return q.AttemptUpdate(t.ctx, pgdb.AttemptUpdateParams(rows.UpdateAttempt(r)))
	})
}

func (t *tx) applyTimers(e *rules.Effects) {
	each(t, e.NewTimers, func(q *pgdb.Queries, r *rules.Timer) error {
		return q.TimerInsert(t.ctx, pgdb.TimerInsertParams(rows.Timer(*r)))
	})
	each(t, e.Timers, func(q *pgdb.Queries, r *rules.Timer) error {
		return q.TimerUpdate(t.ctx, pgdb.TimerUpdateParams(rows.UpdateTimer(r)))
	})
}

func (t *tx) applyWaits(e *rules.Effects) {
	each(t, e.NewWaits, func(q *pgdb.Queries, r *rules.Wait) error {
		return q.WaitInsert(t.ctx, pgdb.WaitInsertParams(rows.Wait(*r)))
	})
	each(t, e.Waits, func(q *pgdb.Queries, r *rules.Wait) error {
		return q.WaitUpdate(t.ctx, pgdb.WaitUpdateParams(rows.UpdateWait(r)))
	})
}
