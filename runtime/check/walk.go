package check

import (
	"context"

	"dwserver/runtime/store/snapshot"
)

// histories reads every event in order, each with what its run says of its history.
const histories = `SELECT e.run_id, e.sequence, e.event_type, e.payload, r.status, r.closed_reason, r.run_number,
    r.last_history_sequence, r.last_step_sequence, r.history_size_bytes, r.closed_event_sequence
FROM history_events e
JOIN workflow_runs r ON r.run_id = e.run_id
ORDER BY e.run_id, e.sequence`

// walk goes through all histories, one run at a time.
type walk struct {
	report func(Violation) error
	sum    *Summary
	now    *history
}

// run is what a run says of its history.
type run struct {
	id, status, closedReason                                       string
	number, lastSequence, lastStep, sizeBytes, closedEventSequence int64
}

// event is one event of a history.
type event struct {
	sequence int64
	kind     string
	payload  []byte
}

func (w *walk) run(ctx context.Context, db Database) error {
	err := db.Each(ctx, histories, func(row snapshot.Row) error {
		var r run
		var e event
		if err := row.Scan(&r.id, &e.sequence, &e.kind, &e.payload, &r.status, &r.closedReason, &r.number, &r.lastSequence,
			&r.lastStep, &r.sizeBytes, &r.closedEventSequence); err != nil {
			return err
		}
		if w.now == nil || w.now.run.id != r.id {
			if err := w.end(); err != nil {
				return err
			}
			w.now = newHistory(r)
		}
		w.sum.Events++
		w.now.add(&e)
		return nil
	})
	if err != nil {
		return err
	}
	return w.end()
}

// end reports what the history that was read last breaks.
func (w *walk) end() error {
	if w.now == nil {
		return nil
	}
	w.sum.Runs++
	w.now.end()
	for _, v := range w.now.found {
		if err := w.report(v); err != nil {
			return err
		}
	}
	return nil
}
