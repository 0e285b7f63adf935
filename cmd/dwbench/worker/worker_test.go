package worker_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"dwserver/cmd/dwbench/null"
	"dwserver/cmd/dwbench/program"
	"dwserver/cmd/dwbench/wire"
	"dwserver/cmd/dwbench/worker"
)

// lossy breaks the connection instead of answering some requests of workers, before or after they were
// carried out.
type lossy struct {
	next http.Handler
	one  int // in so many requests

	mu   sync.Mutex
	rand *rand.Rand
	lost int
}

func (l *lossy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if l.lose() {
		panic(http.ErrAbortHandler)
	}
	if l.lose() && strings.HasPrefix(r.URL.Path, "/api/worker/") {
		l.next.ServeHTTP(httptest.NewRecorder(), r)
		panic(http.ErrAbortHandler)
	}
	l.next.ServeHTTP(w, r)
}

func (l *lossy) lose() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.rand.IntN(l.one) > 0 {
		return false
	}
	l.lost++
	return true
}

func (l *lossy) lostSoFar() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.lost
}

// fleetOf runs workers in this process until the null server has closed n workflows, and returns their reports.
func fleetOf(t *testing.T, address string, n int, options ...worker.Options) []worker.Report {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	workers := make([]*worker.Worker, len(options))
	faults := make([]error, len(options))
	var wg sync.WaitGroup
	for i, opt := range options {
		opt.Address, opt.Queue, opt.ID = address, "q", fmt.Sprintf("w%d", i)
		workers[i] = worker.New(opt)
		require.NoError(t, workers[i].Register())
		wg.Go(func() { faults[i] = workers[i].Run(ctx) })
	}
	conn := wire.NewClient(address, "").Get()
	start(t, conn, options[0].Program, n)
	require.Eventually(t, func() bool {
		r, err := conn.GetDocument("/closed")
		return err == nil && string(r.Body) == fmt.Sprint(n)
	}, 20*time.Second, 5*time.Millisecond)
	stop()
	wg.Wait()
	var reports []worker.Report
	for i, w := range workers {
		require.NoError(t, faults[i])
		reports = append(reports, w.Report())
	}
	return reports
}

func start(t *testing.T, conn *wire.Conn, p program.Program, n int) {
	t.Helper()
	for i := range n {
		var o wire.Object
		o.Text("workflow_id", fmt.Sprint(i))
		o.Text("workflow_type", p.Kind)
		r, _, err := conn.Post("/workflows", o.Bytes())
		require.NoError(t, err)
		require.NoError(t, wire.Check("/workflows", r))
	}
}

func counts(reports []worker.Report, prefix string) (n int64) {
	for _, r := range reports {
		for name, count := range r.Counts {
			if strings.HasPrefix(name, prefix) {
				n += count
			}
		}
	}
	return n
}

func TestEveryModeClosesEveryWorkflow(t *testing.T) {
	programs := []program.Program{
		{Kind: program.Sequence, Steps: 4, Work: time.Millisecond},
		{Kind: program.Parallel, Steps: 7},
		{Kind: program.Local, Steps: 3, Work: time.Millisecond},
	}
	for _, p := range programs {
		for _, mode := range []worker.Mode{worker.Poll, worker.Carry, worker.Continue} {
			for _, slots := range []int{0, 1, 5} {
				t.Run(fmt.Sprintf("%s/%s/%d", p.Kind, mode, slots), func(t *testing.T) {
					t.Parallel()
					s := httptest.NewServer(null.New().Handler())
					t.Cleanup(s.Close)
					opt := worker.Options{Program: p, Mode: mode, Slots: slots}
					reports := fleetOf(t, strings.TrimPrefix(s.URL, "http://"), 20, opt, opt, opt)
					closed := int64(0)
					for _, r := range reports {
						closed += r.Closed
					}
					require.Equal(t, int64(20), closed)
					require.Equal(t, mode != worker.Poll, counts(reports, "carried_") > 0)
					require.Equal(t, mode == worker.Continue && p.Kind == program.Sequence, counts(reports, "continued") > 0)
				})
			}
		}
	}
}

func TestLostAnswersLoseNoWork(t *testing.T) {
	p := program.Program{Kind: program.Sequence, Steps: 5}
	for _, mode := range []worker.Mode{worker.Poll, worker.Carry, worker.Continue} {
		for _, slots := range []int{0, 3} {
			t.Run(fmt.Sprintf("%s/%d", mode, slots), func(t *testing.T) {
				t.Parallel()
				l := &lossy{next: null.New().Handler(), one: 12, rand: rand.New(rand.NewPCG(7, uint64(slots)))}
				s := httptest.NewServer(l)
				t.Cleanup(s.Close)
				opt := worker.Options{Program: p, Mode: mode, Slots: slots}
				reports := fleetOf(t, strings.TrimPrefix(s.URL, "http://"), 30, opt, opt)
				require.Positive(t, l.lostSoFar())
				require.Positive(t, counts(reports, "retries"))
			})
		}
	}
}

func TestUnexpectedAnswersEndTheWorker(t *testing.T) {
	for name, answer := range map[string]string{
		"refusal": "409 {}",
		"status":  `200 {"poll_status":"stale_worker_registration","task":null}`,
		"text":    "200 <html>",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if strings.HasSuffix(r.URL.Path, "/register") {
					return
				}
				code, body, _ := strings.Cut(answer, " ")
				if code == "409" {
					w.WriteHeader(http.StatusConflict)
				}
				_, _ = w.Write([]byte(body))
			}))
			t.Cleanup(s.Close)
			for _, slots := range []int{0, 1} {
				w := worker.New(worker.Options{Address: strings.TrimPrefix(s.URL, "http://"), Mode: worker.Poll, Slots: slots})
				require.NoError(t, w.Register())
				require.Error(t, w.Run(t.Context()))
			}
		})
	}
}
