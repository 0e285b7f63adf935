package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// What worker processes note, and with what outcome.
const (
	tortureToken     = "token"     // of a completion, or of a continuation
	tortureCompleted = "completed" // an attempt
	tortureFailed    = "failed"    // an attempt
	tortureCarried   = "carried"   // what became of a carried poll
	tortureFinding   = "finding"
	tortureCount     = "count"

	tortureRecorded = "recorded"
	tortureRefused  = "refused"
	tortureUnknown  = "unknown"
)

type tortureEntry struct {
	Kind      string `json:"kind"`
	Key       string `json:"key,omitempty"`
	Run       string `json:"run,omitempty"`
	Outcome   string `json:"outcome,omitempty"`
	Continued bool   `json:"continued,omitempty"`
	Lost      int    `json:"lost,omitempty"`
	Deferred  int    `json:"deferred,omitempty"`
}

// tortureLedger is what all worker processes noted.
type tortureLedger struct {
	entries  map[string]map[string]tortureEntry // kind → key
	carried  map[string]int
	findings []string
	lost     int
	deferred int
}

func newTortureLedger() *tortureLedger {
	return &tortureLedger{carried: map[string]int{}, entries: map[string]map[string]tortureEntry{
		tortureToken: {}, tortureCompleted: {}, tortureFailed: {}}}
}

func (l *tortureLedger) read(path string) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var e tortureEntry
		if err := json.Unmarshal(lines.Bytes(), &e); err != nil {
			return err
		}
		switch e.Kind {
		case tortureFinding:
			l.findings = append(l.findings, e.Key)
		case tortureCarried:
			l.carried[e.Key]++
		case tortureCount:
			l.lost += e.Lost
			l.deferred += e.Deferred
		default:
			l.add(e)
		}
	}
	return lines.Err()
}

// add notes an outcome; two for one thing are a finding.
func (l *tortureLedger) add(e tortureEntry) {
	if before, twice := l.entries[e.Kind][e.Key]; twice && before.Outcome == tortureRecorded && e.Outcome == tortureRecorded {
		l.findings = append(l.findings, fmt.Sprintf("%s %s was acknowledged twice", e.Kind, e.Key))
	}
	l.entries[e.Kind][e.Key] = e
}

func (l *tortureLedger) count(kind, outcome string, continued bool) (n int) {
	for _, e := range l.entries[kind] {
		if e.Outcome == outcome && e.Continued == continued {
			n++
		}
	}
	return n
}

func (l *tortureLedger) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d completions, %d continuations (%d declined, %d unknown), %d attempts completed, %d failed; %d reports refused",
		l.count(tortureToken, tortureRecorded, false), l.count(tortureToken, tortureRecorded, true),
		l.count(tortureToken, tortureRefused, true), l.count(tortureToken, tortureUnknown, true),
		l.count(tortureCompleted, tortureRecorded, false), l.count(tortureFailed, tortureRecorded, false),
		l.count(tortureToken, tortureRefused, false)+l.count(tortureCompleted, tortureRefused, false)+l.count(tortureFailed, tortureRefused, false))
	fmt.Fprintf(&b, "; %d answers lost, %d deferred; carried:", l.lost, l.deferred)
	for _, key := range slices.Sorted(maps.Keys(l.carried)) {
		fmt.Fprintf(&b, " %s %d,", key, l.carried[key])
	}
	return strings.TrimSuffix(b.String(), ",")
}

// seen is what all histories tell.
type seen struct {
	tokens    map[string]int    // completions recorded, by token
	completed map[string]int    // attempts
	failed    map[string]int    // attempts
	signals   map[string]string // workflow id → id of the one signal it received
	runs      int
}

// verify compares what was acknowledged with the histories of all runs.
func (x *torture) verify(t *testing.T) {
	t.Helper()
	assert.Empty(t, append(x.client.findings, x.ledger.findings...), x.outputs())
	assert.NotZero(t, x.ledger.lost, "the kills came while nothing was asked: they showed nothing")
	s := &seen{tokens: map[string]int{}, completed: map[string]int{}, failed: map[string]int{}, signals: map[string]string{}}
	for id, run := range x.starts {
		x.verifyWorkflow(t, s, id, run)
	}
	x.verifyEntries(t, tortureToken, s.tokens)
	x.verifyEntries(t, tortureCompleted, s.completed)
	x.verifyEntries(t, tortureFailed, s.failed)
	assert.Equal(t, 2*len(x.starts), s.runs)
}

// verifyEntries holds one kind of acknowledgements against the histories: recorded is there once, refused is
// not there, and nothing is there that nobody was told of.
func (x *torture) verifyEntries(t *testing.T, kind string, there map[string]int) {
	t.Helper()
	for key, e := range x.ledger.entries[kind] {
		switch e.Outcome {
		case tortureRecorded:
			assert.Equal(t, 1, there[key], "%s %s was acknowledged", kind, key)
		case tortureRefused:
			assert.Zero(t, there[key], "%s %s was refused", kind, key)
		case tortureUnknown:
			assert.LessOrEqual(t, there[key], 1, "%s %s", kind, key)
		}
	}
	for key := range there {
		assert.Contains(t, x.ledger.entries[kind], key, "%s is in a history and nobody was told", kind)
	}
}

func (x *torture) verifyWorkflow(t *testing.T, s *seen, id, first string) {
	t.Helper()
	answer := x.client.get(t.Context(), "/workflows/"+id+"/runs")
	var list struct {
		Runs []tortureDescription `json:"runs"`
	}
	require.Equal(t, 200, answer.status, "%s", answer)
	require.NoError(t, answer.decode(&list))
	require.Len(t, list.Runs, 2, id)
	assert.Equal(t, "done", x.describe(t, id).Output, id)
	signals := map[string]bool{}
	steps := 0
	for _, run := range list.Runs {
		s.runs++
		assert.Equal(t, "completed", run.Status, id)
		events := x.client.history(t, id, run.RunID)
		for i, e := range events {
			assert.Equal(t, int64(i+1), e.Sequence, id)
			steps += s.event(&e, signals)
		}
	}
	assert.Contains(t, []string{list.Runs[0].RunID, list.Runs[1].RunID}, first, "the run that was acknowledged")
	// The first run takes all steps but the last, the second takes all.
	assert.Equal(t, 2*len(tortureSteps)-1, steps, id)
	if x.signals[id] != "" {
		assert.Len(t, signals, 1, "%s: the signal that was acknowledged, once", id)
	}
}

// event notes what an event tells, and answers how many steps it took.
func (s *seen) event(e *historyEvent, signals map[string]bool) (steps int) {
	switch e.Type {
	case "SideEffectRecorded":
		s.tokens[textOf(e.Payload.Result)]++
		return 1
	case "ActivityCompleted":
		if textOf(e.Payload.Result) != "local" {
			s.completed[textOf(e.Payload.Result)]++
		}
	case "ActivityRetryScheduled":
		if e.Payload.Reason == "failure" && e.Payload.RetryAfter != "" {
			s.failed[e.Payload.RetryAfter]++
		}
	case "SignalReceived":
		signals[e.Payload.SignalID] = true
	}
	return 0
}
