package runtime

import (
	"context"

	"dwserver/runtime/rules"
)

// admission judges what rides on a report before its transaction. It reads the registration of the
// report's lease owner once, however many riders need it.
type admission struct {
	*Engine
	namespace string
	owner     string
	report    string // task that is reported on
	read      bool
	worker    rules.Worker
	err       error
}

// registration is the lease owner's registration. Errors: store.ErrNotFound, faults.
func (a *admission) registration(ctx context.Context) (*rules.Worker, error) {
	if !a.read {
		a.worker, a.err = a.store.ReadWorker(ctx, a.namespace, a.owner)
		a.read = true
	}
	return &a.worker, a.err
}
