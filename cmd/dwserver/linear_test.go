package main

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dwserver/runtime/store/storetest/cluster"
)

// What happens to an activity as those see it who ask for it. An expiry is nobody's request: it happens
// some time after the lease's end and before the next claim is answered.
const (
	claimOp    = "claim"
	completeOp = "complete"
	expireOp   = "expire"
)

type activityOp struct {
	kind      string
	execution string
	attempt   int64
	recorded  bool // a completion's answer: recorded (now or before), or refused as stale
}

// activityState is an activity that nobody else knows of: how often it was claimed, and how it stands.
type activityState struct {
	attempt int64
	leased  bool
	done    bool
}

// activityModel is one activity as if everything happened one after the other.
var activityModel = porcupine.Model{
	Partition: func(history []porcupine.Operation) [][]porcupine.Operation {
		byExecution := map[string][]porcupine.Operation{}
		for _, op := range history {
			id := op.Input.(activityOp).execution
			byExecution[id] = append(byExecution[id], op)
		}
		var parts [][]porcupine.Operation
		for _, part := range byExecution {
			parts = append(parts, part)
		}
		return parts
	},
	Init: func() any { return activityState{} },
	Step: func(state, input, _ any) (bool, any) {
		s, op := state.(activityState), input.(activityOp)
		current := op.attempt == s.attempt
		switch op.kind {
		case claimOp:
			return !s.leased && !s.done && op.attempt == s.attempt+1, activityState{attempt: op.attempt, leased: true}
		case expireOp:
			return s.leased && current, activityState{attempt: s.attempt}
		}
		switch {
		case op.recorded: // a repeat of the recorded completion is answered the same
			return current && (s.leased || s.done), activityState{attempt: s.attempt, done: true}
		default:
			return !(current && (s.leased || s.done)), s
		}
	},
}

// The model refuses what must not be: otherwise the test below would prove nothing.
func TestActivityModel(t *testing.T) {
	at := func(call, end int64, kind string, attempt int64, recorded bool) porcupine.Operation {
		return porcupine.Operation{Call: call, Return: end, Input: activityOp{kind, "a", attempt, recorded}}
	}
	for name, c := range map[string]struct {
		legal bool
		ops   []porcupine.Operation
	}{
		"claimed and completed":         {true, []porcupine.Operation{at(0, 1, claimOp, 1, true), at(2, 3, completeOp, 1, true)}},
		"completed twice, side by side": {true, []porcupine.Operation{at(0, 1, claimOp, 1, true), at(2, 5, completeOp, 1, true), at(3, 4, completeOp, 1, true)}},
		"expired, claimed again":        {true, []porcupine.Operation{at(0, 1, claimOp, 1, true), at(2, 9, expireOp, 1, true), at(3, 8, claimOp, 2, true), at(4, 9, completeOp, 1, false)}},
		"late, but before the expiry":   {true, []porcupine.Operation{at(0, 1, claimOp, 1, true), at(2, 3, completeOp, 1, true)}},
		"claimed by two":                {false, []porcupine.Operation{at(0, 1, claimOp, 1, true), at(2, 3, claimOp, 1, true)}},
		"claimed while leased":          {false, []porcupine.Operation{at(0, 1, claimOp, 1, true), at(2, 3, claimOp, 2, true)}},
		"an attempt left out":           {false, []porcupine.Operation{at(0, 1, claimOp, 2, true)}},
		"claimed after its end":         {false, []porcupine.Operation{at(0, 1, claimOp, 1, true), at(2, 3, completeOp, 1, true), at(4, 5, claimOp, 2, true)}},
		"two attempts recorded": {false, []porcupine.Operation{at(0, 1, claimOp, 1, true), at(2, 3, expireOp, 1, true), at(4, 5, claimOp, 2, true),
			at(6, 7, completeOp, 1, true), at(6, 7, completeOp, 2, true)}},
		"refused though it was its own": {false, []porcupine.Operation{at(0, 1, claimOp, 1, true), at(2, 3, completeOp, 1, false)}},
	} {
		assert.Equal(t, c.legal, porcupine.CheckOperations(activityModel, c.ops), name)
	}
}

const (
	linearActivities = 60
	linearWorkers    = 16
	linearLease      = time.Second
)

// Claims, completions and expiries, asked for at two processes at once, are as if they had happened one
// after the other: workers dawdle past their leases, and report once or several times at once.
func TestClaimsAreLinearizable(t *testing.T) {
	cluster.Each(t, func(t *testing.T, engine string) {
		f := launchFleet(t, engine, 2, "DW_ACTIVITY_TASK_TIMEOUT="+linearLease.String())
		f.register(t, "scheduler")
		for i := range linearActivities / 10 {
			f.schedule(t, fmt.Sprintf("linear-%d", i), slices.Repeat([]any{activityCommand()}, 10)...)
		}
		seed := crashSeed(t)
		t.Logf("seed %d", seed)
		h := &opHistory{began: time.Now()}
		var group sync.WaitGroup
		for i := range linearWorkers {
			worker := fmt.Sprintf("linear-%d", i)
			f.register(t, worker)
			random := rand.New(rand.NewPCG(seed, uint64(i)))
			group.Go(func() { h.work(t, f, i, worker, random) })
		}
		group.Wait()
		h.expiries()
		require.Equal(t, linearActivities, h.done())
		require.Equal(t, porcupine.Ok, porcupine.CheckOperationsTimeout(activityModel, h.ops, time.Minute), "%v", h.ops)
		t.Logf("%d operations on %d activities, %d expiries", len(h.ops), linearActivities, h.expired)
		assert.NotZero(t, h.expired, "no lease ran out: the test showed less than it should")
	})
}

// opHistory is what happened, with the times between which it did.
type opHistory struct {
	began   time.Time
	mu      sync.Mutex
	ops     []porcupine.Operation
	expired int
}

func (h *opHistory) now() int64 { return time.Since(h.began).Microseconds() }

func (h *opHistory) add(client int, call int64, op activityOp) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.ops = append(h.ops, porcupine.Operation{ClientId: client, Input: op, Call: call, Return: h.now()})
}

// done is how many activities were completed.
func (h *opHistory) done() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	done := map[string]bool{}
	for _, op := range h.ops {
		if in := op.Input.(activityOp); in.kind == completeOp && in.recorded {
			done[in.execution] = true
		}
	}
	return len(done)
}

// work claims and completes until every activity is completed.
func (h *opHistory) work(t *testing.T, f *fleet, client int, worker string, random *rand.Rand) {
	for h.done() < linearActivities && !t.Failed() {
		call := h.now()
		c := f.claim(t, client, worker, 1)
		if c == nil {
			continue
		}
		h.add(client, call, activityOp{claimOp, c.Execution, c.Attempt, true})
		if random.IntN(4) == 0 {
			<-time.After(linearLease - 50*time.Millisecond + time.Duration(random.IntN(150))*time.Millisecond)
		}
		var reports sync.WaitGroup
		for i := range 1 + random.IntN(3) {
			reports.Go(func() { h.complete(t, f, client+i, c) })
		}
		reports.Wait()
	}
}

func (h *opHistory) complete(t *testing.T, f *fleet, server int, c *claim) {
	call := h.now()
	answer := f.complete(t, server, c, http.StatusOK, http.StatusConflict)
	h.add(linearWorkers+server, call, activityOp{completeOp, c.Execution, c.Attempt, answer.status == http.StatusOK})
}

// expiries adds what nobody asked for: an attempt that another followed had expired before.
func (h *opHistory) expiries() {
	claims := map[activityOp]porcupine.Operation{}
	for _, op := range h.ops {
		if in := op.Input.(activityOp); in.kind == claimOp {
			claims[in] = op
		}
	}
	for in, op := range claims {
		next, ok := claims[activityOp{claimOp, in.execution, in.attempt + 1, true}]
		if !ok {
			continue
		}
		h.expired++
		h.ops = append(h.ops, porcupine.Operation{
			ClientId: 1000 + h.expired, Input: activityOp{expireOp, in.execution, in.attempt, true},
			// Not before the lease's end: the claim was not granted earlier than it was asked for.
			Call: op.Call + linearLease.Microseconds(), Return: next.Return,
		})
	}
}
