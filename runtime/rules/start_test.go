package rules

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestStart(t *testing.T) {
	w := newWorld(t, func(s *StartSpec) {
		s.Run.ExecutionTimeout, s.Run.RunTimeout, s.Run.BusinessKey = 100, 50, "key"
		s.Input.Memo, s.Input.SearchAttributes, s.Input.DefinitionPrint = []byte(`{"m":1}`), []byte(`{"s":2}`), "print"
		s.Definition.Contract = []byte(`{"signals":["go"],"signal_contracts":[],"updates":null,"unknown":1}`)
	})
	accepted, started := w.event("StartAccepted"), w.event("WorkflowStarted")
	for _, p := range []map[string]any{accepted, started} {
		require.Equal(t, []any{"wf", w.run().RunID, "order", "order", "key"}, []any{p["workflow_instance_id"],
			p["workflow_run_id"], p["workflow_type"], p["workflow_class"], p["business_key"]})
	}
	require.Equal(t, "started_new", accepted["outcome"])
	require.Equal(t, accepted["workflow_command_id"], started["workflow_command_id"])
	require.Equal(t, []any{int64(100), int64(50), FormatTime(epoch + 100*second), FormatTime(epoch + 50*second), "print"},
		[]any{started["execution_timeout_seconds"], started["run_timeout_seconds"], started["execution_deadline_at"],
			started["run_deadline_at"], started["workflow_definition_fingerprint"]})
	require.Equal(t, []any{"go"}, started["declared_signals"])
	require.Equal(t, []any{}, started["declared_signal_contracts"])
	require.NotContains(t, started, "declared_updates")
	require.NotContains(t, started, "unknown")
	require.NotContains(t, started, "timestamp")
	for _, ev := range w.events[w.run().RunID] {
		require.NotContains(t, fields(t, ev.Payload), "sequence", "no authored sequence")
		require.NotEmpty(t, ev.WorkflowCommandID)
		require.Equal(t, "start", fields(t, ev.Payload)["command"].(map[string]any)["type"])
	}
	require.Equal(t, epoch+50*second, w.run().DeadlineAt)
	require.Equal(t, RunPending, w.run().Status)
	require.Equal(t, int64(1), w.cmds.where(func(*Command) bool { return true })[0].Sequence)
}

// Tasks of one fairness key line up behind each other, closer the heavier the key.
func TestFairOrder(t *testing.T) {
	require.Equal(t, int64(500), FairOrder(500, 0, 1), "an idle key starts now")
	require.Equal(t, 500+fairShare, FairOrder(500, 500, 1))
	require.Equal(t, 500+fairShare/10, FairOrder(500, 500, 10))
	require.Equal(t, 9*fairShare, FairOrder(9*fairShare, 500, 1), "never before its time")

	w := newWorld(t, func(s *StartSpec) { s.Run.FairnessKey, s.Run.FairnessWeight = "tenant", 2 })
	asked := 0
	task := w.claim()
	tr := w.begin()
	tr.LastFairOrder = func(queue, kind string) int64 { asked++; return w.now }
	leased := *task
	_, r := tr.CompleteWorkflowTask(&CompletionInput{Task: &leased,
		Commands: []WorkflowCommand{scheduleActivity("a", retrying(2, 3600)), scheduleActivity("b"), scheduleActivity("c")}})
	require.Nil(t, r)
	w.write(tr)
	for i := range int64(3) {
		require.Equal(t, w.now+(i+1)*fairShare/2, w.tasks.rows[w.activity(i+1).TaskID].OrderAt)
	}
	require.Equal(t, 1, asked, "one look-up a queue and kind")

	// A retry that is an hour away does not put the key's new work behind that hour.
	w.fail(1, ActivityFailureReport{Message: "m"})
	retry := w.tasks.rows[w.activity(1).TaskID]
	require.Equal(t, retry.AvailableAt, retry.OrderAt)
	require.Empty(t, retry.FairnessKey)
}

func TestCapabilities(t *testing.T) {
	yes := map[string]ManifestEntry{"local_activities": {Supported: true, MinimumProtocol: "1.18"}}
	no := map[string]ManifestEntry{"local_activities": {MinimumProtocol: "1.18"}}
	for name, row := range map[string]struct {
		capabilities []string
		manifest     map[string]ManifestEntry
		minor        int64
		reason       string
	}{
		"nothing":                {nil, nil, 0, ""},
		"both":                   {[]string{"local_activities"}, yes, 20, ""},
		"neither":                {nil, no, 20, ""},
		"flat only":              {[]string{"local_activities"}, no, 20, "worker_capability_manifest_mismatch"},
		"flat, manifest silent":  {[]string{"local_activities"}, map[string]ManifestEntry{}, 20, "worker_capability_manifest_mismatch"},
		"manifest only":          {nil, yes, 20, "worker_capability_manifest_mismatch"},
		"entry below the floor":  {nil, map[string]ManifestEntry{"sticky_execution": {MinimumProtocol: "1.17"}}, 20, "worker_capability_protocol_floor_mismatch"},
		"entry without a number": {nil, map[string]ManifestEntry{"sticky_execution": {MinimumProtocol: "new"}}, 20, "worker_capability_protocol_floor_mismatch"},
		"header below the floor": {[]string{"worker_sessions"}, nil, 17, "worker_capability_protocol_floor_mismatch"},
		"memo at 1.13":           {[]string{"memo_upserts"}, nil, 13, "workflow_metadata_capability_protocol_mismatch"},
		"memo at 1.14":           {[]string{"memo_upserts"}, nil, 14, ""},
		"typed at 1.15":          {[]string{"typed_search_attributes"}, nil, 15, "workflow_metadata_capability_protocol_mismatch"},
		"streams at 1.14":        {[]string{"message_streams"}, nil, 14, "message_streams_unavailable"},
		"others are kept":        {[]string{"gpu", "concurrent_slots"}, nil, 0, ""},
	} {
		r := CheckCapabilities(row.capabilities, row.manifest, row.minor)
		if row.reason == "" {
			require.Nil(t, r, name)
			continue
		}
		require.NotNil(t, r, name)
		require.Equal(t, row.reason, r.Reason, name)
		require.Equal(t, false, r.Fields["registered"], name)
		for _, member := range []string{"capability", "requested_version", "minimum_protocol_version"} {
			require.Contains(t, r.Fields, member, name)
		}
	}
}

func TestFreshness(t *testing.T) {
	w := Worker{WorkerID: "w", Status: WorkerActive, LastSeenAt: 100}
	require.True(t, w.Fresh(160, 60))
	require.False(t, w.Fresh(161, 60))
	require.True(t, w.Fresh(40, 60), "a clock that stepped back does not make workers stale")
	w.Status = WorkerDraining
	require.False(t, w.Fresh(100, 60))
	require.False(t, (&Worker{Status: WorkerActive, LastSeenAt: 100}).Fresh(100, 60), "no registration")
}
