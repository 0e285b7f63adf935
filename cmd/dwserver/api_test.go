package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
)

// api is a client of both planes with nothing of an SDK in it.
type api struct {
	base string
	http *http.Client
}

func newAPI(base string) *api {
	return &api{base: base, http: &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 32}}}
}

// envelope is an answer's status and the members that are read here.
type envelope struct {
	status int
	body   []byte
	Reason string `json:"reason"`
}

func (e envelope) decode(into any) error { return json.Unmarshal(e.body, into) }

func (e envelope) String() string { return fmt.Sprintf("%d %s", e.status, e.body) }

// call sends a request and reads the whole answer. An error means that no whole answer came.
func (a *api) call(ctx context.Context, method, path string, body any) (envelope, error) {
	text, err := json.Marshal(body)
	if err != nil {
		return envelope{}, err
	}
	var reader io.Reader = http.NoBody
	if body != nil {
		reader = bytes.NewReader(text)
	}
	req, err := http.NewRequestWithContext(ctx, method, a.base+"/api"+path, reader)
	if err != nil {
		return envelope{}, err
	}
	req.Header.Set("Content-Type", "application/json")
	if strings.HasPrefix(path, "/worker/") {
		req.Header.Set("X-Durable-Workflow-Protocol-Version", "1.20")
	} else {
		req.Header.Set("X-Durable-Workflow-Control-Plane-Version", "2")
	}
	resp, err := a.http.Do(req)
	if err != nil {
		return envelope{}, err
	}
	defer resp.Body.Close()
	e := envelope{status: resp.StatusCode}
	if e.body, err = io.ReadAll(resp.Body); err != nil {
		return envelope{}, err
	}
	if err := json.Unmarshal(e.body, &e); err != nil {
		return envelope{}, fmt.Errorf("the answer is no JSON object: %w: %q", err, e.body)
	}
	return e, nil
}

// registration is a worker that runs one workflow type and one activity type, with an empty capability manifest.
func registration(worker, queue string) map[string]any {
	none := map[string]any{"supported": false, "minimum_protocol_version": "1.18"}
	return map[string]any{
		"worker_id": worker, "task_queue": queue, "runtime": "go",
		"supported_workflow_types": []string{"crash"}, "supported_activity_types": []string{"work"},
		"capability_manifest": map[string]any{"local_activities": none, "worker_sessions": none, "sticky_execution": none},
	}
}
