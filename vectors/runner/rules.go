package runner

import (
	"encoding/json"
	"fmt"
	"math/big"
	"reflect"
	"regexp"
	"slices"
	"strconv"
)

type rule func(s *scope, argument, got any, at string) error

// ruleSet is filled at start, as some rules match recursively.
var ruleSet map[string]rule

func init() {
	ruleSet = map[string]rule{
		"$present":  func(*scope, any, any, string) error { return nil },
		"$save":     ruleSave,
		"$type":     ruleType,
		"$match":    ruleMatch,
		"$gte":      func(s *scope, a, got any, at string) error { return s.order(a, got, at, ">=") },
		"$lte":      func(s *scope, a, got any, at string) error { return s.order(a, got, at, "<=") },
		"$one_of":   ruleOneOf,
		"$not":      ruleNot,
		"$length":   ruleLength,
		"$each":     ruleEach,
		"$contains": ruleContains,
		"$only":     ruleOnly,
	}
}

func ruleSave(s *scope, argument, got any, _ string) error {
	s.set(fmt.Sprint(argument), got)
	return nil
}

func ruleType(_ *scope, argument, got any, at string) error {
	names := map[reflect.Kind]string{reflect.String: "string", reflect.Bool: "boolean", reflect.Slice: "list", reflect.Map: "object"}
	name := "null"
	if got != nil {
		name = names[reflect.TypeOf(got).Kind()]
	}
	if _, number := got.(json.Number); number {
		name = "number"
	}
	if name != argument {
		return fmt.Errorf("%s: want a %v, got %s", at, argument, show(got))
	}
	return nil
}

func ruleMatch(s *scope, argument, got any, at string) error {
	pattern, err := s.expandText(fmt.Sprint(argument))
	if err != nil {
		return err
	}
	text, ok := got.(string)
	if !ok {
		return fmt.Errorf("%s: want a text, got %s", at, show(got))
	}
	matched, err := regexp.MatchString(fmt.Sprint(pattern), text)
	if err == nil && !matched {
		err = fmt.Errorf("%s: %q does not match %q", at, text, pattern)
	}
	return err
}

func ruleOneOf(s *scope, argument, got any, at string) error {
	choices, _ := argument.([]any)
	if slices.ContainsFunc(choices, func(choice any) bool { return s.match(choice, got, at) == nil }) {
		return nil
	}
	return fmt.Errorf("%s: want one of %s, got %s", at, show(argument), show(got))
}

func ruleNot(s *scope, argument, got any, at string) error {
	if s.match(argument, got, at) == nil {
		return fmt.Errorf("%s: want anything but %s", at, show(got))
	}
	return nil
}

func ruleLength(_ *scope, argument, got any, at string) error {
	size := -1
	switch v := got.(type) {
	case []any:
		size = len(v)
	case map[string]any:
		size = len(v)
	case string:
		size = len(v)
	}
	return equal(argument, json.Number(strconv.Itoa(size)), at+" length")
}

func ruleEach(s *scope, argument, got any, at string) error {
	list, ok := got.([]any)
	if !ok {
		return fmt.Errorf("%s: want a list, got %s", at, show(got))
	}
	for i, item := range list {
		if err := s.match(argument, item, at+"."+strconv.Itoa(i)); err != nil {
			return err
		}
	}
	return nil
}

// ruleContains wants each pattern to match a later element than the one before.
func ruleContains(s *scope, argument, got any, at string) error {
	list, _ := got.([]any)
	wanted, _ := argument.([]any)
	next := 0
	for _, want := range wanted {
		for next < len(list) && s.match(want, list[next], at) != nil {
			next++
		}
		if next == len(list) {
			return fmt.Errorf("%s: no element in order matches %s in %s", at, show(want), show(got))
		}
		next++
	}
	return nil
}

// ruleOnly matches an object that has no other members.
func ruleOnly(s *scope, argument, got any, at string) error {
	if err := s.match(argument, got, at); err != nil {
		return err
	}
	want, _ := argument.(map[string]any)
	for name := range got.(map[string]any) {
		if _, named := want[name]; !named {
			return fmt.Errorf("%s.%s: not wanted", at, name)
		}
	}
	return nil
}

// order compares numbers as numbers and texts as texts.
func (s *scope) order(argument, got any, at, op string) error {
	if text, ok := argument.(string); ok {
		expanded, err := s.expandText(text)
		if err != nil {
			return err
		}
		argument = expanded
	}
	sign, err := compare(got, argument)
	if err != nil {
		return fmt.Errorf("%s: %w", at, err)
	}
	if (op == ">=" && sign < 0) || (op == "<=" && sign > 0) {
		return fmt.Errorf("%s: want %s %s, got %s", at, op, show(argument), show(got))
	}
	return nil
}

func compare(a, b any) (int, error) {
	x, isNumber := number(a)
	y, alsoNumber := number(b)
	if isNumber && alsoNumber {
		return x.Cmp(y), nil
	}
	left, isText := a.(string)
	right, alsoText := b.(string)
	if !isText || !alsoText {
		return 0, fmt.Errorf("cannot order %s and %s", show(a), show(b))
	}
	switch {
	case left < right:
		return -1, nil
	case left > right:
		return 1, nil
	}
	return 0, nil
}

func number(value any) (*big.Rat, bool) {
	digits, ok := value.(json.Number)
	if !ok {
		return nil, false
	}
	return new(big.Rat).SetString(digits.String())
}
