package runtime

import (
	"context"

	"dwserver/runtime/rules"
)

// Activity list page sizes.
const (
	DefaultActivityPage = 100
	MaxActivityPage     = 500
)

// RunActivity is an activity with all its attempts, by number.
type RunActivity struct {
	rules.Activity
	Attempts []rules.Attempt
}

// RunActivities is a page of a run's activities in authored order; NextAfter is the authored sequence
// to read after, 0 on the last page.
type RunActivities struct {
	Run        rules.Run
	Activities []RunActivity
	NextAfter  int64
}

// ListActivities reads a page of a run's activities after an authored sequence. Refusal: run_not_found.
func (e *Engine) ListActivities(ctx context.Context, target Target, after, size int64) (RunActivities, error) {
	if size <= 0 {
		size = DefaultActivityPage
	}
	size = min(size, MaxActivityPage)
	_, run, err := e.readTarget(ctx, &target)
	if err != nil {
		return RunActivities{}, err
	}
	rows, err := e.store.ListActivities(ctx, run.RunID, after, size+1)
	if err != nil {
		return RunActivities{}, err
	}
	page := RunActivities{Run: run}
	if int64(len(rows)) > size { // one more than asked tells that there is a next page
		rows = rows[:size]
		page.NextAfter = rows[size-1].Sequence
	}
	page.Activities = make([]RunActivity, len(rows))
	for i := range rows {
		page.Activities[i].Activity = rows[i]
		if page.Activities[i].Attempts, err = e.store.ListAttempts(ctx, rows[i].ExecutionID); err != nil {
			return RunActivities{}, err
		}
	}
	return page, nil
}
