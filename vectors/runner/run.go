package runner

import (
	"context"
	"crypto/rand"
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"sync"
	"time"
)

// Options say what to replay against which server.
type Options struct {
	Target   string         // base URL without /api
	Tokens   Tokens         // bearer tokens; all empty for a server without any
	Only     *regexp.Regexp // names of vectors; nil replays all
	Parallel int            // vectors at a time; 1 when zero
	Timeout  time.Duration  // for one vector; 90 s when zero
	Client   *http.Client   // nil uses one with enough connections
	Each     func(Result)   // called after each vector, one call at a time
}

// Tokens are the bearer tokens by role. An empty one is replaced by Any.
type Tokens struct{ Any, Worker, Operator, Admin string }

func (t Tokens) of(role string) string {
	token := map[string]string{"worker": t.Worker, "operator": t.Operator, "admin": t.Admin, "none": ""}[role]
	if token == "" && role != "none" {
		return t.Any
	}
	return token
}

func (t Tokens) separate() bool { return t.Worker != "" && t.Operator != "" && t.Worker != t.Operator }

// Outcome of one vector.
type Outcome string

const (
	Passed  Outcome = "passed"
	Failed  Outcome = "failed"
	Skipped Outcome = "skipped" // the server does not have what the vector needs
)

// Result of one vector. Detail says why it failed or was skipped.
type Result struct {
	Name    string        `json:"name"`
	Outcome Outcome       `json:"outcome"`
	Detail  string        `json:"detail,omitempty"`
	Took    time.Duration `json:"took_ns"`
}

// Report is the results in the order of the vectors' names.
type Report struct {
	Passed, Failed, Skipped int
	Results                 []Result
}

// Run replays the set. Vectors that fail are in the report; an error means that
// nothing could be replayed at all: no server, or no contract.
func Run(ctx context.Context, set *Set, o Options) (Report, error) {
	defaults(&o)
	c, err := loadContract()
	if err != nil {
		return Report{}, err
	}
	session := &session{options: o, contract: c, set: set, stamp: stamp()}
	if err := session.readInfo(ctx); err != nil {
		return Report{}, fmt.Errorf("%s: cluster info: %w", o.Target, err)
	}
	return session.run(ctx), nil
}

func defaults(o *Options) {
	o.Target = strings.TrimSuffix(o.Target, "/")
	if o.Parallel < 1 {
		o.Parallel = 1
	}
	if o.Timeout == 0 {
		o.Timeout = 90 * time.Second
	}
	if o.Client == nil {
		transport := http.DefaultTransport.(*http.Transport).Clone()
		transport.MaxIdleConnsPerHost = 4 * o.Parallel
		o.Client = &http.Client{Transport: transport}
	}
}

// stamp makes the names of one replay differ from those of any other.
func stamp() string {
	return strings.ToLower(rand.Text()[:10])
}

type session struct {
	options  Options
	contract *contract
	set      *Set
	stamp    string
	info     any // cluster info, for `needs`
}

func (s *session) player(name string) *player {
	return &player{contract: s.contract, client: s.options.Client, target: s.options.Target,
		tokens: s.options.Tokens, set: s.set, scope: newScope(name, s.set.Payloads),
		answers: map[string]*exchange{}, pending: map[string]chan *exchange{}}
}

func (s *session) readInfo(ctx context.Context) error {
	x := s.player("info").exchange(ctx, Request{Call: "getClusterInfo"})
	if x.err == nil && x.status != http.StatusOK {
		return fmt.Errorf("status %d: %.200s", x.status, x.received)
	}
	s.info = x.body
	return x.err
}

func (s *session) run(ctx context.Context) Report {
	vectors := s.selected()
	report := Report{Results: make([]Result, len(vectors))}
	var wait sync.WaitGroup
	var mu sync.Mutex
	slots := make(chan struct{}, s.options.Parallel)
	for i := range vectors {
		slots <- struct{}{}
		wait.Go(func() {
			defer func() { <-slots }()
			result := s.one(ctx, &vectors[i], i)
			mu.Lock()
			defer mu.Unlock()
			report.count(result.Outcome)
			report.Results[i] = result
			if s.options.Each != nil {
				s.options.Each(result)
			}
		})
	}
	wait.Wait()
	return report
}

func (s *session) selected() []Vector {
	if s.options.Only == nil {
		return s.set.Vectors
	}
	var out []Vector
	for _, v := range s.set.Vectors {
		if s.options.Only.MatchString(v.Name) {
			out = append(out, v)
		}
	}
	return out
}

func (s *session) one(ctx context.Context, v *Vector, index int) Result {
	result := Result{Name: v.Name, Outcome: Passed}
	if reason := s.unmet(v); reason != "" {
		result.Outcome, result.Detail = Skipped, reason
		return result
	}
	ctx, cancel := context.WithTimeout(ctx, s.options.Timeout)
	defer cancel()
	started := time.Now()
	err := s.player(fmt.Sprintf("%s-%d", s.stamp, index)).play(ctx, v)
	result.Took = time.Since(started)
	if err != nil {
		result.Outcome, result.Detail = Failed, err.Error()
	}
	return result
}

// unmet says what the server lacks for a vector, "" when nothing.
func (s *session) unmet(v *Vector) string {
	if v.Roles && !s.options.Tokens.separate() {
		return "needs tokens of separate roles"
	}
	if v.Needs == nil {
		return ""
	}
	pattern, err := parse(v.Needs)
	if err != nil {
		return err.Error()
	}
	if err := newScope("", nil).match(pattern, s.info, "cluster info"); err != nil {
		return "needs " + err.Error()
	}
	return ""
}

func (r *Report) count(outcome Outcome) {
	switch outcome {
	case Passed:
		r.Passed++
	case Failed:
		r.Failed++
	case Skipped:
		r.Skipped++
	}
}
