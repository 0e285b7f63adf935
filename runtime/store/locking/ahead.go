package locking

import (
	"slices"

	"dwserver/runtime/rules"
	"dwserver/runtime/store"
)

// Ahead is what a transaction knows about a worker and its polls before it is asked, because it read it together
// in few round trips. Wrote keeps it up to what the transaction writes itself, so that an answer is the one that
// the database would give.
type Ahead struct {
	// Asked is what is going to be asked, until it was read.
	Asked      *store.Expected
	receiptsOf *store.Expected // what receipts are known for, nil when none are
	receipts   []rules.PollReceipt
	leasesOf   *store.Expected // whose leases are known, nil when none are
	leases     []Lease
	lines      []*Line
}

// Lease is a leased task of a worker.
type Lease struct {
	TaskID         string
	Kind           string
	LeaseExpiresAt int64
}

// Line is the first tasks that a claim may take, in claim order.
type Line struct {
	Claim store.Claim
	Found int64 // moment of Takes before which they were found
	Tasks []Place
}

// Place is a claimable task by its place in claim order.
type Place struct {
	Kind, TypeName, Compatibility string
	Priority, OrderAt             int64
	TaskID, RunID                 string
	ActivityExecutionID           string
}

// KnowReceipts notes the receipts that were read for what was asked.
func (a *Ahead) KnowReceipts(e *store.Expected, receipts []rules.PollReceipt) {
	a.receiptsOf, a.receipts = e, receipts
}

// KnowLeases notes what the worker holds leased.
func (a *Ahead) KnowLeases(e *store.Expected, leases []Lease) { a.leasesOf, a.leases = e, leases }

// Begin makes an empty line for each claim, to be filled.
func (a *Ahead) Begin(claims []store.Claim, found int64) []*Line {
	n := len(a.lines)
	for i := range claims {
		a.lines = append(a.lines, &Line{Claim: claims[i], Found: found})
	}
	return a.lines[n:]
}

// Fill puts the tasks of a line's kind into it.
func (l *Line) Fill(found []Place) {
	l.Tasks = nil
	for i := range found {
		if found[i].Kind == l.Claim.Kind && slices.Contains(l.Claim.TypeNames, found[i].TypeName) {
			l.Tasks = append(l.Tasks, found[i])
		}
	}
}

// Head is the first task of a line that nobody in this process is taking. Errors: store.ErrNotFound.
func (l *Line) Head(takes *Takes) (store.Head, error) {
	for i := range l.Tasks {
		if !takes.Gone(l.Tasks[i].TaskID, l.Found) {
			return l.Tasks[i].Head(l.Found), nil
		}
	}
	return store.Head{}, store.ErrNotFound
}

// Head is the place as a store tells it, found at a moment of Takes.
func (p *Place) Head(found int64) store.Head {
	return store.Head{
		Priority: p.Priority, OrderAt: p.OrderAt, TaskID: p.TaskID, RunID: p.RunID,
		ActivityExecutionID: p.ActivityExecutionID, Moment: found,
	}
}

// PlaceOf is the place that a claim was told of.
func PlaceOf(c *store.Claim) *Place {
	return &Place{
		Kind: c.Kind, Priority: c.Found.Priority, OrderAt: c.Found.OrderAt, TaskID: c.Found.TaskID, RunID: c.Found.RunID,
		ActivityExecutionID: c.Found.ActivityExecutionID,
	}
}

// Lane is one range of the claim index: a type and a build.
type Lane struct{ TypeName, Build string }

// Lanes are the lanes of places, each once, in their order.
func Lanes(places []Place) (list []Lane) {
	for i := range places {
		if lane := (Lane{places[i].TypeName, places[i].Compatibility}); !slices.Contains(list, lane) {
			list = append(list, lane)
		}
	}
	return list
}

// Line is the line of a claim, nil when it is not known.
func (a *Ahead) Line(c *store.Claim) *Line {
	for _, l := range a.lines {
		if l.Claim.Like(c) {
			return l
		}
	}
	return nil
}

// DropLines is for a wait, after which other tasks are in front.
func (a *Ahead) DropLines() { a.lines = nil }

// Forget is for what failed or was rolled back: what is known may not be so.
func (a *Ahead) Forget() { *a = Ahead{} }

// Wrote brings what is known up to what was written.
func (a *Ahead) Wrote(e *rules.Effects) {
	for i := range e.DropReceipts {
		drop := &e.DropReceipts[i]
		a.receipts = slices.DeleteFunc(a.receipts, func(r rules.PollReceipt) bool {
			return r.Namespace == drop.Namespace && r.WorkerID == drop.WorkerID && r.Kind == drop.Kind &&
				r.PollRequestID == drop.PollRequestID && r.TaskID == drop.TaskID && r.Attempt == drop.Attempt
		})
	}
	a.receipts = append(a.receipts, e.PollReceipts...)
	for _, list := range [...][]rules.Task{e.NewTasks, e.Tasks} {
		for i := range list {
			a.wroteTask(&list[i])
		}
	}
}

func (a *Ahead) wroteTask(task *rules.Task) {
	if w := a.leasesOf; w != nil {
		a.leases = slices.DeleteFunc(a.leases, func(l Lease) bool { return l.TaskID == task.TaskID })
		if task.Status == rules.TaskLeased && task.LeaseOwner == w.WorkerID && task.Namespace == w.Namespace {
			a.leases = append(a.leases, Lease{task.TaskID, task.Kind, task.LeaseExpiresAt})
		}
	}
	if task.Status == rules.TaskReady { // it may be in front of what is known
		a.lines = slices.DeleteFunc(a.lines, func(l *Line) bool { return l.Claim.Kind == task.Kind })
		return
	}
	for _, l := range a.lines {
		l.Tasks = slices.DeleteFunc(l.Tasks, func(p Place) bool { return p.TaskID == task.TaskID })
	}
}

// Leases counts a worker's live leases of a kind; false when they are not known.
func (a *Ahead) Leases(namespace, workerID, kind string, now int64) (n int64, known bool) {
	if w := a.leasesOf; w == nil || w.WorkerID != workerID || w.Namespace != namespace {
		return 0, false
	}
	for i := range a.leases {
		if a.leases[i].Kind == kind && a.leases[i].LeaseExpiresAt > now {
			n++
		}
	}
	return n, true
}

// Receipt is a poll's receipt, nil when there is none; false when that is not known.
func (a *Ahead) Receipt(namespace, workerID, kind, pollRequestID string) (r *rules.PollReceipt, known bool) {
	w := a.receiptsOf
	if w == nil || w.WorkerID != workerID || w.Namespace != namespace || !slices.Contains(w.PollRequestIDs, pollRequestID) {
		return nil, false
	}
	for i := range slices.Backward(a.receipts) { // the last that was written stands
		r := &a.receipts[i]
		if r.Kind == kind && r.PollRequestID == pollRequestID && r.WorkerID == workerID && r.Namespace == namespace {
			return r, true
		}
	}
	return nil, true
}

// Together reports whether one search can serve both claims: they differ in kind and types only.
func Together(a, b *store.Claim) bool {
	return a.Kind != b.Kind && a.Namespace == b.Namespace && a.TaskQueue == b.TaskQueue && a.BuildID == b.BuildID &&
		a.ProtocolMinor == b.ProtocolMinor
}
