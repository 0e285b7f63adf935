package mysql

import (
	"context"

	"dwserver/runtime/store"
)

// Expect implements store.Tx.
func (t *tx) Expect(e store.Expected) {
	if t.worker == nil && !t.locked {
		t.asked = &e
	}
}

// shareAhead shares the expected registration, in front of a run's lock.
func (t *tx) shareAhead(ctx context.Context) error {
	if t.asked == nil {
		return nil
	}
	_, err := t.ShareWorker(ctx, t.asked.Namespace, t.asked.WorkerID)
	return absent(err)
}
