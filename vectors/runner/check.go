package runner

import (
	"errors"
	"fmt"
)

// Check reports what cannot work in a set without replaying it: operations and
// shared steps that do not exist, answers that no step gives, shared steps that
// nothing uses.
func Check(set *Set) error {
	c, err := loadContract()
	if err != nil {
		return err
	}
	s := soundness{contract: c, set: set, used: map[string]bool{}}
	for name, given := range set.Given {
		s.steps("given/"+name, given.Steps)
	}
	for i := range set.Vectors {
		s.vector(&set.Vectors[i])
	}
	for name := range set.Given {
		if !s.used[name] {
			s.report("given/"+name, "nothing uses it")
		}
	}
	return errors.Join(s.found...)
}

type soundness struct {
	contract *contract
	set      *Set
	used     map[string]bool
	found    []error
}

func (s *soundness) report(where, format string, args ...any) {
	s.found = append(s.found, fmt.Errorf("%s: %s", where, fmt.Sprintf(format, args...)))
}

func (s *soundness) vector(v *Vector) {
	names := map[string]bool{}
	for _, steps := range [][]Step{v.Given, v.When} {
		s.steps(v.Name, steps)
		for _, step := range steps {
			if step.As != "" && names[step.As] {
				s.report(v.Name, "two steps are called %q", step.As)
			}
			names[step.As] = true
		}
	}
	for _, check := range v.Then {
		switch {
		case check.History != nil:
		case check.Of != "" && !names[check.Of]:
			s.report(v.Name, "no step is called %q", check.Of)
		case check.Of == "":
			s.request(v.Name, check.Request)
		}
	}
}

func (s *soundness) steps(where string, steps []Step) {
	for _, step := range steps {
		switch {
		case step.Set != nil:
		case step.Use == "":
			s.request(where, step.Request)
		default:
			s.used[step.Use] = true
			if _, known := s.set.Given[step.Use]; !known {
				s.report(where, "no shared steps %q", step.Use)
			}
		}
	}
}

func (s *soundness) request(where string, r Request) {
	op, known := s.contract.operations[r.Call]
	switch {
	case r.Call == "" && (r.Method == "" || r.Route == ""):
		s.report(where, "a request names a call, or a method and a route")
	case r.Call != "" && !known:
		s.report(where, "no operation %q", r.Call)
	case r.Call != "":
		if _, err := op.address(r.Path); err != nil {
			s.report(where, "%s: %v", r.Call, err)
		}
	}
}
