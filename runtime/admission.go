package runtime

import (
	"context"
	"errors"

	"dwserver/runtime/rules"
)

// admission judges what rides on a report before its transaction. It looks at the registration of the
// report's lease owner once, however many riders need it.
type admission struct {
	*Engine
	namespace string
	owner     string
	report    string // task that is reported on
	read      bool
	kept      bool // the registration is the process's copy, which may be older than the database's
	worker    rules.Worker
	err       error
}

// registration is the lease owner's registration. Errors: store.ErrNotFound, faults.
func (a *admission) registration(ctx context.Context) (*rules.Worker, error) {
	if a.read {
		return &a.worker, a.err
	}
	if a.worker, a.kept = a.copies.get(a.namespace, a.owner); !a.kept {
		a.worker, a.err = a.store.ReadWorker(ctx, a.namespace, a.owner)
		if a.err == nil {
			a.copies.put(&a.worker)
		}
	}
	a.read = true
	return &a.worker, a.err
}

// errOutdated says that a report's riders were judged by a copy of a registration that is not the registration.
// Nothing was committed, and nothing was answered.
var errOutdated = errors.New("outdated copy of a registration")

// overtaken reports that the riders were judged by a copy and the row that is locked now is another, or gone.
func (a *admission) overtaken(locked *rules.Worker, err error) bool {
	return a.kept && (isNotFound(err) || err == nil && !admitsAs(locked, &a.worker))
}

// outdated forgets the copy, which has turned out to be one.
func (a *admission) outdated() error {
	a.copies.drop(a.namespace, a.owner)
	return errOutdated
}

// admitted runs a report whose riders are judged by a copy of their worker's registration where there is one, and
// once more, judged by the registration itself, when that copy is outdated or would have them declined or faulted.
// So a decline before the transaction is never the copy's, and what the copy let pass is held against the locked row.
func admitted[R any](report func() (R, error)) (R, error) {
	for {
		result, err := report()
		if !errors.Is(err, errOutdated) {
			return result, err
		}
	}
}
