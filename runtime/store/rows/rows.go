// Package rows holds what the adapters share between the engine's rows and the generated
// parameter structs: documents are never nil (nil would become NULL), and each update names
// exactly the columns that may change. The generated structs of every engine have the same
// fields in the same order, so an adapter converts these with one struct conversion and a
// difference does not compile.
package rows

import "dwserver/runtime/rules"

var empty = []byte{}

// blob keeps an absent document from becoming NULL.
func blob(b []byte) []byte {
	if b == nil {
		return empty
	}
	return b
}

// Run is r ready to insert.
func Run(r rules.Run) rules.Run {
	r.PendingWake = blob(r.PendingWake)
	return r
}

// RunInput is r ready to insert.
func RunInput(r rules.RunInput) rules.RunInput {
	r.Arguments, r.Memo, r.SearchAttributes = blob(r.Arguments), blob(r.Memo), blob(r.SearchAttributes)
	return r
}

// Event is e ready to insert.
func Event(e rules.Event) rules.Event {
	e.Payload = blob(e.Payload)
	return e
}

// Task is t ready to insert.
func Task(t rules.Task) rules.Task {
	t.Payload, t.Receipt = blob(t.Payload), blob(t.Receipt)
	return t
}

// Activity is a ready to insert.
func Activity(a rules.Activity) rules.Activity {
	a.RetryPolicy, a.Parallel = blob(a.RetryPolicy), blob(a.Parallel)
	return a
}

// Attempt is a ready to insert.
func Attempt(a rules.Attempt) rules.Attempt {
	a.Receipt = blob(a.Receipt)
	return a
}

// Timer is t ready to insert.
func Timer(t rules.Timer) rules.Timer {
	t.Parallel = blob(t.Parallel)
	return t
}

// Wait is w ready to insert.
func Wait(w rules.Wait) rules.Wait {
	w.Parallel = blob(w.Parallel)
	return w
}

// Signal is s ready to insert.
func Signal(s rules.Signal) rules.Signal {
	s.Arguments = blob(s.Arguments)
	return s
}

// CommandRequest is c ready to insert.
func CommandRequest(c rules.CommandRequest) rules.CommandRequest {
	c.BodyDigest = blob(c.BodyDigest)
	return c
}

// Worker is w ready to upsert.
func Worker(w rules.Worker) rules.Worker {
	w.WorkflowTypes, w.ActivityTypes = blob(w.WorkflowTypes), blob(w.ActivityTypes)
	w.Capabilities, w.CapabilityManifest = blob(w.Capabilities), blob(w.CapabilityManifest)
	w.Fingerprints, w.TaskSlots = blob(w.Fingerprints), blob(w.TaskSlots)
	w.ProcessMetrics = blob(w.ProcessMetrics)
	return w
}

// Definition is d ready to upsert.
func Definition(d rules.Definition) rules.Definition {
	d.Contract = blob(d.Contract)
	return d
}
