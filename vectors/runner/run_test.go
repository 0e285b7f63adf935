package runner

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"
)

// answerer serves cluster info and everything else as the test says.
func answerer(t *testing.T, health func(w http.ResponseWriter)) *httptest.Server {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set(controlVersionHeader, "2")
		if r.URL.Path == "/api/cluster/info" {
			body, err := os.ReadFile("testdata/cluster-info.json")
			if err != nil {
				http.Error(w, err.Error(), http.StatusInternalServerError)
				return
			}
			_, _ = w.Write(body)
			return
		}
		health(w)
	}))
	t.Cleanup(server.Close)
	return server
}

func serving(status int, body string) func(http.ResponseWriter) {
	return func(w http.ResponseWriter) {
		w.WriteHeader(status)
		fmt.Fprint(w, body)
	}
}

const healthy = `{"status":"serving","timestamp":"2026-08-22T02:43:33.000000Z","checks":{"database":"ok"}}`

func replay(t *testing.T, vector string, health func(http.ResponseWriter), tokens Tokens) Result {
	t.Helper()
	set, err := Load(fstest.MapFS{
		"payloads.json":     {Data: []byte(`{}`)},
		"cases/health.json": {Data: []byte(vector)},
	})
	require.NoError(t, err)
	report, err := Run(t.Context(), set, Options{Target: answerer(t, health).URL, Tokens: tokens})
	require.NoError(t, err)
	require.Len(t, report.Results, 1)
	return report.Results[0]
}

const healthVector = `{"about":"a","when":[{"as":"h","call":"getHealth"}],
"then":[{"of":"h","status":200,"header":{"X-Durable-Workflow-Control-Plane-Version":"2"},"expect":{"status":"serving"}}]}`

func TestAGoodAnswerPasses(t *testing.T) {
	result := replay(t, healthVector, serving(200, healthy), Tokens{})
	require.Equal(t, Passed, result.Outcome, result.Detail)
	require.Equal(t, "health", result.Name)
}

func TestWrongAnswersFail(t *testing.T) {
	for what, answer := range map[string]func(http.ResponseWriter){
		"status":    serving(503, healthy),
		"body":      serving(200, `{"status":"degraded","timestamp":"2026-08-22T02:43:33.000000Z","checks":{"database":"ok"}}`),
		"schema":    serving(200, `{"status":"serving","timestamp":"yesterday","checks":{"database":"ok"}}`),
		"no member": serving(200, `{"status":"serving"}`),
		"no JSON":   serving(200, `serving`),
		"unlisted":  serving(418, healthy),
		"header": func(w http.ResponseWriter) {
			w.Header().Del(controlVersionHeader)
			fmt.Fprint(w, healthy)
		},
	} {
		result := replay(t, healthVector, answer, Tokens{})
		require.Equal(t, Failed, result.Outcome, what)
		require.NotEmpty(t, result.Detail, what)
	}
}

func TestBackgroundAnswersAreWaitedFor(t *testing.T) {
	const vector = `{"about":"a","when":[{"as":"h","background":true,"call":"getHealth"}],
"then":[{"of":"h","status":200,"expect":{"status":"degraded"}}]}`
	result := replay(t, vector, serving(200, healthy), Tokens{})
	require.Equal(t, Failed, result.Outcome)
	require.Contains(t, result.Detail, "degraded")
}

func TestUnmetNeedsAreSkipped(t *testing.T) {
	for _, needs := range []string{`"needs":{"limits":{"max_request_bytes":1}},`, `"roles":true,`} {
		vector := `{` + needs + healthVector[1:]
		result := replay(t, vector, serving(200, healthy), Tokens{Any: "t"})
		require.Equal(t, Skipped, result.Outcome)
		require.NotEmpty(t, result.Detail)
	}
	result := replay(t, `{"needs":{"limits":{"max_request_bytes":4194304}},`+healthVector[1:], serving(200, healthy), Tokens{})
	require.Equal(t, Passed, result.Outcome, result.Detail)
}

func TestVectorsAreReadStrictly(t *testing.T) {
	for _, bad := range []string{
		`{"about":"a","when":[{"call":"getHealth"}],"then":[{"of":"h","expects":{}}]}`,
		`{"about":"a","when":[{"call":"getHealth"}]}`,
		`{"when":[{"call":"getHealth"}],"then":[{"of":"h"}]}`,
		`{"about":"a"} {}`,
	} {
		_, err := Load(fstest.MapFS{"payloads.json": {Data: []byte(`{}`)}, "cases/x.json": {Data: []byte(bad)}})
		require.Error(t, err, bad)
	}
}

func TestUnsoundVectorsAreReported(t *testing.T) {
	for vector, want := range map[string]string{
		`{"about":"a","when":[{"call":"getWealth"}],"then":[{"call":"getHealth"}]}`:                              `no operation "getWealth"`,
		`{"about":"a","when":[{"as":"a","call":"getHealth"}],"then":[{"of":"b"}]}`:                               `no step is called "b"`,
		`{"about":"a","given":[{"use":"x"}],"when":[{"call":"getHealth"}],"then":[{"call":"getHealth"}]}`:        `no shared steps "x"`,
		`{"about":"a","when":[{"call":"describeWorkflow"}],"then":[{"call":"getHealth"}]}`:                       `an id is missing`,
		`{"about":"a","when":[{"as":"a","call":"getHealth"},{"as":"a","call":"getHealth"}],"then":[{"of":"a"}]}`: `two steps are called "a"`,
	} {
		set, err := Load(fstest.MapFS{"payloads.json": {Data: []byte(`{}`)}, "cases/x.json": {Data: []byte(vector)}})
		require.NoError(t, err, vector)
		require.ErrorContains(t, Check(set), want)
	}
}

func TestTokensByRole(t *testing.T) {
	tokens := Tokens{Any: "any", Worker: "w"}
	require.Equal(t, "w", tokens.of("worker"))
	require.Equal(t, "any", tokens.of("operator"))
	require.Empty(t, tokens.of("none"))
	require.False(t, tokens.separate())
	require.True(t, Tokens{Worker: "w", Operator: "o"}.separate())
}

func TestNoServerIsAnError(t *testing.T) {
	_, err := Run(t.Context(), &Set{}, Options{Target: "http://127.0.0.1:1"})
	require.ErrorContains(t, err, "cluster info")
}
