package sqlite

import (
	"dwserver/gen/sqlitedb"
	"dwserver/runtime/rules"
	"dwserver/runtime/store/rows"
)

func (t *tx) applyActivities(e *rules.Effects) error {
	for i := range e.NewActs {
		err := t.q.ActivityInsert(t.ctx, sqlitedb.ActivityInsertParams(rows.Activity(e.NewActs[i])))
		if err = t.put("activity", e.NewActs[i].ExecutionID, err); err != nil {
			return err
		}
		wrote(t.cache, &t.cache.activities, e.NewActs[i].ExecutionID, e.NewActs[i])
	}
	for i := range e.Acts {
		u := rows.UpdateActivity(&e.Acts[i])
		n, err := t.q.ActivityUpdate(t.ctx, sqlitedb.ActivityUpdateParams(u))
		if err = t.set("activity", e.Acts[i].ExecutionID, n, err); err != nil {
			return err
		}
		changed(t.cache, &t.cache.activities, e.Acts[i].ExecutionID, u.Onto)
	}
	return nil
}

func (t *tx) applyAttempts(e *rules.Effects) error {
	for i := range e.NewTries {
		err := t.q.AttemptInsert(t.ctx, sqlitedb.AttemptInsertParams(rows.Attempt(e.NewTries[i])))
		if err = t.put("attempt", e.NewTries[i].AttemptID, err); err != nil {
			return err
		}
		wrote(t.cache, &t.cache.attempts, e.NewTries[i].AttemptID, e.NewTries[i])
	}
	for i := range e.Tries {
		u := rows.UpdateAttempt(&e.Tries[i])
		n, err := t.q.AttemptUpdate(t.ctx, sqlitedb.AttemptUpdateParams(u))
		if err = t.set("attempt", e.Tries[i].AttemptID, n, err); err != nil {
			return err
		}
		changed(t.cache, &t.cache.attempts, e.Tries[i].AttemptID, u.Onto)
	}
	return nil
}

func (t *tx) applyTimers(e *rules.Effects) error {
	for i := range e.NewTimers {
		err := t.q.TimerInsert(t.ctx, sqlitedb.TimerInsertParams(rows.Timer(e.NewTimers[i])))
		if err = t.put("timer", e.NewTimers[i].TimerID, err); err != nil {
			return err
		}
	}
	for i := range e.Timers {
		n, err := t.q.TimerUpdate(t.ctx, sqlitedb.TimerUpdateParams(rows.UpdateTimer(&e.Timers[i])))
		if err = t.set("timer", e.Timers[i].TimerID, n, err); err != nil {
			return err
		}
	}
	return nil
}

func (t *tx) applyWaits(e *rules.Effects) error {
	for i := range e.NewWaits {
		err := t.q.WaitInsert(t.ctx, sqlitedb.WaitInsertParams(rows.Wait(e.NewWaits[i])))
		if err = t.put("wait", e.NewWaits[i].WaitID, err); err != nil {
			return err
		}
	}
	for i := range e.Waits {
		n, err := t.q.WaitUpdate(t.ctx, sqlitedb.WaitUpdateParams(rows.UpdateWait(&e.Waits[i])))
		if err = t.set("wait", e.Waits[i].WaitID, n, err); err != nil {
			return err
		}
	}
	return nil
}
