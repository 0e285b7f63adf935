package runner

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
)

// scope holds the variables of one vector. `{{name}}` is a variable,
// `{{new.x}}` a text that is unique to this replay and the same wherever it
// stands in it, `{{payload.x}}` a shared payload envelope.
type scope struct {
	mu       sync.Mutex
	vars     map[string]any
	stamp    string
	payloads map[string]Payload
}

func newScope(stamp string, payloads map[string]Payload) *scope {
	s := &scope{vars: map[string]any{}, stamp: stamp, payloads: payloads}
	for _, name := range []string{"worker", "queue", "workflow"} {
		s.vars[name] = "v-" + stamp + "-" + name
	}
	return s
}

func (s *scope) set(name string, value any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.vars[name] = value
}

// use enters shared steps: their defaults fill what is not set, and `with` wins.
func (s *scope) use(defaults, with map[string]any) error {
	for name, value := range with {
		expanded, err := s.expand(value)
		if err != nil {
			return err
		}
		s.set(name, expanded)
	}
	for name, value := range defaults {
		if _, err := s.lookup(name); err == nil {
			continue
		}
		expanded, err := s.expand(value)
		if err != nil {
			return err
		}
		s.set(name, expanded)
	}
	return nil
}

func (s *scope) lookup(name string) (any, error) {
	if short, ok := strings.CutPrefix(name, "new."); ok {
		return "v-" + s.stamp + "-" + short, nil
	}
	if short, ok := strings.CutPrefix(name, "payload."); ok {
		payload, known := s.payloads[short]
		if !known {
			return nil, fmt.Errorf("no payload %q", short)
		}
		return map[string]any{"codec": "avro", "blob": payload.Blob}, nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	value, ok := s.vars[name]
	if !ok {
		return nil, fmt.Errorf("no variable %q", name)
	}
	return value, nil
}

// expand replaces variables in every text of value, member names included.
func (s *scope) expand(value any) (any, error) {
	switch v := value.(type) {
	case string:
		return s.expandText(v)
	case []any:
		out := make([]any, len(v))
		for i, item := range v {
			var err error
			if out[i], err = s.expand(item); err != nil {
				return nil, err
			}
		}
		return out, nil
	case map[string]any:
		out := make(map[string]any, len(v))
		for name, item := range v {
			expanded, err := s.expand(item)
			if err != nil {
				return nil, err
			}
			key, err := s.expandText(name)
			if err != nil {
				return nil, err
			}
			out[fmt.Sprint(key)] = expanded
		}
		return out, nil
	}
	return value, nil
}

// expandText keeps a variable's own type when the text is nothing but the variable.
func (s *scope) expandText(text string) (any, error) {
	var out strings.Builder
	for rest := text; ; {
		before, after, found := strings.Cut(rest, "{{")
		out.WriteString(before)
		if !found {
			return out.String(), nil
		}
		name, tail, closed := strings.Cut(after, "}}")
		if !closed {
			return nil, fmt.Errorf("%q: {{ without }}", text)
		}
		value, err := s.lookup(name)
		if err != nil {
			return nil, err
		}
		if out.Len() == 0 && tail == "" && before == "" && rest == text {
			return value, nil
		}
		fmt.Fprint(&out, value)
		rest = tail
	}
}

// expandJSON expands a document; its numbers keep their digits.
func (s *scope) expandJSON(document json.RawMessage) ([]byte, error) {
	value, err := parse(document)
	if err != nil {
		return nil, err
	}
	expanded, err := s.expand(value)
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(expanded); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(out.Bytes(), []byte("\n")), nil
}

// parse reads JSON with exact numbers.
func parse(text []byte) (any, error) {
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.UseNumber()
	var value any
	err := dec.Decode(&value)
	return value, err
}
