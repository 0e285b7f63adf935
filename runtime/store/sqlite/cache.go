package sqlite

import "dwserver/runtime/rules"

// caches hold rows as the writer's transaction sees them, so that the rows a run's steps keep coming
// back to are read once: reading a row costs as much as writing two. Only the writer uses them; no
// other process writes this file. What is undone is forgotten.
type caches struct {
	runs       generations[rules.Run]
	tasks      generations[rules.Task]
	activities generations[rules.Activity]
	attempts   generations[rules.Attempt]
	workers    generations[rules.Worker]

	touched []touch // rows the running member wrote, in order
}

type touch struct {
	in interface{ forget(key string) }
	id string
}

// Sizes of a generation: twice as many rows are held at most.
const (
	cachedRuns    = 2048
	cachedRows    = 4096
	cachedWorkers = 512
)

// newCaches makes empty caches; those that keep nothing are for tests that have to see every read.
func newCaches(keep bool) *caches {
	if !keep {
		return &caches{}
	}
	return &caches{
		runs: generations[rules.Run]{limit: cachedRuns}, tasks: generations[rules.Task]{limit: cachedRows},
		activities: generations[rules.Activity]{limit: cachedRows}, attempts: generations[rules.Attempt]{limit: cachedRows},
		workers: generations[rules.Worker]{limit: cachedWorkers},
	}
}

// begin starts a member.
func (c *caches) begin() { c.touched = c.touched[:0] }

// undo forgets what was written after the first n rows of the member.
func (c *caches) undo(n int) {
	for _, t := range c.touched[n:] {
		t.in.forget(t.id)
	}
	c.touched = c.touched[:n]
}

// clear forgets everything: the transaction of all members is lost, or its outcome unknown.
func (c *caches) clear() {
	c.runs.clear()
	c.tasks.clear()
	c.activities.clear()
	c.attempts.clear()
	c.workers.clear()
	c.touched = c.touched[:0]
}

// wrote keeps a row that the member wrote.
func wrote[V any](c *caches, in *generations[V], id string, row V) {
	in.put(id, row)
	c.touched = append(c.touched, touch{in, id})
}

// changed keeps the row that an update left, when the row before is known.
func changed[V any](c *caches, in *generations[V], id string, onto func(*V)) {
	if row, ok := in.get(id); ok {
		onto(&row)
		wrote(c, in, id, row)
	}
}

func workerKey(namespace, workerID string) string { return namespace + "\x00" + workerID }

// generations is a map that forgets what has not been used for the time that it takes to fill it.
type generations[V any] struct {
	limit      int
	young, old map[string]V
}

func (g *generations[V]) get(key string) (row V, ok bool) {
	if row, ok = g.young[key]; ok {
		return row, true
	}
	if row, ok = g.old[key]; ok {
		g.put(key, row)
	}
	return row, ok
}

func (g *generations[V]) put(key string, row V) {
	if g.limit == 0 {
		return
	}
	if len(g.young) >= g.limit {
		g.old, g.young = g.young, nil
	}
	if g.young == nil {
		g.young = make(map[string]V)
	}
	g.young[key] = row
}

func (g *generations[V]) clear() { g.young, g.old = nil, nil }

func (g *generations[V]) forget(key string) {
	delete(g.young, key)
	delete(g.old, key)
}
