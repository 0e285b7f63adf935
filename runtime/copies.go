package runtime

import (
	"bytes"
	"sync"

	"dwserver/runtime/rules"
)

// copiesKept bounds how many registrations are kept.
const copiesKept = 4096

// copies are registrations as this process last read them, so that a report that carries polls need not read its
// worker's before it locks it. Another process may have changed them since: who uses one compares it with the
// locked row.
type copies struct {
	mu   sync.RWMutex
	rows map[[2]string]rules.Worker // by namespace and worker id
}

func (c *copies) get(namespace, workerID string) (rules.Worker, bool) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	row, ok := c.rows[[2]string{namespace, workerID}]
	return row, ok
}

func (c *copies) put(row *rules.Worker) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.rows == nil || len(c.rows) >= copiesKept {
		c.rows = map[[2]string]rules.Worker{}
	}
	c.rows[[2]string{row.Namespace, row.WorkerID}] = *row
}

func (c *copies) drop(namespace, workerID string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.rows, [2]string{namespace, workerID})
}

// superseded tells who relies on a registration in this process that it is not the same any more.
func (e *Engine) superseded(namespace, workerID string) {
	e.copies.drop(namespace, workerID)
	e.hub.Supersede(namespace, workerID)
}

// admitsAs reports whether two rows of a worker admit the same: they may differ in when it was seen and what it told
// of itself.
func admitsAs(a, b *rules.Worker) bool {
	return a.Generation == b.Generation && a.Status == b.Status && a.TaskQueue == b.TaskQueue && a.BuildID == b.BuildID &&
		a.ProtocolMinor == b.ProtocolMinor && a.MaxWorkflowTasks == b.MaxWorkflowTasks && a.MaxActivityTasks == b.MaxActivityTasks &&
		bytes.Equal(a.WorkflowTypes, b.WorkflowTypes) && bytes.Equal(a.ActivityTypes, b.ActivityTypes) &&
		bytes.Equal(a.Capabilities, b.Capabilities) && bytes.Equal(a.CapabilityManifest, b.CapabilityManifest) &&
		bytes.Equal(a.Fingerprints, b.Fingerprints)
}
