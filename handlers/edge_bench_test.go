package handlers

import (
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"dwserver/handlers/handlertest"

	"github.com/stretchr/testify/require"
)

// discard is a response writer that keeps nothing.
type discard struct{ header http.Header }

func (d discard) Header() http.Header         { return d.header }
func (d discard) Write(b []byte) (int, error) { return len(b), nil }
func (d discard) WriteHeader(int)             {}

// BenchmarkEdge is what a request costs besides the engine: the checks, decoding, the reply.
func BenchmarkEdge(b *testing.B) {
	body := `{"lease_owner":"w","workflow_task_attempt":2,"commands":[` + strings.Repeat(
		`{"type":"schedule_activity","activity_type":"charge","arguments":{"codec":"avro","blob":"`+strings.Repeat("wwHioz3/", 20)+`"}},`, 20) +
		`{"type":"complete_workflow"}]}`
	for name, tc := range map[string]struct{ path, body, encoding string }{
		"heartbeat":           {"/api/worker/heartbeat", `{"worker_id":"w"}`, ""},
		"heartbeat gzip":      {"/api/worker/heartbeat", `{"worker_id":"w"}`, "gzip, deflate"},
		"completion":          {"/api/worker/workflow-tasks/T/complete", body, ""},
		"activity completion": {"/api/worker/activity-tasks/T/complete", `{"activity_attempt_id":"A","lease_owner":"w","result":{"codec":"avro","blob":"wwHioz3/"}}`, "gzip"},
	} {
		b.Run(name, func(b *testing.B) {
			s, err := newServer(Options{Config: Config{AuthDriver: AuthToken, WorkerToken: "secret"}, Logger: slog.New(slog.DiscardHandler)})
			require.NoError(b, err)
			engine := &fakeEngine{}
			s.worker, s.namespaces.source = engine, engine
			e, err := s.routes()
			require.NoError(b, err)
			b.ReportAllocs()
			for b.Loop() {
				r := httptest.NewRequest(http.MethodPost, tc.path, strings.NewReader(tc.body))
				r.Header.Set("Content-Type", "application/json")
				r.Header.Set("Authorization", "Bearer secret")
				r.Header.Set(handlertest.WorkerHeader, "1.20")
				if tc.encoding != "" {
					r.Header.Set("Accept-Encoding", tc.encoding)
				}
				e.ServeHTTP(discard{http.Header{}}, r)
				engine.calls, engine.digests = nil, nil
			}
		})
	}
}
