package handlers_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"dwserver/handlers"
	"dwserver/handlers/handlertest"
	"dwserver/runtime"
	"dwserver/runtime/rules"

	"github.com/stretchr/testify/require"
)

// worker120 registers the worker w at protocol 1.20, with the capabilities it lists.
func (p *plane) worker120(t *testing.T, capabilities ...string) {
	t.Helper()
	manifest := map[string]any{}
	for _, feature := range []string{"local_activities", "worker_sessions", "sticky_execution"} {
		manifest[feature] = map[string]any{"supported": slices.Contains(capabilities, feature), "minimum_protocol_version": "1.18"}
	}
	p.Post("/worker/register", map[string]any{
		"worker_id": "w", "task_queue": "default", "runtime": "python", "supported_workflow_types": []string{"greeter"},
		"supported_activity_types": []string{"greet"}, "capabilities": append([]string{}, capabilities...), "capability_manifest": manifest,
	}).Expect(201)
}

func (p *plane) localWorker(t *testing.T) { p.worker120(t, "local_activities") }

// localTurn starts a workflow and takes its first task; the result completes it.
func (p *plane) localTurn(t *testing.T) (run string, complete func(commands string, options ...handlertest.Option) *handlertest.Reply) {
	t.Helper()
	run = p.start(map[string]any{"workflow_id": fmt.Sprintf("local-%s-%d", strings.ReplaceAll(t.Name(), "/", "-"), p.clock.Now().UnixNano())})
	p.clock.advance(1)
	id := p.poll(t, "workflow-tasks").Text("task.task_id")
	return run, func(commands string, options ...handlertest.Option) *handlertest.Reply {
		t.Helper()
		return p.Post("/worker/workflow-tasks/"+id+"/complete",
			`{"lease_owner":"w","workflow_task_attempt":1,"commands":[`+commands+`]}`, options...)
	}
}

// activitiesOf asks for the activities of a run.
func (p *plane) activitiesOf(t *testing.T, run, query string) *handlertest.Reply {
	t.Helper()
	r, err := p.store.ReadRun(t.Context(), run)
	require.NoError(t, err)
	return p.Get("/workflows/" + r.WorkflowID + "/runs/" + run + "/activities" + query)
}

const twoAttempts = `{"type":"record_local_activity","activity_type":"greet","outcome":"failed","message":"no luck","exception_type":"E",
  "non_retryable":true,"arguments":"AAAA","execution_mode":"local","heartbeat_timeout":5,
  "retry_policy":{"max_attempts":3,"backoff_seconds":[1,2],"non_retryable_error_types":["E"]},
  "attempts":[{"attempt_number":1,"attempt_id":"first","outcome":"timed_out","timeout_kind":"heartbeat","message":"late","retry_reason":"timeout",
    "backoff_seconds":1,"duration_ms":4000,"heartbeats":[{"elapsed_ms":10,"details":{"n":9007199254740993, "f":1.0}},{"elapsed_ms":1500}]},
   {"attempt_number":2,"outcome":"failed","message":"no luck","exception_type":"E","non_retryable":true,"duration_ms":2000}]}`

// TestALocalActivityIsTold: its events in history and its row in the activities view, to the last member.
func TestALocalActivityIsTold(t *testing.T) {
	onEvery(t, func(on engine) {
		t := on.T
		p := serve(t, on.open())
		p.localWorker(t)
		run, complete := p.localTurn(t)
		complete(twoAttempts + `,{"type":"schedule_activity","activity_type":"remote"},{"type":"record_local_activity","activity_type":"greet",
		  "outcome":"cancelled","message":"gone","attempts":[{"attempt_number":1,"outcome":"cancelled","message":"gone"}]},{"type":"open_signal_wait","signal_name":"s"}`).
			Expect(200).Is(map[string]any{"recorded": true, "run_status": "waiting", "last_history_sequence": 14})

		now := "2026-01-02T03:04:05.000678Z"
		view := p.activitiesOf(t, run, "").Expect(200).Is(map[string]any{"activity_count": 3, "next_page_token": nil,
			"activities.0.sequence": 1, "activities.0.activity_type": "greet", "activities.0.status": "failed", "activities.0.execution_mode": "local",
			"activities.0.task_queue": "default", "activities.0.attempt_count": 2, "activities.0.retry_policy.max_attempts": 3,
			"activities.0.retry_policy.heartbeat_timeout": 5, "activities.0.started_at": "2026-01-02T03:03:58.000678Z",
			"activities.0.last_heartbeat_at": "2026-01-02T03:03:59.500678Z", "activities.0.closed_at": now, "activities.0.created_at": now,
			"activities.0.activity_options.queue_bypassed": true, "activities.0.activity_options.execution_mode": "local",
			"activities.0.activity_options.routing":     "workflow_worker_process",
			"activities.0.attempts.0.worker_attempt_id": "first", "activities.0.attempts.0.status": "failed",
			"activities.0.attempts.0.lease_owner": "w",
			"activities.0.attempts.0.started_at":  "2026-01-02T03:03:58.000678Z", "activities.0.attempts.0.closed_at": "2026-01-02T03:04:02.000678Z",
			"activities.0.attempts.0.last_heartbeat_at": "2026-01-02T03:03:59.500678Z",
			"activities.0.attempts.1.worker_attempt_id": nil, "activities.0.attempts.1.attempt_number": 2, "activities.0.attempts.1.status": "failed",
			"activities.0.attempts.1.started_at": "2026-01-02T03:04:03.000678Z", "activities.0.attempts.1.closed_at": now,
			"activities.1.sequence": 2, "activities.1.execution_mode": "remote", "activities.1.status": "pending", "activities.1.closed_at": nil,
			"activities.2.sequence": 3, "activities.2.status": "cancelled", "activities.2.attempts.0.status": "cancelled"})
		require.False(t, view.Has("activities.1", "activity_options"), "only local activities have them")
		require.Equal(t, view.Text("activities.0.attempts.1.activity_attempt_id"), view.Text("activities.0.current_attempt_id"))
		require.Nil(t, view.Any("activities.1.current_attempt_id"))

		history := p.Get("/workflows/" + view.Text("workflow_id") + "/runs/" + run + "/history").Expect(200)
		beat := memberText(t, history.Body, "events.4.payload.progress")
		require.Equal(t, `{"n":9007199254740993,"f":1.0}`, beat, "numbers as they came")
		require.Equal(t, history.Text("events.2.payload.workflow_task_id"), view.Text("activities.0.attempts.0.task_id"))
		history.Is(map[string]any{"events.4.payload.worker_attempt_id": "first", "events.4.payload.activity_attempt.worker_attempt_id": "first",
			"events.6.payload.activity_attempt.status": "failed", "events.6.payload.retry_backoff_seconds": 1,
			"events.8.event_type": "ActivityFailed", "events.8.payload.activity.status": "failed"})
	})
}

func TestTheActivitiesViewHasPages(t *testing.T) {
	onEvery(t, func(on engine) {
		t := on.T
		p := serve(t, on.open())
		p.localWorker(t)
		run, complete := p.localTurn(t)
		one := `{"type":"record_local_activity","activity_type":"greet","outcome":"completed","result":"AAAA","attempts":[{"attempt_number":1,"outcome":"completed"}]}`
		complete(strings.Join([]string{one, one, `{"type":"record_side_effect","result":"AAAA"}`, one, one, one, `{"type":"complete_workflow"}`}, ",")).Expect(200)
		var seen []string
		for token := ""; ; {
			page := p.activitiesOf(t, run, "?page_size=2"+token).Expect(200)
			for i := range page.Int("activity_count") {
				at := fmt.Sprintf("activities.%d.", i)
				require.NotEmpty(t, page.Text(at+"attempts.0.activity_attempt_id"))
				require.Equal(t, page.Text(at+"attempts.0.activity_attempt_id"), page.Text(at+"current_attempt_id"))
				seen = append(seen, fmt.Sprint(page.Int(at+"sequence")))
			}
			next := page.Text("next_page_token")
			if next == "" {
				break
			}
			token = "&next_page_token=" + next
		}
		require.Equal(t, []string{"1", "2", "4", "5", "6"}, seen)
		path := "/workflows/" + p.activitiesOf(t, run, "").Text("workflow_id") + "/runs/" + run + "/activities"
		for _, size := range []string{"0", "501", "x"} {
			p.Get(path+"?page_size="+size, handlertest.Deliberate()).Expect(422)
		}
		p.Get("/workflows/nobody/runs/"+run+"/activities").Refused(404, "run_not_found")
	})
}

// TestLocalActivitiesNeedTheirCapability: protocol 1.18, listed and supported by the manifest.
func TestLocalActivitiesNeedTheirCapability(t *testing.T) {
	onEvery(t, func(on engine) {
		t := on.T
		const feature = "local_activities"
		legacy := `{"type":"record_local_activity","activity_type":"greet","outcome":"completed","result":"AAAA"}`
		for _, row := range []struct {
			capabilities []string
			version      string
			reason       string
		}{
			{[]string{feature}, "1.17", "portable_worker_affinity_protocol_floor_unavailable"},
			{nil, "1.18", "worker_capability_not_supported"},
		} {
			p := serve(t, on.open())
			p.worker120(t, row.capabilities...)
			run, complete := p.localTurn(t)
			complete(legacy, handlertest.Header(handlertest.WorkerHeader, row.version)).Refused(409, row.reason).
				Is(map[string]any{"capability": feature, "minimum_protocol_version": "1.18", "requested_version": row.version, "recorded": false})
			p.activitiesOf(t, run, "").Expect(200).Is(map[string]any{"activity_count": 0})
			complete(`{"type":"complete_workflow"}`).Expect(200)
		}
	})
}

// TestUnknownMembersOfAnAttempt are refused from protocol 1.19 on, by exact name, and ignored before.
func TestUnknownMembersOfAnAttempt(t *testing.T) {
	onEvery(t, func(on engine) {
		t := on.T
		p := serve(t, on.open())
		p.localWorker(t)
		run, complete := p.localTurn(t)
		odd := `{"type":"record_local_activity","activity_type":"greet","outcome":"completed","result":"AAAA","surprise":1,
		  "attempts":[{"attempt_number":"1","outcome":"completed","OUTCOME":"failed","heartbeats":[{"elapsed_ms":"7","details":[],"more":null}]}]}`
		for _, version := range []string{"1.19", "1.20"} {
			reply := complete(odd, handlertest.Deliberate(), handlertest.Header(handlertest.WorkerHeader, version)).Refused(422, "validation_failed")
			for _, member := range []string{"OUTCOME", "heartbeats.0.more"} {
				require.Contains(t, reply.Any("errors"), "commands.0.attempts.0."+member)
			}
		}
		p.activitiesOf(t, run, "").Expect(200).Is(map[string]any{"activity_count": 0})
		complete(odd, handlertest.Deliberate(), handlertest.Header(handlertest.WorkerHeader, "1.18")).Expect(200)
		p.activitiesOf(t, run, "").Expect(200).Is(map[string]any{"activities.0.status": "completed",
			"activities.0.last_heartbeat_at": "2026-01-02T03:04:05.007678Z"})
	})
}

func TestHeartbeatDetailsHaveALimit(t *testing.T) {
	onEvery(t, func(on engine) {
		t := on.T
		p := serve(t, on.open(), func(_ *handlers.Config, o *runtime.Options) {
			limits := rules.DefaultLimits()
			limits.PayloadBytes = 100
			o.Limits = &limits
		})
		p.localWorker(t)
		run, complete := p.localTurn(t)
		with := func(n int) string {
			return `{"type":"record_local_activity","activity_type":"greet","outcome":"completed","result":"AAAA","attempts":[{"attempt_number":1,
			  "outcome":"completed","heartbeats":[{"elapsed_ms":1,"details":{"x":"` + strings.Repeat("y", n) + `"}}]}]}`
		}
		complete(with(100)).Refused(422, "structural_limit_exceeded").Is(map[string]any{"limit_kind": "payload_size", "current_value": 108, "configured_limit": 100})
		p.activitiesOf(t, run, "").Expect(200).Is(map[string]any{"activity_count": 0})
		complete(with(92)).Expect(200)
	})
}

// TestALargeBatchIsRefusedWhole: 60 activities with 450 KB of arguments each break the default budget by what the
// contract keeps of them; nothing of them stays, and the claim takes a smaller batch.
func TestALargeBatchIsRefusedWhole(t *testing.T) {
	onEvery(t, func(on engine) {
		t := on.T
		p := serve(t, on.open())
		p.localWorker(t)
		run, complete := p.localTurn(t)
		batch := func(n int) string {
			one := `{"type":"schedule_activity","activity_type":"greet","arguments":"` + strings.Repeat("A", 450_000) + `"}`
			return one + strings.Repeat(","+one, n-1)
		}
		refused := complete(batch(60)).Refused(422, "structural_limit_exceeded").
			Is(map[string]any{"limit_kind": "completion_bytes", "configured_limit": 64 << 20, "outcome": "rejected", "recorded": false})
		require.Greater(t, refused.Int("current_value"), int64(60*450_000*2))
		require.Greater(t, refused.Int("current_value"), int64(64<<20))
		p.activitiesOf(t, run, "").Expect(200).Is(map[string]any{"activity_count": 0})
		stored, err := p.store.ReadRun(t.Context(), run)
		require.NoError(t, err)
		require.Equal(t, []int64{2, 0}, []int64{stored.LastHistorySequence, stored.OpenActivities})
		complete(batch(40)).Expect(200).Is(map[string]any{"recorded": true, "last_history_sequence": 42})
		p.activitiesOf(t, run, "").Expect(200).Is(map[string]any{"activity_count": 40})
	})
}
