package main

import (
	"fmt"
	"maps"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// What a server can have acknowledged beside starts and signals.
const (
	takenStep        = "step of a run"
	completedAttempt = "completed attempt"
	failedAttempt    = "failed attempt"
)

// ledger is what servers acknowledged, and what went wrong.
type ledger struct {
	mu       sync.Mutex
	byID     map[string]string            // workflow id → run id of acknowledged starts
	acked    map[string]map[string]string // kind → key → token
	findings []string
	lost     int // requests whose answer a kill took
	refused  int // outcomes of tasks that were no longer the worker's
}

func newLedger() *ledger {
	return &ledger{byID: map[string]string{}, acked: map[string]map[string]string{takenStep: {}, completedAttempt: {}, failedAttempt: {}}}
}

func stepKey(workflow string, step int) string { return fmt.Sprintf("%s step %d", workflow, step) }

func (l *ledger) found(format string, args ...any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.findings = append(l.findings, fmt.Sprintf(format, args...))
}

func (l *ledger) started(id, run string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.byID[id] = run
}

func (l *ledger) count(n *int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	*n++
}

// acknowledge notes what a server said it recorded. It can say so once for each thing: a second worker
// that is told the same would mean that the step was taken twice.
func (l *ledger) acknowledge(kind, key, token string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if _, twice := l.acked[kind][key]; twice {
		l.findings = append(l.findings, kind+" acknowledged twice: "+key)
	}
	l.acked[kind][key] = token
}

func (l *ledger) runs() map[string]string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return maps.Clone(l.byID)
}

func (l *ledger) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return fmt.Sprintf("acknowledged: %d starts, %d steps, %d completed and %d failed attempts; %d answers lost, %d outcomes refused",
		len(l.byID), len(l.acked[takenStep]), len(l.acked[completedAttempt]), len(l.acked[failedAttempt]), l.lost, l.refused)
}

// verify compares the ledger with what the server now has.
func (c *crash) verify(t *testing.T) {
	t.Helper()
	l := c.ledger
	assert.Empty(t, l.findings)
	assert.NotZero(t, l.lost, "the kills came while nothing was asked: they showed nothing")
	assert.Len(t, l.acked[takenStep], len(l.byID)*len(program), "every step of every run was acknowledged to somebody")
	completed, failed := map[string]bool{}, map[string]bool{}
	for id, run := range l.byID {
		answer, err := c.api.call(t.Context(), http.MethodGet, "/workflows/"+id+"/runs/"+run, nil)
		require.NoError(t, err)
		var described struct{ Status, Output string }
		require.NoError(t, answer.decode(&described))
		assert.Equal(t, "completed", described.Status, id)
		assert.Equal(t, "done", described.Output, id)

		events, err := c.history(t.Context(), id, run)
		require.NoError(t, err)
		c.verifyRun(t, id, events, completed, failed)
	}
	c.verifyAttempts(t, completed, failed)
	assert.Equal(t, len(l.byID), c.countRuns(t), "no run that nobody was told of")
}

// verifyRun checks one history: contiguous, each step once, attempts without a gap, the acknowledged
// completion's own side effect, and the close at the end.
func (c *crash) verifyRun(t *testing.T, id string, events []historyEvent, completed, failed map[string]bool) {
	t.Helper()
	times, attempts := map[string]int{}, map[int64]int64{}
	for i, e := range events {
		assert.Equal(t, int64(i+1), e.Sequence, "%s: event sequences are contiguous", id)
		times[fmt.Sprintf("%s %d", e.Type, e.Payload.Sequence)]++
		switch e.Type {
		case "ActivityStarted":
			attempts[e.Payload.Sequence]++
			assert.Equal(t, attempts[e.Payload.Sequence], e.Payload.Attempt, "%s: attempts of step %d", id, e.Payload.Sequence)
		case "ActivityCompleted":
			completed[e.Payload.AttemptID] = true
			assert.Equal(t, payload(e.Payload.AttemptID), e.Payload.Result, "%s: the result is that attempt's own", id)
		case "ActivityRetryScheduled":
			failed[e.Payload.RetryAfter] = true
		case "SideEffectRecorded":
			assert.Equal(t, payload(c.ledger.acked[takenStep][stepKey(id, 1)]), e.Payload.Result, "%s: the acknowledged completion's side effect", id)
		}
	}
	assert.Equal(t, once(), only(times, once()), "%s: %v", id, times)
	assert.Zero(t, countPrefix(times, "ActivityFailed")+countPrefix(times, "ActivityTimedOut"), id)
	assert.Equal(t, "WorkflowCompleted", events[len(events)-1].Type, id)
}

// once are the events that each run has exactly once, with their authored sequence.
func once() map[string]int {
	m := map[string]int{"StartAccepted 0": 1, "WorkflowStarted 0": 1, "WorkflowCompleted 0": 1, "SignalReceived 0": 1,
		"SideEffectRecorded 2": 1, "SignalWaitOpened 4": 1, "SignalApplied 4": 1, "TimerScheduled 7": 1, "TimerFired 7": 1}
	for _, sequence := range []int{1, 3, 5, 6} {
		m[fmt.Sprintf("ActivityScheduled %d", sequence)] = 1
		m[fmt.Sprintf("ActivityCompleted %d", sequence)] = 1
	}
	return m
}

// only keeps the counts of the expected events, and of their types under any other sequence.
func only(times, expected map[string]int) map[string]int {
	types := map[string]bool{}
	for key := range expected {
		name, _, _ := strings.Cut(key, " ")
		types[name] = true
	}
	kept := map[string]int{}
	for key, n := range times {
		if name, _, _ := strings.Cut(key, " "); types[name] {
			kept[key] = n
		}
	}
	return kept
}

func countPrefix(times map[string]int, name string) (n int) {
	for key, k := range times {
		if strings.HasPrefix(key, name+" ") {
			n += k
		}
	}
	return n
}

// verifyAttempts checks that no acknowledged outcome of an activity is missing.
func (c *crash) verifyAttempts(t *testing.T, completed, failed map[string]bool) {
	t.Helper()
	for attempt := range c.ledger.acked[completedAttempt] {
		assert.True(t, completed[attempt], "the acknowledged result of attempt %s is in no history", attempt)
	}
	for attempt := range c.ledger.acked[failedAttempt] {
		assert.True(t, failed[attempt], "the acknowledged failure of attempt %s is in no history", attempt)
	}
}

func (c *crash) countRuns(t *testing.T) (n int) {
	t.Helper()
	for token := ""; ; {
		answer, err := c.api.call(t.Context(), http.MethodGet, "/workflows?page_size=50&next_page_token="+token, nil)
		require.NoError(t, err)
		require.Equal(t, http.StatusOK, answer.status, "%s", answer)
		var page struct {
			Workflows []struct{} `json:"workflows"`
			Next      *string    `json:"next_page_token"`
		}
		require.NoError(t, answer.decode(&page))
		n += len(page.Workflows)
		if page.Next == nil {
			return n
		}
		token = *page.Next
	}
}
