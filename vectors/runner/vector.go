// Package runner replays vectors against a server over HTTP. A vector is data:
// the state it is given, the requests it makes, and what has to be seen then.
// vectors/README.md describes the format.
package runner

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
)

// Vector is one replayable example of the contract.
type Vector struct {
	Name  string          `json:"-"` // path below cases, without .json
	About string          `json:"about"`
	Needs json.RawMessage `json:"needs,omitempty"` // matched against cluster info; unmet: skipped
	Roles bool            `json:"roles,omitempty"` // needs tokens of separate roles
	Given []Step          `json:"given,omitempty"`
	When  []Step          `json:"when"`
	Then  []Observation   `json:"then"`
}

// Step is a request, the name of shared steps, or a setting of variables.
type Step struct {
	Use  string         `json:"use,omitempty"`
	With map[string]any `json:"with,omitempty"`
	Set  map[string]any `json:"set,omitempty"`

	As         string `json:"as,omitempty"`         // names the answer for `then`
	Background bool   `json:"background,omitempty"` // go on without the answer
	Request
	Status int `json:"status,omitempty"` // required status; in `given` any below 300 when absent
	Expect any `json:"expect,omitempty"` // pattern of the body
}

// Request names an operation of the contracts, or a bare method and path.
type Request struct {
	Call    string            `json:"call,omitempty"` // operationId
	Method  string            `json:"method,omitempty"`
	Route   string            `json:"route,omitempty"` // path below /api, already encoded
	Path    map[string]any    `json:"path,omitempty"`
	Query   map[string]any    `json:"query,omitempty"`
	Headers map[string]any    `json:"headers,omitempty"` // null removes one
	Role    string            `json:"role,omitempty"`    // worker, operator, admin or none
	Body    json.RawMessage   `json:"body,omitempty"`
	Raw     []json.RawMessage `json:"raw,omitempty"`     // pieces of a body that is no JSON
	Outside bool              `json:"outside,omitempty"` // breaks the request schema on purpose
}

// Observation is something that has to be seen: the answer of a step, the answer of a
// reading request, or a run's history.
type Observation struct {
	Of string `json:"of,omitempty"`
	Request
	Status  int            `json:"status,omitempty"`
	Header  map[string]any `json:"header,omitempty"`
	Expect  any            `json:"expect,omitempty"`
	History *HistoryCheck  `json:"history,omitempty"`
}

// HistoryCheck is a run's whole history, event by event.
type HistoryCheck struct {
	Workflow string `json:"workflow,omitempty"` // {{workflow}} when absent
	Run      string `json:"run,omitempty"`      // {{run}} when absent
	Events   []any  `json:"events"`             // a type, or {type: payload pattern}
}

// Given is a list of steps that vectors share.
type Given struct {
	About    string         `json:"about"`
	Defaults map[string]any `json:"defaults,omitempty"`
	Steps    []Step         `json:"steps"`
}

// Set is everything a runner replays.
type Set struct {
	Vectors  []Vector
	Given    map[string]Given
	Payloads map[string]Payload
}

// Payload is a value and the blob that encodes it.
type Payload struct {
	Value json.RawMessage `json:"value"`
	Blob  string          `json:"blob"`
}

// Load reads cases/**/*.json, given/*.json and payloads.json of files.
func Load(files fs.FS) (*Set, error) {
	set := &Set{Given: map[string]Given{}}
	if err := decodeFile(files, "payloads.json", &set.Payloads); err != nil {
		return nil, err
	}
	err := fs.WalkDir(files, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || path.Ext(name) != ".json" {
			return err
		}
		return set.add(files, name)
	})
	if err != nil {
		return nil, err
	}
	slices.SortFunc(set.Vectors, func(a, b Vector) int { return strings.Compare(a.Name, b.Name) })
	return set, nil
}

func (s *Set) add(files fs.FS, name string) error {
	base := strings.TrimSuffix(name, ".json")
	if short, ok := strings.CutPrefix(base, "given/"); ok {
		var given Given
		if err := decodeFile(files, name, &given); err != nil {
			return err
		}
		s.Given[short] = given
		return nil
	}
	short, ok := strings.CutPrefix(base, "cases/")
	if !ok {
		return nil
	}
	vector := Vector{Name: short}
	if err := decodeFile(files, name, &vector); err != nil {
		return err
	}
	if vector.About == "" || len(vector.When) == 0 || len(vector.Then) == 0 {
		return fmt.Errorf("%s: about, when and then are required", name)
	}
	s.Vectors = append(s.Vectors, vector)
	return nil
}

func decodeFile(files fs.FS, name string, into any) error {
	text, err := fs.ReadFile(files, name)
	if err != nil {
		return err
	}
	if err := decodeStrict(text, into); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

// decodeStrict refuses unknown members, so that a misspelt check cannot pass.
func decodeStrict(text []byte, into any) error {
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.DisallowUnknownFields()
	dec.UseNumber()
	if err := dec.Decode(into); err != nil {
		return err
	}
	if dec.More() {
		return errors.New("more than one document")
	}
	return nil
}
