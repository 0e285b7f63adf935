package handlers

import (
	"encoding/base64"
	"encoding/json"
	"strconv"

	"dwserver/runtime"
)

// listToken is where a page of runs ended and what it was filtered by: a page keeps its filters even
// when the caller does not repeat them. Clients treat it as opaque.
type listToken struct {
	StartedAt    int64  `json:"t"`
	RunID        string `json:"r"`
	WorkflowType string `json:"w,omitempty"`
	Status       string `json:"s,omitempty"`
}

func (t listToken) encode() (string, error) {
	text, err := json.Marshal(t)
	return base64.StdEncoding.EncodeToString(text), err
}

// readListToken reads a token; one that cannot be read stands for the first page (control-plane.md 12).
func readListToken(token string) (listToken, bool) {
	var t listToken
	text, err := base64.StdEncoding.DecodeString(token)
	if err != nil || json.Unmarshal(text, &t) != nil || t.StartedAt <= 0 || !listStatuses[t.Status] {
		return listToken{}, false
	}
	return t, true
}

// nextListToken is the token of the page after this one, nil on the last.
func nextListToken(request *runtime.ListRequest, next runtime.ListPosition) (*string, error) {
	if next == (runtime.ListPosition{}) {
		return nil, nil
	}
	token, err := listToken{next.StartedAt, next.RunID, request.WorkflowType, request.Status}.encode()
	return &token, err
}

// historyToken is base64 of the decimal sequence to read after (control-plane.md 3).
func historyToken(after int64) string {
	return base64.StdEncoding.EncodeToString(strconv.AppendInt(nil, after, 10))
}

// readHistoryToken reads a history token; one that cannot be read counts as absent.
func readHistoryToken(token string) int64 {
	text, err := base64.StdEncoding.DecodeString(token)
	if err != nil {
		return 0
	}
	after, err := strconv.ParseUint(string(text), 10, 63)
	if err != nil {
		return 0
	}
	return int64(after)
}
