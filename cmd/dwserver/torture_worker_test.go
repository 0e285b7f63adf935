package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// tortureEnv holds the orders of a worker process: it is this test program again.
const tortureEnv = "TORTURE_WORKER"

type tortureOrders struct {
	Name    string   `json:"name"`
	Seed    uint64   `json:"seed"`
	Stream  int      `json:"stream"`
	Servers []string `json:"servers"`
	Ledger  string   `json:"ledger"` // file for what was acknowledged
	Carry   bool     `json:"carry"`  // whether its workers carry polls and continue runs
}

// tortureProcess is a running worker process.
type tortureProcess struct {
	cmd    *exec.Cmd
	stdin  io.Closer // closed: finish what is in hand, and end
	ledger string
}

// startWorkers starts the worker processes; every second one carries polls.
func (x *torture) startWorkers(t *testing.T) {
	t.Helper()
	program, err := os.Executable()
	require.NoError(t, err)
	dir := t.TempDir()
	for i := range tortureWorkers {
		o := tortureOrders{Name: fmt.Sprintf("worker-%d", i), Seed: x.seed, Stream: 100 * (i + 1), Carry: i%2 == 1,
			Ledger: fmt.Sprintf("%s/%d.ledger", dir, i)}
		for _, s := range x.servers {
			o.Servers = append(o.Servers, "http://"+s.listen)
		}
		text, err := json.Marshal(o)
		require.NoError(t, err)
		cmd := exec.CommandContext(t.Context(), program)
		cmd.Env = append(cleanEnv(), tortureEnv+"="+string(text))
		cmd.Stderr = os.Stderr
		stdin, err := cmd.StdinPipe()
		require.NoError(t, err)
		require.NoError(t, cmd.Start())
		x.workers = append(x.workers, &tortureProcess{cmd: cmd, stdin: stdin, ledger: o.Ledger})
	}
}

// stopWorkers lets the worker processes finish and reads what they were told.
func (x *torture) stopWorkers(t *testing.T) {
	t.Helper()
	x.ledger = newTortureLedger()
	for _, w := range x.workers {
		require.NoError(t, w.stdin.Close())
	}
	for _, w := range x.workers {
		require.NoError(t, w.cmd.Wait())
		require.NoError(t, x.ledger.read(w.ledger))
	}
}

// runTortureWorker is the main function of a worker process.
func runTortureWorker(text string) error {
	var o tortureOrders
	if err := json.Unmarshal([]byte(text), &o); err != nil {
		return err
	}
	file, err := os.OpenFile(o.Ledger, os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	w := &tortureWorker{orders: o, client: newFailover(o.Seed, o.Stream), out: json.NewEncoder(file)}
	for _, base := range o.Servers {
		w.client.add(base)
	}
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin) // its end, however it comes, is the signal
		stop()
	}()
	var group sync.WaitGroup
	for i := range 4 {
		l := w.loop(i)
		group.Go(func() { l.work(ctx) })
	}
	group.Wait()
	for _, finding := range w.client.findings {
		w.note(tortureEntry{Kind: tortureFinding, Key: o.Name + ": " + finding})
	}
	w.note(tortureEntry{Kind: tortureCount, Lost: w.client.lost, Deferred: w.client.deferred})
	return file.Close()
}

// tortureWorker is the state of a worker process.
type tortureWorker struct {
	orders tortureOrders
	client *failover
	mu     sync.Mutex
	out    *json.Encoder
}

func (w *tortureWorker) note(e tortureEntry) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if err := w.out.Encode(e); err != nil {
		panic(err) // the file is gone: this process can tell nobody anything
	}
}

// tortureLoop is one worker of a process: it does one thing at a time.
type tortureLoop struct {
	*tortureWorker
	id     string
	kinds  []string // what it polls for, in turn
	random *rand.Rand
	n      int
	hand   []*tortureTask         // tasks it holds
	known  map[string]*tortureRun // runs whose state it knows, by run id
}

func (w *tortureWorker) loop(i int) *tortureLoop {
	l := &tortureLoop{tortureWorker: w, id: fmt.Sprintf("%s-%d", w.orders.Name, i), known: map[string]*tortureRun{},
		random: rand.New(rand.NewPCG(w.orders.Seed, uint64(w.orders.Stream+i+1))), kinds: []string{"workflow", "activity"}}
	if !w.orders.Carry {
		l.kinds = l.kinds[i%2 : i%2+1]
	}
	return l
}

func (l *tortureLoop) oneIn(n int) bool { return l.random.IntN(n) == 0 }

func (l *tortureLoop) next(kind string) string {
	l.n++
	return fmt.Sprintf("%s-%s-%d", kind, l.id, l.n)
}

// work registers and takes tasks until it is told to stop; what it holds then is finished.
func (l *tortureLoop) work(ctx context.Context) {
	answer := l.client.post(ctx, "/worker/register", tortureRegistration(l.id))
	if answer.status != 201 && ctx.Err() == nil {
		l.client.found("register %s: %s", l.id, answer)
		return
	}
	for turn := 0; ctx.Err() == nil; turn++ {
		kind := l.kinds[turn%len(l.kinds)]
		l.take(kind, l.poll(ctx, kind, l.next("poll"), 1))
		for len(l.hand) > 0 {
			task := l.hand[0]
			l.hand = l.hand[1:]
			if l.oneIn(80) {
				continue // forgotten, as by a worker that crashed
			}
			l.do(ctx, task)
		}
	}
}

func tortureRegistration(worker string) map[string]any {
	r := registration(worker, "torture")
	r["supported_workflow_types"], r["capabilities"] = []string{"torture"}, []string{"local_activities"}
	r["capability_manifest"].(map[string]any)["local_activities"] = map[string]any{"supported": true, "minimum_protocol_version": "1.18"}
	return r
}

// poll asks under one poll_request_id until a server answers.
func (l *tortureLoop) poll(ctx context.Context, kind, id string, seconds int) *tortureTask {
	body := l.pollBody(id)
	body["timeout_seconds"] = seconds
	answer := l.client.post(ctx, "/worker/"+kind+"-tasks/poll", body)
	if answer.status != 200 {
		if ctx.Err() == nil {
			l.client.found("%s poll of %s: %s", kind, l.id, answer)
		}
		return nil
	}
	var got tortureAnswer
	if err := answer.decode(&got); err != nil {
		l.client.found("%s poll of %s: %v", kind, l.id, err)
	}
	return got.Task
}

func (l *tortureLoop) pollBody(id string) map[string]any {
	return map[string]any{"worker_id": l.id, "task_queue": "torture", "poll_request_id": id}
}

func (l *tortureLoop) take(kind string, task *tortureTask) {
	if task != nil {
		task.kind = kind
		l.hand = append(l.hand, task)
	}
}

type tortureAnswer struct {
	Task *tortureTask `json:"task"`
}

// tortureTask is a task of either kind.
type tortureTask struct {
	kind       string
	TaskID     string         `json:"task_id"`
	WorkflowID string         `json:"workflow_id"`
	RunID      string         `json:"run_id"`
	Attempt    int64          `json:"workflow_task_attempt"`
	Events     []historyEvent `json:"history_events"`
	NextPage   *string        `json:"next_history_page_token"`
	AttemptID  string         `json:"activity_attempt_id"`
}

// pause is how long a task takes.
func (l *tortureLoop) pause() { <-time.After(time.Duration(l.random.IntN(10)) * time.Millisecond) }
