package main

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"
	_ "github.com/jackc/pgx/v5/stdlib" // driver "pgx"
	"github.com/stretchr/testify/require"

	"dwserver/handlers/avro"
)

// failover is a client of several servers: it asks one after the other, with the same request, until one
// answers. Every request of the torture is safe to repeat.
type failover struct {
	mu       sync.Mutex
	random   *rand.Rand
	servers  []*api
	findings []string
	lost     int // requests that got no answer
	deferred int // 503s and 200s that say: not now
}

// capabilities are what every answer of the worker plane begins with.
var capabilities = regexp.MustCompile(`"server_capabilities":\{.*?\}\},"(error|message)`)

func newFailover(seed uint64, stream int) *failover {
	return &failover{random: rand.New(rand.NewPCG(seed, uint64(stream)))}
}

func (f *failover) add(base string) { f.servers = append(f.servers, newAPI(base)) }

// found notes something that must not happen.
func (f *failover) found(format string, args ...any) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.findings = append(f.findings, capabilities.ReplaceAllString(fmt.Sprintf(format, args...), ""))
}

func (f *failover) count(n *int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	*n++
}

func (f *failover) pick() *api {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.servers[f.random.IntN(len(f.servers))]
}

func (f *failover) post(ctx context.Context, path string, body any) envelope {
	return f.ask(ctx, http.MethodPost, path, body)
}

func (f *failover) get(ctx context.Context, path string) envelope {
	return f.ask(ctx, http.MethodGet, path, nil)
}

// ask asks until a server answers for good, or ctx ends; then the answer is empty.
func (f *failover) ask(ctx context.Context, method, path string, body any) envelope {
	for ctx.Err() == nil {
		began := time.Now()
		answer, err := f.call(ctx, method, path, body)
		switch {
		case err != nil && time.Since(began) > patience:
			f.found("%s %s: no answer in %s", method, path, patience)
		case err != nil:
			f.count(&f.lost)
		case f.again(path, answer):
			f.count(&f.deferred)
		default:
			return answer
		}
		<-time.After(20 * time.Millisecond)
	}
	return envelope{}
}

// patience is longer than any request of the torture takes: the database may be away for seconds, and what
// waits for it is answered within some more.
const patience = 45 * time.Second

func (f *failover) call(ctx context.Context, method, path string, body any) (envelope, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	return f.pick().call(ctx, method, path, body)
}

// again reports an answer that asks for a repeat. A server error that is not one of the contract's two is
// a finding.
func (f *failover) again(path string, answer envelope) bool {
	unsettled := slices.Contains([]string{"backend_unavailable", "backend_lock_pressure"}, answer.Reason)
	if answer.status < http.StatusInternalServerError {
		return unsettled
	}
	if answer.status != http.StatusServiceUnavailable || !unsettled {
		f.found("%s: %s", path, answer)
	}
	return true
}

// history reads all of a run's history.
func (f *failover) history(t *testing.T, id, run string) (events []historyEvent) {
	t.Helper()
	for token := ""; ; {
		answer := f.get(t.Context(), "/workflows/"+id+"/runs/"+run+"/history?page_size=50&next_page_token="+token)
		require.Equal(t, http.StatusOK, answer.status, "%s", answer)
		var page historyPage
		require.NoError(t, answer.decode(&page))
		events = append(events, page.Events...)
		if page.Next == nil {
			return events
		}
		token = *page.Next
	}
}

// textOf is the text in an envelope.
func textOf(envelope map[string]any) string {
	blob, _ := envelope["blob"].(string)
	var text string
	if json.Unmarshal(avro.PreviewBlob(blob), &text) != nil {
		return ""
	}
	return text
}

// mysqlDSN is a database URL as the driver wants it.
func mysqlDSN(t *testing.T, dbURL string) string {
	t.Helper()
	u, err := url.Parse(dbURL)
	require.NoError(t, err)
	cfg := mysql.NewConfig()
	cfg.Net, cfg.Addr, cfg.User, cfg.DBName = "tcp", u.Host, u.User.Username(), strings.TrimPrefix(u.Path, "/")
	cfg.Passwd, _ = u.User.Password()
	return cfg.FormatDSN()
}
