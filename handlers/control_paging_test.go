package handlers

import (
	"encoding/base64"
	"testing"

	"dwserver/gen/control"
	"dwserver/runtime"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestHistoryTokensAreTheDecimalSequence(t *testing.T) {
	assert.Equal(t, "MA==", historyToken(0))
	assert.Equal(t, "MTIz", historyToken(123))
	for token, want := range map[string]int64{
		"": 0, "MA==": 0, "MTIz": 123, "OTIyMzM3MjAzNjg1NDc3NTgwNw==": 9223372036854775807,
		"MTIz\n": 123, // as forgiving as the decoder
		"!!!":    0, "MTIz=": 0, "LTE=": 0, "KzE=": 0, "MS41": 0, "OTIyMzM3MjAzNjg1NDc3NTgwOA==": 0, "AAAA": 0,
	} {
		assert.Equal(t, want, readHistoryToken(token), token)
	}
}

func TestListTokensHoldPositionAndFilters(t *testing.T) {
	request := runtime.ListRequest{WorkflowType: "0", Status: "failed"}
	next, err := nextListToken(&request, runtime.ListPosition{StartedAt: 17, RunID: "01A"})
	require.NoError(t, err)
	again, err := listRequest("default", &control.ListWorkflowsParams{NextPageToken: next})
	require.NoError(t, err)
	assert.Equal(t, runtime.ListRequest{Namespace: "default", WorkflowType: "0", Status: "failed", PageSize: 50,
		After: runtime.ListPosition{StartedAt: 17, RunID: "01A"}}, again)

	last, err := nextListToken(&request, runtime.ListPosition{})
	require.NoError(t, err)
	assert.Nil(t, last)
}

func TestUnreadableListTokensMeanTheFirstPage(t *testing.T) {
	for _, text := range []string{"", "null", "[]", "{}", `{"t":0,"r":"x"}`, `{"t":-1}`, `{"t":1,"s":"odd"}`, `{"t":"1"}`, "50"} {
		token := base64.StdEncoding.EncodeToString([]byte(text))
		request, err := listRequest("default", &control.ListWorkflowsParams{NextPageToken: &token, Status: ptr("running")})
		require.NoError(t, err)
		assert.Equal(t, runtime.ListRequest{Namespace: "default", Status: "running", PageSize: 50}, request, text)
	}
	for _, token := range []string{"%%%", "x"} {
		_, ok := readListToken(token)
		assert.False(t, ok, token)
	}
}

func TestListFilters(t *testing.T) {
	for _, status := range []string{"running", "completed", "failed", "cancelled", "terminated"} {
		_, err := listRequest("default", &control.ListWorkflowsParams{Status: &status})
		require.NoError(t, err, status)
	}
	for _, status := range []string{"pending", "waiting", "RUNNING", "timed_out", "0"} {
		_, err := listRequest("default", &control.ListWorkflowsParams{Status: &status})
		var refused *runtime.Refusal
		require.ErrorAs(t, err, &refused, status)
		assert.Contains(t, refused.Errors, "status")
	}
	_, err := listRequest("default", &control.ListWorkflowsParams{Query: ptr("Tier = 'gold'")})
	require.Error(t, err, "a filter that is not applied must not be ignored")
}
