package rules

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestValidCommands(t *testing.T) {
	w := newWorld(t)
	w.complete(scheduleActivity("a", retrying(1), func(c *WorkflowCommand) {
		c.StartToCloseTimeout, c.ScheduleToCloseTimeout = ptr[int64](5), ptr[int64](10)
		c.ScheduleToStartTimeout, c.HeartbeatTimeout = ptr[int64](10), ptr[int64](5)
		c.PayloadCodec, c.Arguments = ptr("avro"), []byte(`""`)
	}), startTimer(0), sideEffect(), versionMarker(func(c *WorkflowCommand) {
		c.Version, c.MinSupported, c.MaxSupported, c.PayloadCodec = ptr[int64](-1), ptr[int64](-1), ptr[int64](1), ptr("avro")
	}), conditionWait(strings.Repeat("ä", 255)), conditionWait("b", within(0)), signalWait("s", within(1)),
		completeWorkflow(func(c *WorkflowCommand) { c.Result = nil }))
	require.Equal(t, RunCompleted, w.run().Status)
	require.NotContains(t, w.event("WorkflowCompleted"), "output", "no result: both keys are absent")
	require.NotContains(t, w.event("WorkflowCompleted"), "payload_codec")
}

// Each row breaks one rule of 3.1 to 3.5 and is refused at its field.
func TestInvalidCommands(t *testing.T) {
	set := func(f func(*WorkflowCommand)) func(*WorkflowCommand) { return f }
	long := strings.Repeat("x", 256)
	for name, row := range map[string]struct {
		command WorkflowCommand
		field   string
	}{
		"unknown type": {WorkflowCommand{Type: "launch_rocket"}, "type"},
		"no type":      {WorkflowCommand{}, "type"},

		"activity without type": {WorkflowCommand{Type: "schedule_activity"}, "activity_type"},
		"blank activity type":   {scheduleActivity("  "), "activity_type"},
		"long activity type":    {scheduleActivity(long), "activity_type"},
		"long queue":            {scheduleActivity("a", set(func(c *WorkflowCommand) { c.Queue = &long })), "queue"},
		"zero timeout":          {scheduleActivity("a", set(func(c *WorkflowCommand) { c.StartToCloseTimeout = ptr[int64](0) })), "start_to_close_timeout"},
		"negative timeout":      {scheduleActivity("a", set(func(c *WorkflowCommand) { c.HeartbeatTimeout = ptr[int64](-1) })), "heartbeat_timeout"},
		"timeout past 32 bits":  {scheduleActivity("a", set(func(c *WorkflowCommand) { c.ScheduleToStartTimeout = ptr[int64](1 << 31) })), "schedule_to_start_timeout"},
		"close over total": {scheduleActivity("a", set(func(c *WorkflowCommand) {
			c.StartToCloseTimeout, c.ScheduleToCloseTimeout = ptr[int64](6), ptr[int64](5)
		})), "start_to_close_timeout"},
		"start over total": {scheduleActivity("a", set(func(c *WorkflowCommand) {
			c.ScheduleToStartTimeout, c.ScheduleToCloseTimeout = ptr[int64](6), ptr[int64](5)
		})), "schedule_to_start_timeout"},
		"heartbeat over close":    {scheduleActivity("a", set(func(c *WorkflowCommand) { c.HeartbeatTimeout, c.StartToCloseTimeout = ptr[int64](6), ptr[int64](5) })), "heartbeat_timeout"},
		"no attempts":             {scheduleActivity("a", retrying(0)), "retry_policy.max_attempts"},
		"negative backoff":        {scheduleActivity("a", retrying(2, 1, -1)), "retry_policy.backoff_seconds"},
		"blank error type":        {scheduleActivity("a", set(func(c *WorkflowCommand) { c.RetryPolicy = &RetryPolicy{NonRetryableErrorTypes: []string{""}} })), "retry_policy.non_retryable_error_types"},
		"foreign codec":           {scheduleActivity("a", set(func(c *WorkflowCommand) { c.PayloadCodec = ptr("json") })), "arguments"},
		"arguments not base64":    {scheduleActivity("a", set(func(c *WorkflowCommand) { c.Arguments = []byte(`"%%"`) })), "arguments"},
		"arguments loose base64":  {scheduleActivity("a", set(func(c *WorkflowCommand) { c.Arguments = []byte(`"AB=="`) })), "arguments"},
		"envelope codec":          {scheduleActivity("a", set(func(c *WorkflowCommand) { c.Arguments = []byte(`{"codec":"json","blob":"AA=="}`) })), "arguments"},
		"envelope without blob":   {scheduleActivity("a", set(func(c *WorkflowCommand) { c.Arguments = []byte(`{"codec":"avro"}`) })), "arguments"},
		"arguments a number":      {scheduleActivity("a", set(func(c *WorkflowCommand) { c.Arguments = []byte(`12`) })), "arguments"},
		"timer without delay":     {WorkflowCommand{Type: "start_timer"}, "delay_seconds"},
		"negative delay":          {startTimer(-1), "delay_seconds"},
		"delay past 32 bits":      {startTimer(1 << 31), "delay_seconds"},
		"side effect without":     {sideEffect(set(func(c *WorkflowCommand) { c.Result = nil })), "result"},
		"side effect empty":       {sideEffect(set(func(c *WorkflowCommand) { c.Result = []byte(`""`) })), "result"},
		"marker without id":       {versionMarker(set(func(c *WorkflowCommand) { c.ChangeID = ptr("") })), "change_id"},
		"marker without version":  {versionMarker(set(func(c *WorkflowCommand) { c.Version = nil })), "version"},
		"marker above its range":  {versionMarker(set(func(c *WorkflowCommand) { c.Version = ptr[int64](3) })), "version"},
		"marker below its range":  {versionMarker(set(func(c *WorkflowCommand) { c.Version = ptr[int64](0) })), "version"},
		"marker past 32 bits":     {versionMarker(set(func(c *WorkflowCommand) { c.MaxSupported = ptr[int64](1 << 31) })), "max_supported"},
		"short fingerprint":       {conditionWait("k", set(func(c *WorkflowCommand) { c.ConditionDefinitionFingerprint = ptr("sha256:ab") })), "condition_definition_fingerprint"},
		"negative wait":           {conditionWait("k", within(-1)), "timeout_seconds"},
		"long condition key":      {conditionWait(long), "condition_key"},
		"signal wait without":     {WorkflowCommand{Type: "open_signal_wait"}, "signal_name"},
		"failure without message": {failWorkflow(""), "message"},
		"exception a list":        {failWorkflow("m", set(func(c *WorkflowCommand) { c.Exception = []byte("[]") })), "exception"},
		"blank continued type":    {continueAsNew(set(func(c *WorkflowCommand) { c.WorkflowType = ptr(" ") })), "workflow_type"},
		"result codec":            {completeWorkflow(set(func(c *WorkflowCommand) { c.Result = []byte(`{"codec":"x","blob":"AA=="}`) })), "result"},
	} {
		t.Run(name, func(t *testing.T) {
			r := CheckCommands([]WorkflowCommand{sideEffect(), row.command}, 20, DefaultLimits())
			require.NotNil(t, r)
			require.Equal(t, "validation_failed", r.Reason)
			require.Contains(t, r.Errors, "commands.1."+row.field)
			require.Len(t, r.Errors, 1, "nothing else is wrong: %v", r.Errors)
		})
	}
}

// Scoped members are refused on every command that does not own them (3.1).
func TestOwnership(t *testing.T) {
	commands := map[string]WorkflowCommand{
		"schedule_activity": scheduleActivity("a"), "start_timer": startTimer(1), "record_side_effect": sideEffect(),
		"record_version_marker": versionMarker(), "open_condition_wait": conditionWait("k"),
		"open_signal_wait": signalWait("s"), "complete_workflow": completeWorkflow(), "fail_workflow": failWorkflow("m"),
		"continue_as_new": continueAsNew(),
	}
	members := map[string]struct {
		set  func(*WorkflowCommand)
		owns []string
	}{
		"retry_policy":              {func(c *WorkflowCommand) { c.RetryPolicy = &RetryPolicy{} }, []string{"schedule_activity"}},
		"start_to_close_timeout":    {func(c *WorkflowCommand) { c.StartToCloseTimeout = ptr[int64](1) }, []string{"schedule_activity"}},
		"schedule_to_close_timeout": {func(c *WorkflowCommand) { c.ScheduleToCloseTimeout = ptr[int64](1) }, []string{"schedule_activity"}},
		"schedule_to_start_timeout": {func(c *WorkflowCommand) { c.ScheduleToStartTimeout = ptr[int64](1) }, []string{"schedule_activity"}},
		"heartbeat_timeout":         {func(c *WorkflowCommand) { c.HeartbeatTimeout = ptr[int64](1) }, []string{"schedule_activity"}},
		"worker_session":            {func(c *WorkflowCommand) { c.WorkerSession = []byte("{}") }, []string{"schedule_activity"}},
		"execution_timeout_seconds": {func(c *WorkflowCommand) { c.ExecutionTimeoutSeconds = ptr[int64](1) }, nil},
		"run_timeout_seconds":       {func(c *WorkflowCommand) { c.RunTimeoutSeconds = ptr[int64](1) }, nil},
		"parent_close_policy":       {func(c *WorkflowCommand) { c.ParentClosePolicy = ptr("abandon") }, nil},
		"cancellation_policy":       {func(c *WorkflowCommand) { c.CancellationPolicy = ptr("abandon") }, nil},
		"timeout_kind":              {func(c *WorkflowCommand) { c.TimeoutKind = ptr("heartbeat") }, nil},
		"entries":                   {func(c *WorkflowCommand) { c.Entries = []byte(`""`) }, nil},
		"non_retryable":             {func(c *WorkflowCommand) { c.NonRetryable = ptr(false) }, []string{"fail_workflow"}},
		"exception":                 {func(c *WorkflowCommand) { c.Exception = []byte("{}") }, []string{"fail_workflow"}},
		"delay_seconds":             {func(c *WorkflowCommand) { c.DelaySeconds = ptr[int64](1) }, []string{"start_timer"}},
		"timeout_seconds":           {func(c *WorkflowCommand) { c.TimeoutSeconds = ptr[int64](1) }, []string{"open_condition_wait", "open_signal_wait"}},
		"payload_codec": {func(c *WorkflowCommand) { c.PayloadCodec = ptr("avro") },
			[]string{"complete_workflow", "schedule_activity", "continue_as_new", "record_side_effect", "record_version_marker"}},
		"parallel_group_id": {func(c *WorkflowCommand) { c.ParallelGroupID = ptr("parallel-activities:1:1") },
			[]string{"schedule_activity", "start_timer", "open_condition_wait", "open_signal_wait"}},
	}
	for member, m := range members {
		for name, command := range commands {
			m.set(&command)
			r := CheckCommands([]WorkflowCommand{command}, 20, DefaultLimits())
			if contains(m.owns, name) {
				if r != nil { // an owned member may still be incomplete, but not misplaced
					require.NotContains(t, r.Errors["commands.0."+member], "The "+member+" field is not allowed on "+name+".")
				}
				continue
			}
			require.NotNil(t, r, "%s on %s", member, name)
			require.Equal(t, []string{"The " + member + " field is not allowed on " + name + "."}, r.Errors["commands.0."+member])
		}
	}
}

func TestTerminalCommands(t *testing.T) {
	for name, commands := range map[string][]WorkflowCommand{
		"two":      {completeWorkflow(), failWorkflow("m")},
		"not last": {completeWorkflow(), sideEffect()},
	} {
		r := CheckCommands(commands, 20, DefaultLimits())
		require.NotNil(t, r, name)
		require.Equal(t, "invalid_commands", r.Reason, name)
	}
	require.Nil(t, CheckCommands([]WorkflowCommand{sideEffect(), completeWorkflow()}, 20, DefaultLimits()))
	require.Nil(t, CheckCommands(nil, 20, DefaultLimits()), "empty means nothing new")
}

func TestGates(t *testing.T) {
	occurrence := conditionWait("k", func(c *WorkflowCommand) { c.ConditionWaitOccurrenceID = ptr("o1") })
	session := scheduleActivity("a", func(c *WorkflowCommand) { c.WorkerSession = []byte(`{"session_id":"s"}`) })
	local := WorkflowCommand{Type: "record_local_activity"}
	able := &Worker{Capabilities: []byte(`["local_activities"]`), CapabilityManifest: []byte(`{"local_activities":{"supported":true}}`)}
	for name, row := range map[string]struct {
		command WorkflowCommand
		minor   int64
		owner   *Worker
		reason  string
		extras  Extras
	}{
		"occurrence id at 1.16":     {occurrence, 16, able, "condition_wait_occurrence_identity_unavailable", Extras{}},
		"occurrence id at 1.17":     {occurrence, 17, able, "", Extras{}},
		"session":                   {session, 20, able, "worker_sessions_unavailable", Extras{}},
		"local activity at 1.17":    {local, 17, able, "portable_worker_affinity_protocol_floor_unavailable", Extras{}},
		"local activity unlisted":   {local, 20, &Worker{CapabilityManifest: able.CapabilityManifest}, "worker_capability_not_supported", Extras{}},
		"local activity unmanifest": {local, 20, &Worker{Capabilities: able.Capabilities}, "worker_capability_not_supported", Extras{}},
		"local activity":            {local, 18, able, "", Extras{}},
		"streams":                   {sideEffect(), 20, able, "message_streams_unavailable", Extras{MessageStreams: true}},
		"sticky cache at 1.17":      {sideEffect(), 17, able, "portable_worker_affinity_protocol_floor_unavailable", Extras{StickyCache: true}},
		"sticky cache unregistered": {sideEffect(), 20, able, "worker_capability_not_supported", Extras{StickyCache: true}},
	} {
		r, err := CheckGates([]WorkflowCommand{sideEffect(), row.command}, row.extras, row.minor, row.owner)
		require.NoError(t, err, name)
		if row.reason == "" {
			require.Nil(t, r, name)
			continue
		}
		require.NotNil(t, r, name)
		require.Equal(t, row.reason, r.Reason, name)
		require.Contains(t, r.Fields, "requested_version", name)
		require.Contains(t, r.Fields, "minimum_protocol_version", name)
	}
}

// TestCheckGatesOfABrokenRegistration: what does not decode is a fault, not a feature that is missing.
func TestCheckGatesOfABrokenRegistration(t *testing.T) {
	cut := []byte(`["local_act`)
	for _, owner := range []*Worker{{Capabilities: cut}, {CapabilityManifest: cut}} {
		local := []WorkflowCommand{{Type: "record_local_activity"}}
		r, err := CheckGates(local, Extras{}, 18, owner)
		require.Nil(t, r)
		require.Error(t, err)
		_, err = CheckGates(nil, Extras{StickyCache: true}, 18, owner)
		require.Error(t, err)
		_, err = CheckGates([]WorkflowCommand{sideEffect()}, Extras{}, 18, owner)
		require.NoError(t, err, "nothing asks for it")
	}
}
