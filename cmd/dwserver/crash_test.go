package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const (
	crashRounds         = 100
	crashRoundsShort    = 10
	crashStartsPerRound = 4
)

// TestCrash kills the server at random moments under load, again and again, on one database. In the end
// every acknowledged start, signal and outcome is there, nothing is there twice, and every run finished.
//
// The moments follow a seed, which is logged; DW_TEST_CRASH_SEED repeats one. (The interleaving of the
// processes is the machine's, so a seed repeats the test, not the outcome.)
func TestCrash(t *testing.T) {
	seed := crashSeed(t)
	rounds := crashRounds
	if testing.Short() {
		rounds = crashRoundsShort
	}
	t.Logf("seed %d, %d rounds", seed, rounds)
	c := newCrash(t, seed)
	c.startLoad()
	for round := range rounds {
		c.round(t, round)
	}
	last := c.launch(t)
	c.url(t, last)
	c.gate.open()
	c.awaitAll(t)
	c.stopLoad()
	c.verify(t)
	t.Logf("%s", c.ledger.String())
	last.signal(t, os.Interrupt)
	assert.Zero(t, last.exit(t), last.output())
}

func crashSeed(t *testing.T) uint64 {
	t.Helper()
	text := os.Getenv("DW_TEST_CRASH_SEED")
	if text == "" {
		return uint64(time.Now().UnixNano())
	}
	seed, err := strconv.ParseUint(text, 10, 64)
	require.NoError(t, err)
	return seed
}

// crash is the state of the test that outlives the server processes.
type crash struct {
	seed    uint64
	random  *rand.Rand // of the killer
	db      string
	listen  string
	api     *api
	gate    *gate
	ledger  *ledger
	permits chan struct{}      // one for each workflow that may be started
	base    context.Context    // of the test
	stop    context.CancelFunc // ends polling; what was taken is still reported
	starts  sync.WaitGroup
	workers sync.WaitGroup
}

func newCrash(t *testing.T, seed uint64) *crash {
	t.Helper()
	c := &crash{base: t.Context(), seed: seed, random: rand.New(rand.NewPCG(seed, 0)), db: filepath.Join(t.TempDir(), "crash.db"),
		listen: freeAddress(t), gate: newGate(), ledger: newLedger(), permits: make(chan struct{}, crashRounds*crashStartsPerRound)}
	c.api = newAPI("http://" + c.listen)
	return c
}

// freeAddress is an address that stays the same over the restarts of a server.
func freeAddress(t *testing.T) string {
	t.Helper()
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	require.NoError(t, l.Close())
	return l.Addr().String()
}

// launch starts the server with short leases, so that what a lost task waits for is seconds.
func (c *crash) launch(t *testing.T) *instance {
	t.Helper()
	return launch(t, c.db, "DW_LISTEN="+c.listen, "DW_WORKFLOW_TASK_TIMEOUT=3", "DW_ACTIVITY_TASK_TIMEOUT=3")
}

// round starts the server, lets the load at it, and kills it: mostly while it serves, sometimes while it
// still starts and recovers.
func (c *crash) round(t *testing.T, n int) {
	t.Helper()
	p := c.launch(t)
	if n%10 == 9 {
		<-time.After(time.Duration(c.random.IntN(100)) * time.Millisecond)
		p.kill(t)
		return
	}
	c.url(t, p)
	c.gate.open()
	for range crashStartsPerRound {
		c.permits <- struct{}{}
	}
	<-time.After(time.Duration(50+c.random.IntN(500)) * time.Millisecond)
	c.gate.shut()
	p.kill(t)
}

// url waits until the server answers.
func (c *crash) url(t *testing.T, p *instance) {
	t.Helper()
	require.Equal(t, c.api.base, p.base(t))
	answer, err := c.api.call(t.Context(), http.MethodGet, "/ready", nil)
	require.NoError(t, err)
	require.Equal(t, http.StatusOK, answer.status, "%s", answer)
}

// startLoad begins to start workflows and to work on them.
func (c *crash) startLoad() {
	var ctx context.Context
	ctx, c.stop = context.WithCancel(c.base)
	for i := range 2 {
		l := c.loop(fmt.Sprintf("starter-%d", i), i+1)
		c.starts.Go(l.startWorkflows)
	}
	for i := range 4 {
		w, a := c.loop(fmt.Sprintf("workflows-%d", i), i+10), c.loop(fmt.Sprintf("activities-%d", i), i+20)
		c.workers.Go(func() { w.work(ctx, w.workflowTask) })
		c.workers.Go(func() { a.work(ctx, a.activityTask) })
	}
}

// awaitAll waits until every start was acknowledged and every run closed.
func (c *crash) awaitAll(t *testing.T) {
	t.Helper()
	close(c.permits)
	c.starts.Wait()
	for id, run := range c.ledger.runs() {
		require.True(t, c.awaitClosed(t, id, run), "run of %s did not finish", id)
	}
}

func (c *crash) awaitClosed(t *testing.T, id, run string) bool {
	t.Helper()
	for deadline := time.Now().Add(3 * time.Minute); time.Now().Before(deadline); {
		answer, err := c.api.call(t.Context(), http.MethodGet, "/workflows/"+id+"/runs/"+run+"/history?wait_new_event=1&closed=1", nil)
		require.NoError(t, err)
		require.Equal(t, http.StatusOK, answer.status, "%s", answer)
		var page historyPage
		require.NoError(t, answer.decode(&page))
		if len(page.Events) > 0 {
			return true
		}
	}
	return false
}

func (c *crash) stopLoad() {
	c.stop()
	c.workers.Wait()
}

// gate is open while a server may answer. Whoever met a dead one waits at it.
type gate struct {
	mu     sync.Mutex
	opened chan struct{} // closed while open
}

func newGate() *gate { return &gate{opened: make(chan struct{})} }

func (g *gate) open() {
	g.mu.Lock()
	defer g.mu.Unlock()
	close(g.opened)
}

func (g *gate) shut() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.opened = make(chan struct{})
}

// wait returns false when the load was told to stop.
func (g *gate) wait(ctx context.Context) bool {
	g.mu.Lock()
	opened := g.opened
	g.mu.Unlock()
	select {
	case <-opened:
		return true
	case <-ctx.Done():
		return false
	}
}
