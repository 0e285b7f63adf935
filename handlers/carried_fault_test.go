package handlers_test

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"dwserver/runtime/rules"
	"dwserver/runtime/store"

	"github.com/stretchr/testify/require"
)

// flaky is a store whose next transition fails in a chosen way.
type flaky struct {
	store.Store
	mu   sync.Mutex
	next *failure
}

// failure is how a transition fails: at its claim, in place of its commit, or after it.
type failure struct {
	err error
	at  string
}

const (
	atClaim   = "at the claim"
	atCommit  = "in place of the commit"
	committed = "after the commit"
)

func (s *flaky) fail(f *failure) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.next = f
}

func (s *flaky) Transition(ctx context.Context, fn func(context.Context, store.Tx) error) error {
	s.mu.Lock()
	f := s.next
	if f == nil || !errors.Is(f.err, store.ErrConflict) { // a conflict is met again: once, all is decided anew
		s.next = nil
	}
	s.mu.Unlock()
	if f == nil {
		return s.Store.Transition(ctx, fn)
	}
	err := s.Store.Transition(ctx, func(ctx context.Context, tx store.Tx) error {
		if f.at == atClaim {
			tx = failing{tx, f.err}
		}
		err := fn(ctx, tx)
		if err == nil && f.at == atCommit {
			err = f.err
		}
		return err
	})
	if err == nil && f.at == committed {
		return f.err
	}
	return err
}

// failing is a transaction that cannot tell what a worker holds, which every claim asks first.
type failing struct {
	store.Tx
	err error
}

func (t failing) CountLeases(context.Context, string, string, string, int64) (int64, error) {
	return 0, t.err
}

// A carrying report, its path and body, and the poll that it carries.
type carryingReport struct {
	name string
	make func(p *plane, t *testing.T, run string) (path, body string)
	kind string // of the carried poll
}

var carryingReports = []carryingReport{
	{"workflow", func(p *plane, t *testing.T, run string) (string, string) {
		task := p.poll(t, "workflow-tasks")
		return "/worker/workflow-tasks/" + task.Text("task.task_id") + "/complete",
			`{"lease_owner":"w","workflow_task_attempt":1,"commands":[{"type":"schedule_activity","activity_type":"greet"}],` + carriedPoll("activity_poll") + `}`
	}, "activity"},
	{"activity", func(p *plane, t *testing.T, run string) (string, string) {
		path, attempt := p.runningActivity(t)
		return path + "/complete", `{` + attempt + `,"result":` + frame(5) + `,` + carriedPoll("workflow_poll") + `}`
	}, "workflow"},
	{"failure", func(p *plane, t *testing.T, run string) (string, string) {
		path, attempt := p.runningActivity(t)
		return path + "/fail", `{` + attempt + `,"failure":{"message":"no"},` + carriedPoll("workflow_poll") + `}`
	}, "workflow"},
	{"continuation", func(p *plane, t *testing.T, run string) (string, string) {
		path, attempt := p.runningActivity(t)
		return path + "/complete", `{` + attempt + `,"result":` + frame(5) + `,"workflow_continuation":{"run_id":"` + run +
			`","base_history_sequence":4,"commands":[{"type":"schedule_activity","activity_type":"greet"}]},` + carriedPoll("activity_poll") + `}`
	}, "activity"},
}

func carriedPoll(member string) string {
	return `"` + member + `":{"worker_id":"w","task_queue":"default","poll_request_id":"carried"}`
}

// runningActivity brings the run to its first activity, which the worker holds.
func (p *plane) runningActivity(t *testing.T) (path, attempt string) {
	t.Helper()
	p.turn(t, map[string]any{"type": "schedule_activity", "activity_type": "greet"})
	task := p.poll(t, "activity-tasks")
	return "/worker/activity-tasks/" + task.Text("task.task_id"),
		`"activity_attempt_id":"` + task.Text("task.activity_attempt_id") + `","lease_owner":"w"`
}

// faults are the classes of faults and how the worker plane answers each.
var faults = []struct {
	failure
	status   int
	reason   string
	expected map[string]any
}{
	{failure{errors.New("no such thing"), atClaim}, 500, "internal_error", map[string]any{"retryable": true}},
	{failure{fmt.Errorf("%w: a row", store.ErrBroken), atClaim}, 500, "internal_error", map[string]any{"retryable": true}},
	{failure{store.ErrConflict, atClaim}, 500, "internal_error", map[string]any{"retryable": true}},
	{failure{store.ErrContention, atClaim}, 503, "backend_lock_pressure", map[string]any{"outcome": "deferred", "recorded": false, "retryable": true}},
	{failure{store.ErrUnavailable, atClaim}, 503, "backend_unavailable", map[string]any{"outcome": "unknown", "retryable": true}},
	{failure{store.ErrOutcomeUnknown, atCommit}, 503, "backend_unavailable", map[string]any{"outcome": "unknown", "retryable": true}},
	{failure{store.ErrOutcomeUnknown, committed}, 503, "backend_unavailable", map[string]any{"outcome": "unknown", "retryable": true}},
	{failure{rules.Refuse("history_sequence_exhausted", "full"), atClaim}, 409, "history_sequence_exhausted", map[string]any{"outcome": "rejected", "recorded": false}},
}

// TestAFaultOfACarriedPollIsAnsweredAsItself: it is the report's, with its own status; what the report is
// asked again by is in the answer, and asking again leaves one report and one lease.
func TestAFaultOfACarriedPollIsAnsweredAsItself(t *testing.T) {
	onEvery(t, func(on engine) {
		for _, report := range carryingReports {
			for _, fault := range faults {
				on.Run(strings.Join([]string{report.name, fault.reason, fault.at}, " "), func(t *testing.T) {
					st := &flaky{Store: engine{t, on.name}.open()}
					p := serve(t, st)
					p.register(t, nil)
					run := p.start(map[string]any{})
					path, body := report.make(p, t, run)
					st.fail(&fault.failure)
					answer := p.Post(path, body).Refused(fault.status, fault.reason).Is(fault.expected)
					st.fail(nil)
					require.Equal(t, strings.Split(path, "/")[3], answer.Text("task_id"))
					require.False(t, answer.Has("", "activity_poll") || answer.Has("", "workflow_poll") || answer.Has("", "workflow_continuation"))
					report.again(p, t, path, body, fault.at == committed)
				})
			}
		}
	})
}

// again sends the report once more and polls under the original id.
func (c *carryingReport) again(p *plane, t *testing.T, path, body string, recorded bool) {
	t.Helper()
	member := c.kind + "_poll"
	reply := p.Post(path, body).Expect(200).Is(map[string]any{"recorded": !recorded})
	require.Equal(t, !recorded, reply.Has("", member))
	p.clock.advance(time.Second)
	own := p.Post("/worker/"+c.kind+"-tasks/poll", pollBody(map[string]any{"poll_request_id": "carried", "timeout_seconds": 0})).Expect(200)
	own.Is(map[string]any{"poll_status": "leased", "task.lease_owner": "w"})
	if !recorded {
		require.Equal(t, withoutClock(string(own.Body)), withoutClock(memberText(t, reply.Body, member+".answer")))
	}
	empty := p.Post("/worker/"+c.kind+"-tasks/poll", pollBody(map[string]any{"timeout_seconds": 0})).Expect(200)
	require.Equal(t, "empty", empty.Text("poll_status"), "there is one lease")
}

var clockMember = regexp.MustCompile(`"server_time":"[^"]*"`)

// withoutClock is a poll's body without its server_time.
func withoutClock(body string) string { return clockMember.ReplaceAllString(body, "") }
