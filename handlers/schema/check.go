package schema

import (
	"bytes"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"dwserver/handlers/jsondoc"
)

// check reports what is wrong with v, which sits at the end of the path. For an
// optional member null is the same as absent.
func (s *Schema) check(v jsondoc.Value, at *step, optional bool, found *Problems) {
	if v.Kind() == jsondoc.Null {
		if !optional && !s.nullable {
			found.field(at, "is required.")
		}
		return
	}
	if s.refused {
		found.field(at, "is not supported.")
		return
	}
	switch s.kind {
	case object:
		s.checkObject(v, at, found)
	case array:
		s.checkArray(v, at, found)
	case text:
		s.checkText(v, at, optional, found)
	case integer:
		s.checkInteger(v, at, found)
	case number:
		s.checkNumber(v, at, found)
	case boolean:
		if v.Kind() != jsondoc.True && v.Kind() != jsondoc.False {
			found.field(at, "must be true or false.")
		}
	case payload:
		checkPayload(v, at, found)
	}
	if s.anyOf != nil {
		s.checkAnyOf(v, at, found)
	}
}

func (s *Schema) checkObject(v jsondoc.Value, at *step, found *Problems) {
	if v.Kind() == jsondoc.Array && v.Empty() {
		v.ToObject()
	}
	if v.Kind() != jsondoc.Object {
		found.field(at, "must be an object.")
		return
	}
	m := s.members
	for _, name := range m.required {
		if member := v.Member(name); member.IsZero() {
			found.field(&step{parent: at, name: name}, "is required.")
		}
	}
	count := 0
	v.Each(func(_ int, name string, child jsondoc.Value) bool {
		count++
		here := step{parent: at, name: name}
		if known, ok := m.known[name]; ok {
			known.check(child, &here, !slices.Contains(m.required, name), found)
		} else if m.closed {
			found.field(&here, "is not allowed here.")
		} else if m.others != nil {
			m.others.check(child, &here, false, found)
		}
		return true
	})
	if count < m.min {
		found.field(at, "must have at least "+plural(m.min, "member")+".")
	}
	if m.max >= 0 && count > m.max {
		found.field(at, "must not have more than "+plural(m.max, "member")+".")
	}
}

func (s *Schema) checkArray(v jsondoc.Value, at *step, found *Problems) {
	if v.Kind() != jsondoc.Array {
		found.field(at, "must be a list.")
		return
	}
	var seen map[string]bool
	if s.list.unique {
		seen = map[string]bool{}
	}
	count := 0
	v.Each(func(i int, _ string, child jsondoc.Value) bool {
		count++
		here := step{parent: at, index: i}
		if s.items != nil {
			s.items.check(child, &here, false, found)
		}
		if seen != nil {
			raw := string(child.Raw())
			if seen[raw] {
				found.field(&here, "repeats an earlier element.")
			}
			seen[raw] = true
		}
		return true
	})
	if count < s.list.min {
		found.field(at, "must have at least "+plural(s.list.min, "element")+".")
	}
	if s.list.max >= 0 && count > s.list.max {
		found.field(at, "must not have more than "+plural(s.list.max, "element")+".")
	}
}

func (s *Schema) checkText(v jsondoc.Value, at *step, optional bool, found *Problems) {
	if v.Kind() != jsondoc.String {
		found.field(at, "must be a string.")
		return
	}
	value := v.Bytes()
	if s.text.trim {
		if trimmed := bytes.TrimSpace(value); len(trimmed) != len(value) {
			value = trimmed
			v.SetText(string(value))
		}
	}
	if len(value) == 0 && s.text.minRunes > 0 {
		if optional && s.text.trim {
			v.ToNull()
			return
		}
		if !optional {
			found.field(at, "is required.")
			return
		}
	}
	if rest := s.textProblem(value); rest != "" {
		found.field(at, rest)
	}
}

// textProblem says what is wrong with a string, "" when nothing is.
func (s *Schema) textProblem(value []byte) string {
	t := s.text
	switch {
	case s.enum != nil && !listed(s.enum, value):
		return "must be one of: " + strings.Join(s.enum, ", ") + "."
	case t.minRunes > 0 && utf8.RuneCount(value) < t.minRunes:
		return "must be at least " + plural(t.minRunes, "character") + " long."
	case t.maxRunes >= 0 && len(value) > t.maxRunes && utf8.RuneCount(value) > t.maxRunes:
		return "must not be longer than " + plural(t.maxRunes, "character") + "."
	case t.maxBytes >= 0 && len(value) > t.maxBytes:
		return "must not be longer than " + plural(t.maxBytes, "byte") + "."
	case t.id && !isID(value):
		return "must not start or end with blanks or contain control characters."
	case t.pattern != nil && !t.pattern.Match(value):
		return "has an invalid format."
	}
	if t.instant {
		if _, err := time.Parse(time.RFC3339, string(value)); err != nil {
			return "must be an RFC 3339 instant."
		}
	}
	return ""
}

func listed(enum []string, value []byte) bool {
	for _, one := range enum {
		if one == string(value) {
			return true
		}
	}
	return false
}

func (s *Schema) checkInteger(v jsondoc.Value, at *step, found *Problems) {
	isText := v.Kind() == jsondoc.String
	if !isText && v.Kind() != jsondoc.Number {
		found.field(at, "must be an integer.")
		return
	}
	literal := v.Text()
	if !wholeNumber(literal) {
		found.field(at, "must be an integer.")
		return
	}
	value, err := strconv.ParseInt(literal, 10, 64)
	if err != nil {
		if isText { // the number form is already an issue of the document
			found.field(at, "must fit in 64 bits.")
		}
		return
	}
	if isText {
		v.ToNumber()
	}
	if rest := s.integerProblem(value); rest != "" {
		found.field(at, rest)
	}
}

func (s *Schema) integerProblem(value int64) string {
	switch n := s.number; {
	case s.enum != nil && !slices.Contains(s.enum, strconv.FormatInt(value, 10)):
		return "must be one of: " + strings.Join(s.enum, ", ") + "."
	case n.minWhole != nil && value < *n.minWhole:
		return "must be at least " + strconv.FormatInt(*n.minWhole, 10) + "."
	case n.maxWhole != nil && value > *n.maxWhole:
		return "must not be greater than " + strconv.FormatInt(*n.maxWhole, 10) + "."
	}
	return ""
}

func (s *Schema) checkNumber(v jsondoc.Value, at *step, found *Problems) {
	if v.Kind() != jsondoc.Number {
		found.field(at, "must be a number.")
		return
	}
	value, err := strconv.ParseFloat(v.Text(), 64)
	if err != nil {
		return // already an issue of the document
	}
	if low := s.number.min; low != nil && value < *low {
		found.field(at, "must be at least "+strconv.FormatFloat(*low, 'g', -1, 64)+".")
	}
	if high := s.number.max; high != nil && value > *high {
		found.field(at, "must not be greater than "+strconv.FormatFloat(*high, 'g', -1, 64)+".")
	}
}

// checkAnyOf passes when one branch does; else it reports the problems of the
// branch with the value's own type, or of the last one.
func (s *Schema) checkAnyOf(v jsondoc.Value, at *step, found *Problems) {
	var best *Problems
	for _, branch := range s.anyOf {
		attempt := &Problems{}
		branch.check(v, at, false, attempt)
		if attempt.count == 0 {
			return
		}
		if best == nil || branch.sameType(v.Kind()) {
			best = attempt
		}
	}
	for path, messages := range best.Fields {
		for _, message := range messages {
			found.Add(path, message)
		}
	}
}

func (s *Schema) sameType(k jsondoc.Kind) bool {
	switch k {
	case jsondoc.Object:
		return s.kind == object || s.kind == payload
	case jsondoc.Array:
		return s.kind == array
	case jsondoc.String:
		return s.kind == text || s.kind == payload
	case jsondoc.Number:
		return s.kind == integer || s.kind == number
	}
	return s.kind == boolean
}

func wholeNumber(literal string) bool {
	digits := strings.TrimPrefix(literal, "-")
	for i := range len(digits) {
		if digits[i] < '0' || digits[i] > '9' {
			return false
		}
	}
	return digits != ""
}

func plural(n int, noun string) string {
	if n != 1 {
		noun += "s"
	}
	return strconv.Itoa(n) + " " + noun
}
