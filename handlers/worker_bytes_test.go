package handlers_test

import (
	"encoding/base64"
	"encoding/json"
	"strings"
	"testing"

	"dwserver/handlers"
	"dwserver/handlers/handlertest"
	"dwserver/runtime"

	"github.com/stretchr/testify/require"
)

// memberText is the JSON text at a path, exactly as it was sent.
func memberText(t *testing.T, text []byte, path string) string {
	t.Helper()
	at := json.RawMessage(text)
	for step := range strings.SplitSeq(path, ".") {
		if strings.HasPrefix(string(at), "[") {
			var list []json.RawMessage
			require.NoError(t, json.Unmarshal(at, &list))
			index := int(step[0] - '0')
			require.Less(t, index, len(list), path)
			at = list[index]
			continue
		}
		var members map[string]json.RawMessage
		require.NoError(t, json.Unmarshal(at, &members), path)
		at = members[step]
	}
	return string(at)
}

// frame is a payload of n bytes that no codec has to understand.
func frame(n int) string {
	data := append([]byte{0xc3, 0x01, 0xe2, 0xa3, 0x3d, 0xff, 0x55, 0x80, 0x22, 0x37}, make([]byte, n)...)
	return `{"codec":"avro","blob":"` + base64.StdEncoding.EncodeToString(data) + `"}`
}

// TestPayloadsPassUnchanged sends one payload through every field and finds the same bytes in every
// answer (field report R91).
func TestPayloadsPassUnchanged(t *testing.T) {
	onEvery(t, func(on engine) {
		t := on.T
		p := serve(t, on.open())
		p.register(t, nil)
		sent := string(payload(t, `[9007199254740993,-0.0,1e300,"<&>é😀\u2028",{"b":{},"a":[]},3.0]`))
		run := p.start(map[string]any{"workflow_id": "bytes", "input": json.RawMessage(sent)})
		task := p.poll(t, "workflow-tasks")
		require.Equal(t, sent, memberText(t, task.Body, "task.arguments"))
		id := task.Text("task.task_id")
		p.Post("/worker/workflow-tasks/"+id+"/complete", `{"lease_owner":"w","workflow_task_attempt":1,"commands":[
		  {"type":"record_side_effect","result":`+sent+`},{"type":"schedule_activity","activity_type":"greet","arguments":`+sent+`}]}`).Expect(200)
		activity := p.poll(t, "activity-tasks")
		require.Equal(t, sent, memberText(t, activity.Body, "task.arguments"))
		attempt := activity.Text("task.activity_attempt_id")
		p.Post("/worker/activity-tasks/"+activity.Text("task.task_id")+"/heartbeat",
			`{"activity_attempt_id":"`+attempt+`","lease_owner":"w","details":{"n":9007199254740993, "f":3.0,"list":[ ],"f":1e5}}`).Expect(200)
		p.Post("/worker/activity-tasks/"+activity.Text("task.task_id")+"/complete",
			`{"activity_attempt_id":"`+attempt+`","lease_owner":"w","result":`+sent+`}`).Expect(200)
		task = p.poll(t, "workflow-tasks")
		require.Equal(t, sent, memberText(t, task.Body, "task.history_events.2.payload.result"), "SideEffectRecorded")
		require.Equal(t, `{"n":9007199254740993, "f":3.0,"list":[ ],"f":1e5}`,
			memberText(t, task.Body, "task.history_events.5.payload.progress.details"), "ActivityHeartbeatRecorded")
		require.Equal(t, sent, memberText(t, task.Body, "task.history_events.6.payload.result"), "ActivityCompleted")
		p.Post("/worker/workflow-tasks/"+task.Text("task.task_id")+"/complete",
			`{"lease_owner":"w","workflow_task_attempt":1,"commands":[{"type":"complete_workflow","result":`+sent+`}]}`).Expect(200)
		shown := p.Get("/workflows/bytes").Expect(200)
		require.Equal(t, sent, raw(t, shown, "input_envelope"))
		require.Equal(t, sent, raw(t, shown, "output_envelope"))
		history := p.Get("/workflows/bytes/runs/" + run + "/history").Expect(200)
		require.Equal(t, sent, memberText(t, history.Body, "events.7.payload.output"))
	})
}

// TestSizesAroundTheLimits: up to the limit everything passes, beyond it the answer is typed and nothing
// was written (field report R85).
func TestSizesAroundTheLimits(t *testing.T) {
	onEvery(t, func(on engine) {
		t := on.T
		p := serve(t, on.open())
		p.register(t, nil)
		limit := int(p.engine.Options().Limits.PayloadBytes) - 10 // the frame's header
		complete := func(task *handlertest.Reply, size int) *handlertest.Reply {
			return p.Post("/worker/workflow-tasks/"+task.Text("task.task_id")+"/complete", `{"lease_owner":"w","workflow_task_attempt":1,
			  "commands":[{"type":"record_side_effect","result":`+frame(size)+`}]}`)
		}
		for _, size := range []int{65_535, 65_536, 1 << 20, limit} {
			run := p.start(map[string]any{})
			complete(p.poll(t, "workflow-tasks"), size).Expect(200).Is(map[string]any{"recorded": true, "run_id": run})
		}
		p.start(map[string]any{})
		task := p.poll(t, "workflow-tasks")
		complete(task, limit+1).Refused(422, "structural_limit_exceeded").Is(map[string]any{"limit_kind": "payload_size", "recorded": false})
		complete(task, 1).Expect(200).Is(map[string]any{"recorded": true}) // the claim is still good
	})
}

// TestLargeCompletions: completions may be larger than other bodies.
func TestLargeCompletions(t *testing.T) {
	onEvery(t, func(on engine) {
		t := on.T
		p := serve(t, on.open(), func(c *handlers.Config, _ *runtime.Options) { c.MaxRequestBytes, c.MaxCompletionBytes = 10_000, 50_000 })
		p.register(t, nil)
		p.start(map[string]any{})
		task := p.poll(t, "workflow-tasks")
		complete := func(n int) *handlertest.Reply {
			return p.Post("/worker/workflow-tasks/"+task.Text("task.task_id")+"/complete", `{"lease_owner":"w","workflow_task_attempt":1,
			  "commands":[{"type":"record_side_effect","result":`+frame(n)+`}]}`)
		}
		complete(60_000).Refused(413, "payload_too_large").Is(map[string]any{"limit": 50_000, "limit_kind": "workflow_task_completion_bytes"})
		complete(20_000).Expect(200)
		p.Post("/workflows", `{"workflow_type":"greeter","input":`+frame(20_000)+`}`).Refused(413, "payload_too_large").
			Is(map[string]any{"limit": 10_000, "limit_kind": "request_bytes"})
	})
}
