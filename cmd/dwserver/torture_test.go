package main

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dwserver/runtime/store/storetest/cluster"
)

const (
	tortureTime      = 15 * time.Second // DW_TORTURE=60 makes it so many seconds
	tortureTimeShort = 5 * time.Second
	tortureServers   = 3
	tortureWorkers   = 6
	tortureConns     = 6
	tortureStarters  = 3
	// tortureFinish bounds how long what was started may take to finish after the last kill.
	tortureFinish = 3 * time.Minute
)

// TestTorture lets three server processes and six worker processes work on one database, kills a server
// at random every second and starts it again, and crashes and restarts the database server meanwhile.
// (A SQLite file has one server process and no database server.) Afterwards everything finishes, all that
// was acknowledged is there once, dwserver check finds nothing, and no connection is left over.
func TestTorture(t *testing.T) {
	if os.Getenv("DW_TORTURE") == "" {
		t.Skip("make soak tortures; DW_TORTURE is its length in seconds")
	}
	cluster.Each(t, func(t *testing.T, engine string) {
		x := newTorture(t, engine)
		x.startServers(t)
		x.startWorkers(t)
		x.startLoad()
		x.torture(t)
		x.finish(t)
		x.stopWorkers(t)
		x.verify(t)
		x.checkDatabase(t)
		x.checkConnections(t)
		t.Logf("%s: %d workflows, %d kills of servers, %d of the database; %s", engine, len(x.starts), x.kills, x.crashes, x.ledger)
	})
}

// torture is one engine's test.
type torture struct {
	engine  string
	seed    uint64
	random  *rand.Rand // of the killer
	length  time.Duration
	own     *cluster.Server // nil on SQLite
	dbURL   string
	servers []*tortured
	workers []*tortureProcess
	client  *failover
	load    chan struct{} // closed when no more workflows are started
	loaded  chan struct{} // closed when the last start and signal were acknowledged
	mu      sync.Mutex
	starts  map[string]string // workflow id → run id
	signals map[string]string // workflow id → token of the signal sent to it
	ledger  *tortureLedger
	kills   int
	crashes int
}

func newTorture(t *testing.T, engine string) *torture {
	t.Helper()
	seed := crashSeed(t)
	x := &torture{engine: engine, seed: seed, random: rand.New(rand.NewPCG(seed, 1)), length: tortureLength(t),
		load: make(chan struct{}), loaded: make(chan struct{}), starts: map[string]string{}, signals: map[string]string{}}
	if engine == cluster.SQLite {
		x.dbURL = "sqlite://" + filepath.Join(t.TempDir(), "torture.db")
	} else {
		x.own = cluster.Own(t, engine)
		x.dbURL = x.own.URL(t)
	}
	t.Logf("seed %d, %s", seed, x.length)
	return x
}

func tortureLength(t *testing.T) time.Duration {
	t.Helper()
	if text := os.Getenv("DW_TORTURE"); text != "" {
		d, err := time.ParseDuration(text + "s")
		require.NoError(t, err, "DW_TORTURE is a number of seconds")
		return d
	}
	if testing.Short() {
		return tortureTimeShort
	}
	return tortureTime
}

// torture kills for as long as the test is to last.
func (x *torture) torture(t *testing.T) {
	t.Helper()
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	seconds := int(x.length / time.Second)
	for second := 1; second <= seconds; second++ {
		<-tick.C
		if x.own != nil && (second == seconds/3 || second == 2*seconds/3 || second%20 == 0) {
			x.crashDatabase(t)
			continue
		}
		x.kills++
		s := x.servers[x.random.IntN(len(x.servers))]
		s.kill(t)
		s.start(t)
	}
}

// crashDatabase ends the database server in the middle of its work and starts it again, sometimes late.
func (x *torture) crashDatabase(t *testing.T) {
	t.Helper()
	x.crashes++
	x.own.Crash()
	<-time.After(time.Duration(x.random.IntN(1500)) * time.Millisecond)
	require.NoError(t, x.own.Start())
}

// startLoad starts workflows, and sends each the signal it waits for, until the torture is over.
func (x *torture) startLoad() {
	var starters sync.WaitGroup
	for i := range tortureStarters {
		random := rand.New(rand.NewPCG(x.seed, uint64(10+i)))
		starters.Go(func() {
			for n := 0; ; n++ {
				select {
				case <-x.load:
					return
				case <-time.After(time.Duration(100+random.IntN(200)) * time.Millisecond):
				}
				x.startWorkflow(fmt.Sprintf("torture-%d-%d", i, n))
			}
		})
	}
	go func() {
		starters.Wait()
		close(x.loaded)
	}()
}

func (x *torture) startWorkflow(id string) {
	answer := x.client.post(context.Background(), "/workflows", map[string]any{
		"workflow_id": id, "workflow_type": "torture", "task_queue": "torture", "request_id": "start-" + id})
	var started struct {
		RunID string `json:"run_id"`
	}
	if err := answer.decode(&started); err != nil || answer.status > 201 {
		x.client.found("start of %s: %s", id, answer)
		return
	}
	x.note(x.starts, id, started.RunID)
	answer = x.client.post(context.Background(), "/workflows/"+id+"/signal/go",
		map[string]any{"input": []any{"go-" + id}, "request_id": "go-" + id})
	if answer.status != 202 {
		x.client.found("signal to %s: %s", id, answer)
		return
	}
	x.note(x.signals, id, "go-"+id)
}

func (x *torture) note(in map[string]string, id, value string) {
	x.mu.Lock()
	defer x.mu.Unlock()
	in[id] = value
}

// finish waits until every workflow that was started has ended.
func (x *torture) finish(t *testing.T) {
	t.Helper()
	close(x.load)
	select {
	case <-x.loaded:
	case <-time.After(tortureFinish):
		require.FailNow(t, "the last start is not answered", "%v\n%s", x.client.findings, x.dumps(t))
	}
	began := time.Now()
	defer func() { t.Logf("all had ended %s after the last kill", time.Since(began).Round(time.Millisecond)) }()
	deadline := began.Add(tortureFinish)
	for id := range x.starts {
		for !x.ended(t, id) {
			if time.Now().After(deadline) {
				x.explain(t, id)
			}
		}
	}
}

// ended waits a while for the end of a workflow's last run.
func (x *torture) ended(t *testing.T, id string) bool {
	t.Helper()
	described := x.describe(t, id)
	if described.RunNumber == 2 && described.Terminal {
		return true
	}
	answer := x.client.get(t.Context(), "/workflows/"+id+"/runs/"+described.RunID+"/history?wait_new_event=1&closed=1")
	return answer.status == 200 && x.describe(t, id).Terminal
}

type tortureDescription struct {
	RunID     string `json:"run_id"`
	RunNumber int    `json:"run_number"`
	Status    string `json:"status"`
	Terminal  bool   `json:"is_terminal"`
	Output    any    `json:"output"`
}

func (x *torture) describe(t *testing.T, id string) (d tortureDescription) {
	t.Helper()
	answer := x.client.get(t.Context(), "/workflows/"+id)
	require.Equal(t, 200, answer.status, "%s", answer)
	require.NoError(t, answer.decode(&d))
	return d
}

// explain fails the test with all there is to know about a workflow that does not end.
func (x *torture) explain(t *testing.T, id string) {
	t.Helper()
	d := x.describe(t, id)
	var text strings.Builder
	for _, e := range x.client.history(t, id, d.RunID) {
		payload, err := json.Marshal(e.Payload)
		require.NoError(t, err)
		fmt.Fprintf(&text, "%d %s %s\n", e.Sequence, e.Type, payload)
	}
	var out strings.Builder
	status := run(t.Context(), process{args: []string{"check", "--database-url", x.dbURL}, getenv: os.Getenv, stdout: &out, stderr: &out})
	require.FailNow(t, "a workflow does not end", "%s %+v\n%s\ncheck: %d\n%s", id, d, text.String(), status, out.String())
}

// checkDatabase runs dwserver check beside the running servers.
func (x *torture) checkDatabase(t *testing.T) {
	t.Helper()
	status, out, stderr := call(t, nil, "check", "--database-url", x.dbURL)
	assert.Equal(t, exitOK, status, "%s%s", out, stderr)
	t.Log(strings.TrimSpace(out))
}
