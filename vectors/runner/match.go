package runner

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strconv"
)

// absent stands for a member that is not there.
type absent struct{}

// match compares got with a pattern and keeps what the pattern saves. An object
// pattern names members that have to match; other members do not count. A list
// has to match element by element. An object whose members all start with `$`
// is a set of rules, see ruleSet.
func (s *scope) match(pattern, got any, at string) error {
	switch want := pattern.(type) {
	case map[string]any:
		if isRules(want) {
			return s.matchRules(want, got, at)
		}
		return s.matchObject(want, got, at)
	case []any:
		return s.matchList(want, got, at)
	case string:
		expanded, err := s.expandText(want)
		if err != nil {
			return fmt.Errorf("%s: %w", at, err)
		}
		return equal(expanded, got, at)
	}
	return equal(pattern, got, at)
}

func isRules(pattern map[string]any) bool {
	for name := range pattern {
		if name[0] != '$' {
			return false
		}
	}
	return len(pattern) > 0
}

func (s *scope) matchObject(want map[string]any, got any, at string) error {
	object, ok := got.(map[string]any)
	if !ok {
		return fmt.Errorf("%s: want an object, got %s", at, show(got))
	}
	for _, name := range savingFirst(want) {
		value, there := object[name]
		if !there {
			value = absent{}
		}
		if err := s.match(want[name], value, at+"."+name); err != nil {
			return err
		}
	}
	return nil
}

func (s *scope) matchList(want []any, got any, at string) error {
	list, ok := got.([]any)
	if !ok {
		return fmt.Errorf("%s: want a list, got %s", at, show(got))
	}
	if len(list) != len(want) {
		return fmt.Errorf("%s: want %d elements, got %d: %s", at, len(want), len(list), show(got))
	}
	for i := range want {
		if err := s.match(want[i], list[i], at+"."+strconv.Itoa(i)); err != nil {
			return err
		}
	}
	return nil
}

// matchRules applies every rule of a set.
func (s *scope) matchRules(rules map[string]any, got any, at string) error {
	_, missing := got.(absent)
	if want, ok := rules["$absent"]; ok {
		if want == true && !missing {
			return fmt.Errorf("%s: want it absent, got %s", at, show(got))
		}
		return nil
	}
	if _, alternatives := rules["$one_of"]; missing && !alternatives {
		return fmt.Errorf("%s: missing", at)
	}
	for _, name := range sortedNames(rules) {
		rule, known := ruleSet[name]
		if !known {
			return fmt.Errorf("%s: no rule %s", at, name)
		}
		if err := rule(s, rules[name], got, at); err != nil {
			return err
		}
	}
	return nil
}

func equal(want, got any, at string) error {
	if x, ok := number(want); ok {
		if y, also := number(got); also && x.Cmp(y) == 0 {
			return nil
		}
	} else if reflect.DeepEqual(want, got) {
		return nil
	}
	return fmt.Errorf("%s: want %s, got %s", at, show(want), show(got))
}

func show(value any) string {
	if _, missing := value.(absent); missing {
		return "nothing"
	}
	text, err := json.Marshal(value)
	if err != nil {
		return fmt.Sprint(value)
	}
	if len(text) > 400 {
		return string(text[:400]) + "…"
	}
	return string(text)
}

// savingFirst orders members so that what one saves can stand in another.
func savingFirst(pattern map[string]any) []string {
	names := sortedNames(pattern)
	slices.SortStableFunc(names, func(a, b string) int {
		return saveRank(pattern[a]) - saveRank(pattern[b])
	})
	return names
}

func saveRank(pattern any) int {
	if saves(pattern) {
		return 0
	}
	return 1
}

func saves(pattern any) bool {
	switch v := pattern.(type) {
	case map[string]any:
		if _, direct := v["$save"]; direct {
			return true
		}
		for _, inner := range v {
			if saves(inner) {
				return true
			}
		}
	case []any:
		return slices.ContainsFunc(v, saves)
	}
	return false
}

func sortedNames(m map[string]any) []string {
	names := make([]string, 0, len(m))
	for name := range m {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}
