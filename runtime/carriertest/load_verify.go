package carriertest

import (
	"context"
	"fmt"

	"github.com/stretchr/testify/require"

	"dwserver/runtime"
	"dwserver/runtime/check"
	"dwserver/runtime/rules"
	"dwserver/runtime/store"
	"dwserver/runtime/store/open"
)

// verify looks at everything that was seen and stored.
func (f *fleet) verify() {
	f.mu.Lock()
	defer f.mu.Unlock()
	require.Empty(f.t, f.wrong)
	for name, l := range f.leases {
		kind, known := f.kinds[generation(l.worker, l.task.LeaseGeneration)]
		require.True(f.t, known, "%s was leased to a registration that never was: %s/%d", name, l.worker, l.task.LeaseGeneration)
		if l.task.Kind == rules.KindActivity {
			require.Equal(f.t, kind, l.task.TypeName, "%s went to %s, which did not register for it", name, l.worker)
		}
	}
	attempts := 0
	for _, id := range f.runs {
		attempts += f.verifyRun(id)
	}
	f.verifyIdle()
	f.verifySound()
	require.Greater(f.t, f.count.carried, len(f.runs)*loadSteps/2, "few polls were carried")
	require.Greater(f.t, f.count.refused, 0, "no registration was replaced while its worker held a task")
	f.t.Logf("%d activities in %d attempts, %d leases; %d carried, %d continued, %d refused; %d registrations",
		len(f.runs)*loadSteps, attempts, len(f.leases), f.count.carried, f.count.continued, f.count.refused, f.count.registered)
}

// verifyRun: every step was done once, in order, and one attempt ended before the next began.
func (f *fleet) verifyRun(runID string) (attempts int) {
	run, err := f.store.ReadRun(f.ctx, runID)
	require.NoError(f.t, err)
	require.Equal(f.t, rules.RunCompleted, run.Status)
	acts, err := f.store.ListActivities(f.ctx, runID, 0, 100)
	require.NoError(f.t, err)
	require.Len(f.t, acts, loadSteps)
	for i, act := range acts {
		require.EqualValues(f.t, i+1, act.Sequence)
		require.Equal(f.t, activityKind(i), act.ActivityType)
		require.Equal(f.t, rules.ActivityCompleted, act.Status)
		tries, err := f.store.ListAttempts(f.ctx, act.ExecutionID)
		require.NoError(f.t, err)
		attempts += len(tries)
		for j, try := range tries {
			require.EqualValues(f.t, j+1, try.AttemptNumber)
			require.Equal(f.t, j == len(tries)-1, try.Status == rules.AttemptCompleted, try.Status)
			require.True(f.t, j == 0 || tries[j-1].ClosedAt <= try.StartedAt, "two attempts at once: %v", tries)
			_, seen := f.leases[fmt.Sprintf("%s/%d", try.TaskID, j+1)]
			require.True(f.t, seen || try.Status != rules.AttemptCompleted, "nobody got attempt %d of %s", j+1, act.ExecutionID)
		}
	}
	return attempts
}

// verifyIdle: nobody holds anything any more.
func (f *fleet) verifyIdle() {
	require.NoError(f.t, f.store.Transition(f.ctx, func(ctx context.Context, tx store.Tx) error {
		for i := range loadWorkers {
			leases, err := tx.ListLeases(ctx, namespace, loadWorker(i))
			if err != nil {
				return err
			}
			require.Empty(f.t, leases)
		}
		return nil
	}))
}

// verifySound: the stored state keeps every invariant.
func (f *fleet) verifySound() {
	db, err := open.Snapshot(f.ctx, f.url)
	require.NoError(f.t, err)
	defer func() { require.NoError(f.t, db.Close()) }()
	sum, err := check.Run(f.ctx, db, runtime.SystemClock{}.Now().UnixMicro(), func(v check.Violation) error {
		f.t.Errorf("%s: %v", v.Invariant, v.Fields)
		return nil
	})
	require.NoError(f.t, err)
	require.EqualValues(f.t, len(f.runs), sum.Runs)
}
