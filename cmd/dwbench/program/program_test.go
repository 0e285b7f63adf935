package program

import (
	"encoding/base64"
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"dwserver/handlers/avro"
)

func commands(t *testing.T, p Program, s State) (list []map[string]any, opens int, closes bool) {
	t.Helper()
	text, opens, closes := p.Commands(nil, s, time.Unix(1000, 900_000_000))
	require.NoError(t, json.Unmarshal(text, &list), string(text))
	return list, opens, closes
}

func TestSequence(t *testing.T) {
	p := Program{Kind: Sequence, Steps: 2}
	for resolved, want := range []string{"schedule_activity", "schedule_activity", "complete_workflow"} {
		list, opens, closes := commands(t, p, State{resolved, resolved})
		require.Len(t, list, 1)
		require.Equal(t, want, list[0]["type"])
		require.Equal(t, resolved == 2, closes)
		require.Equal(t, resolved < 2, opens == 1)
	}
	list, opens, closes := commands(t, p, State{Opened: 1})
	require.Empty(t, list)
	require.Zero(t, opens)
	require.False(t, closes)
}

func TestParallel(t *testing.T) {
	p := Program{Kind: Parallel, Steps: 3}
	list, opens, _ := commands(t, p, State{})
	require.Equal(t, 3, opens)
	require.Len(t, list, 3)
	require.Equal(t, "parallel-activities:1:3", list[2]["parallel_group_id"])
	require.EqualValues(t, 2, list[2]["parallel_group_index"])
	list, _, closes := commands(t, p, State{3, 3})
	require.Equal(t, "complete_workflow", list[0]["type"])
	require.True(t, closes)
}

func TestLocal(t *testing.T) {
	list, _, closes := commands(t, Program{Kind: Local, Steps: 5, Work: 20 * time.Millisecond}, State{})
	require.Len(t, list, 6)
	require.Equal(t, "record_local_activity", list[4]["type"])
	require.Equal(t, "complete_workflow", list[5]["type"])
	require.True(t, closes)
}

func TestTimerFiresInTheSecondBeforeItsTime(t *testing.T) {
	list, _, _ := commands(t, Program{Kind: Timer, Steps: 1, DueAt: 1010}, State{}) // at 1000.9
	require.EqualValues(t, 9, list[0]["delay_seconds"])                             // at 1009.9
	list, _, _ = commands(t, Program{Kind: Timer, Steps: 1, DueAt: 10}, State{})
	require.EqualValues(t, 0, list[0]["delay_seconds"])
}

func TestReplay(t *testing.T) {
	var r Replay
	require.NoError(t, r.Page([]byte(`[{"event_type":"WorkflowStarted","payload":{}},
		{"event_type":"SignalReceived","payload":{}},{"event_type":"SignalReceived","payload":{}},
		{"event_type":"SignalWaitOpened","payload":{}}]`)))
	p := Program{Kind: Signals, Steps: 3}
	require.Equal(t, State{1, 2}, r.State)
	require.False(t, p.Waiting(r.State))
	list, opens, _ := commands(t, p, r.State)
	require.Equal(t, "open_signal_wait", list[0]["type"])
	require.Equal(t, 1, opens)
	require.NoError(t, r.Page([]byte(`[{"event_type":"TimerScheduled","payload":{}},{"event_type":"TimerFired",
		"payload":{"fire_at":"2026-01-02T03:04:05.000006Z","fired_at":"2026-01-02T03:04:05.001006Z"}}]`)))
	require.Equal(t, time.Millisecond, r.Fired.Sub(r.FireAt))
	require.Error(t, r.Page([]byte(`[{]`)))
}

func TestPayloadsAreWhatTheServerWouldWrite(t *testing.T) {
	for text, envelope := range map[string]string{"[1]": Arguments, "1": Result} {
		frame, err := avro.EncodeJSON([]byte(text))
		require.NoError(t, err)
		var e struct{ Codec, Blob string }
		require.NoError(t, json.Unmarshal([]byte(envelope), &e))
		require.Equal(t, "avro", e.Codec)
		require.Equal(t, base64.StdEncoding.EncodeToString(frame), e.Blob, text)
	}
}
