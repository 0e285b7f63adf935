package runner

import (
	"context"
	"fmt"
	"net/http"
	"strings"
)

// player replays one vector.
type player struct {
	contract *contract
	client   *http.Client
	target   string
	tokens   Tokens
	set      *Set
	scope    *scope
	answers  map[string]*exchange
	pending  map[string]chan *exchange
}

// play returns nil when everything was seen as the vector says.
func (p *player) play(ctx context.Context, v *Vector) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel() // a failed check leaves no request behind
	for i, step := range v.Given {
		if err := p.given(ctx, step); err != nil {
			return fmt.Errorf("given %d: %w", i, err)
		}
	}
	for i, step := range v.When {
		if err := p.when(ctx, step); err != nil {
			return fmt.Errorf("when %d: %w", i, err)
		}
	}
	for i, check := range v.Then {
		if err := p.then(ctx, check); err != nil {
			return fmt.Errorf("then %d: %w", i, err)
		}
	}
	return p.rest(ctx)
}

// given makes state; every step has to succeed, or to answer the status it names.
func (p *player) given(ctx context.Context, step Step) error {
	if step.Use == "" {
		return p.step(ctx, step, true)
	}
	shared, known := p.set.Given[step.Use]
	if !known {
		return fmt.Errorf("no shared steps %q", step.Use)
	}
	if err := p.scope.use(shared.Defaults, step.With); err != nil {
		return fmt.Errorf("%s: %w", step.Use, err)
	}
	for i, inner := range shared.Steps {
		if err := p.given(ctx, inner); err != nil {
			return fmt.Errorf("%s %d: %w", step.Use, i, err)
		}
	}
	return nil
}

func (p *player) when(ctx context.Context, step Step) error {
	if step.Use != "" {
		return p.given(ctx, step)
	}
	return p.step(ctx, step, false)
}

func (p *player) step(ctx context.Context, step Step, mustSucceed bool) error {
	if step.Set != nil {
		return p.scope.use(nil, step.Set)
	}
	if step.Background {
		if step.As == "" {
			return fmt.Errorf("a background step needs a name")
		}
		done := make(chan *exchange, 1)
		p.pending[step.As] = done
		request := step.Request
		go func() { done <- p.exchange(ctx, request) }()
		return nil
	}
	x := p.exchange(ctx, step.Request)
	if step.As != "" {
		p.answers[step.As] = x
	}
	if x.err != nil {
		return x.err
	}
	if step.Status == 0 && mustSucceed && x.status >= http.StatusMultipleChoices {
		return fmt.Errorf("%s %s: status %d: %.600s", x.method, x.url, x.status, x.received)
	}
	return p.seen(x, step.Status, nil, step.Expect)
}

func (p *player) then(ctx context.Context, check Observation) error {
	if check.History != nil {
		return p.history(ctx, check.History)
	}
	if check.Of == "" {
		x := p.exchange(ctx, check.Request)
		if x.err != nil {
			return x.err
		}
		return p.seen(x, check.Status, check.Header, check.Expect)
	}
	x, err := p.answer(ctx, check.Of)
	if err != nil {
		return err
	}
	return p.seen(x, check.Status, check.Header, check.Expect)
}

// answer is the answer of a step, waited for when it ran in the background.
func (p *player) answer(ctx context.Context, name string) (*exchange, error) {
	if done, waiting := p.pending[name]; waiting {
		select {
		case p.answers[name] = <-done:
			delete(p.pending, name)
		case <-ctx.Done():
			return nil, fmt.Errorf("%s: %w", name, context.Cause(ctx))
		}
	}
	x, known := p.answers[name]
	if !known {
		return nil, fmt.Errorf("no step %q", name)
	}
	return x, x.err
}

// rest waits for background steps that no check asked for.
func (p *player) rest(ctx context.Context) error {
	for name := range p.pending {
		if _, err := p.answer(ctx, name); err != nil {
			return err
		}
	}
	return nil
}

func (p *player) seen(x *exchange, status int, header map[string]any, pattern any) error {
	where := x.method + " " + strings.TrimPrefix(x.url, p.target)
	if status != 0 && x.status != status {
		return fmt.Errorf("%s: want status %d, got %d: %.600s", where, status, x.status, x.received)
	}
	for name, want := range header {
		var got any = absent{}
		if x.answerHeader.Get(name) != "" {
			got = x.answerHeader.Get(name)
		}
		if err := p.scope.match(want, got, "header "+name); err != nil {
			return fmt.Errorf("%s: %w", where, err)
		}
	}
	if pattern == nil {
		return nil
	}
	if err := p.scope.match(pattern, x.body, "body"); err != nil {
		return fmt.Errorf("%s: %w; status %d: %.600s", where, err, x.status, x.received)
	}
	return nil
}
