package runtime

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"time"

	"dwserver/runtime/rules"
	"dwserver/runtime/store"
)

// registrationRetention is how long an ended registration token is answered (worker-plane.md 4.2).
const registrationRetention = 10 * time.Minute

// Register makes or renews a worker's registration (4.1). Registering is the process boundary: what
// an earlier registration of the id holds leased ends with it, in the same transaction, and is
// recovered before this returns. Refusals: the manifest and protocol-floor reasons,
// workflow_definition_changed.
func (e *Engine) Register(ctx context.Context, req RegisterRequest) (RegisterResult, error) {
	if r := rules.CheckCapabilities(req.Capabilities, req.Manifest, req.ProtocolMinor); r != nil {
		return RegisterResult{}, r
	}
	if req.WorkerID == "" {
		req.WorkerID = e.ids.New()
	}
	var result RegisterResult
	var leases []rules.Task
	err := e.transition(ctx, func(ctx context.Context, tx store.Tx) (*rules.Effects, error) {
		old, err := tx.LockWorker(ctx, req.Namespace, req.WorkerID)
		if err != nil && !isNotFound(err) {
			return nil, err
		}
		if err := e.definitionChanged(&old, &req); err != nil {
			return nil, err
		}
		eff := &rules.Effects{}
		if leases, err = e.endLeases(ctx, tx, req.Namespace, req.WorkerID, eff); err != nil {
			return nil, err
		}
		worker := e.newWorker(&old, &req)
		eff.Worker = &worker
		if old.RegistrationToken != "" {
			eff.Registrations = append(eff.Registrations, rules.Registration{
				Token: old.RegistrationToken, Namespace: old.Namespace, WorkerID: old.WorkerID,
				State: registrationSuperseded, EndedAt: e.now(),
			})
		}
		eff.Registrations = append(eff.Registrations, rules.Registration{
			Token: worker.RegistrationToken, Namespace: worker.Namespace, WorkerID: worker.WorkerID,
			State: registrationActive,
		})
		for name, contract := range req.Contracts {
			eff.Definitions = append(eff.Definitions, rules.Definition{
				Namespace: req.Namespace, WorkflowType: name, Contract: contract,
				Fingerprint: req.Fingerprints[name], UpdatedAt: e.now(),
			})
		}
		result.Worker = worker
		return eff, nil
	})
	if err != nil {
		return RegisterResult{}, err
	}
	e.superseded(req.Namespace, req.WorkerID)
	result.RecoveredTasks = countWorkflow(leases)
	return result, e.recoverAll(ctx, leases)
}

// Registration states (4.2).
const (
	registrationActive     = "active"
	registrationSuperseded = "superseded"
	registrationFinished   = "finished"
)

// definitionChanged refuses an id in use that registers a type with another fingerprint. Fault: store.ErrBroken.
func (e *Engine) definitionChanged(old *rules.Worker, req *RegisterRequest) error {
	if !old.Fresh(e.now(), e.opt.WorkerStaleAfter.Microseconds()) || len(old.Fingerprints) == 0 {
		return nil
	}
	var known map[string]string
	if err := json.Unmarshal(old.Fingerprints, &known); err != nil {
		return fmt.Errorf("%w: fingerprints of worker %s: %w", store.ErrBroken, old.WorkerID, err)
	}
	for name, print := range req.Fingerprints {
		if before, ok := known[name]; ok && before != print {
			return refuse("workflow_definition_changed",
				"The worker id is active with another definition of the workflow type.").
				With("registered", false).With("workflow_type", name).With("worker_id", req.WorkerID)
		}
	}
	return nil
}

// endLeases expires every lease a worker holds, as of now, as part of a registration change.
func (e *Engine) endLeases(ctx context.Context, tx store.Tx, namespace, workerID string, eff *rules.Effects) ([]rules.Task, error) {
	leases, err := tx.ListLeases(ctx, namespace, workerID)
	if err != nil {
		return nil, err
	}
	for _, task := range leases {
		task.LeaseExpiresAt = min(task.LeaseExpiresAt, e.now())
		eff.Tasks = append(eff.Tasks, task)
	}
	return leases, nil
}

// recoverAll takes the ended leases back, each as its own run's transition.
func (e *Engine) recoverAll(ctx context.Context, leases []rules.Task) error {
	for i := range leases {
		if err := e.recoverLease(ctx, &leases[i]); err != nil {
			return err
		}
	}
	return nil
}

func countWorkflow(leases []rules.Task) (n int64) {
	for i := range leases {
		if leases[i].Kind == rules.KindWorkflow {
			n++
		}
	}
	return n
}

func (e *Engine) newWorker(old *rules.Worker, req *RegisterRequest) rules.Worker {
	now := e.now()
	worker := rules.Worker{
		Namespace: req.Namespace, WorkerID: req.WorkerID, Generation: old.Generation + 1,
		RegistrationToken: newToken(), TaskQueue: req.TaskQueue, Runtime: req.Runtime,
		SDKVersion: req.SDKVersion, BuildID: req.BuildID, Status: rules.WorkerActive,
		ProtocolMinor: req.ProtocolMinor, WorkflowTypes: jsonStrings(req.WorkflowTypes),
		ActivityTypes: jsonStrings(req.ActivityTypes), Capabilities: jsonStrings(req.Capabilities),
		CapabilityManifest: req.CapabilityManifest, Fingerprints: jsonMap(req.Fingerprints),
		MaxWorkflowTasks: req.MaxWorkflowTasks, MaxActivityTasks: req.MaxActivityTasks,
		MaxSessions: req.MaxSessions, TaskSlots: req.TaskSlots, ProcessMetrics: req.ProcessMetrics,
		ProcessIdentity: req.ProcessIdentity, HeartbeatInterval: req.HeartbeatInterval,
		LastSeenAt: now, RegisteredAt: now, UpdatedAt: now,
	}
	if old.Status == rules.WorkerDraining && old.BuildID == req.BuildID {
		worker.Status = rules.WorkerDraining // an operator's drain intent survives registrations
	}
	return worker
}

// newToken is a registration token: 32 lowercase hexadecimal digits.
func newToken() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // crypto/rand.Read never fails
	return hex.EncodeToString(b[:])
}

func jsonStrings(list []string) []byte {
	if list == nil {
		list = []string{}
	}
	doc, _ := json.Marshal(list) // strings always marshal
	return doc
}

func jsonMap(m map[string]string) []byte {
	if len(m) == 0 {
		return nil
	}
	doc, _ := json.Marshal(m) // strings always marshal
	return doc
}

// Deregister removes a registration (4.2) and recovers its leases. It returns how many workflow
// tasks were recovered. Refusal: worker_not_found.
func (e *Engine) Deregister(ctx context.Context, namespace, workerID string) (int64, error) {
	var leases []rules.Task
	err := e.transition(ctx, func(ctx context.Context, tx store.Tx) (*rules.Effects, error) {
		worker, err := tx.LockWorker(ctx, namespace, workerID)
		if isNotFound(err) {
			return nil, refuse("worker_not_found", "No worker of this id is registered.").With("worker_id", workerID)
		}
		if err != nil {
			return nil, err
		}
		eff := &rules.Effects{}
		leases, err = e.removeWorker(ctx, tx, &worker, eff)
		return eff, err
	})
	if err != nil {
		return 0, err
	}
	e.superseded(namespace, workerID)
	return countWorkflow(leases), e.recoverAll(ctx, leases)
}

// removeWorker ends a registration: its leases expire, its token is finished with a receipt.
func (e *Engine) removeWorker(ctx context.Context, tx store.Tx, worker *rules.Worker, eff *rules.Effects) ([]rules.Task, error) {
	leases, err := e.endLeases(ctx, tx, worker.Namespace, worker.WorkerID, eff)
	if err != nil {
		return nil, err
	}
	eff.RemoveWorker = worker
	eff.Registrations = append(eff.Registrations, rules.Registration{
		Token: worker.RegistrationToken, Namespace: worker.Namespace, WorkerID: worker.WorkerID,
		State: registrationFinished, RecoveredCount: countWorkflow(leases), EndedAt: e.now(),
	})
	return leases, nil
}

// DeregisterFenced removes the registration a token stands for and no other (4.2). A finished token
// answers its receipt for ten minutes, whoever holds the id by then. Refusals:
// worker_registration_token_not_found, worker_registration_lost_authority,
// worker_registration_receipt_expired.
func (e *Engine) DeregisterFenced(ctx context.Context, namespace, workerID, token string) (int64, error) {
	var leases []rules.Task
	var recovered int64
	removed := false
	no := func(reason, message string) *Refusal {
		return refuse(reason, message).With("worker_id", workerID).With("registration_token", token).With("retryable", false)
	}
	err := e.transition(ctx, func(ctx context.Context, tx store.Tx) (*rules.Effects, error) {
		leases, recovered, removed = nil, 0, false
		worker, err := tx.LockWorker(ctx, namespace, workerID)
		if err != nil && !isNotFound(err) {
			return nil, err
		}
		reg, err := tx.GetRegistration(ctx, token)
		if isNotFound(err) || err == nil && (reg.Namespace != namespace || reg.WorkerID != workerID) {
			return nil, no("worker_registration_token_not_found", "The registration token is not known.")
		}
		if err != nil {
			return nil, err
		}
		expired := reg.EndedAt != 0 && e.now()-reg.EndedAt > registrationRetention.Microseconds()
		switch {
		case reg.State == registrationFinished && expired:
			return nil, no("worker_registration_receipt_expired", "The registration's receipt has expired.")
		case reg.State == registrationFinished:
			recovered = reg.RecoveredCount
			return nil, nil
		case reg.State == registrationSuperseded || worker.RegistrationToken != token:
			return nil, no("worker_registration_lost_authority", "A newer registration of this worker id exists.")
		}
		eff := &rules.Effects{}
		leases, err = e.removeWorker(ctx, tx, &worker, eff)
		recovered, removed = countWorkflow(leases), true
		return eff, err
	})
	if err != nil {
		return 0, err
	}
	if removed {
		e.superseded(namespace, workerID)
	}
	return recovered, e.recoverAll(ctx, leases)
}

// HeartbeatWorker records that a worker lives (4.3). Refusal: worker_not_registered.
func (e *Engine) HeartbeatWorker(ctx context.Context, req HeartbeatWorkerRequest) (rules.Worker, error) {
	var worker rules.Worker
	err := e.transition(ctx, func(ctx context.Context, tx store.Tx) (*rules.Effects, error) {
		var err error
		worker, err = tx.LockWorker(ctx, req.Namespace, req.WorkerID)
		if isNotFound(err) {
			return nil, refuse("worker_not_registered", "The worker is not registered.").With("worker_id", req.WorkerID)
		}
		if err != nil {
			return nil, err
		}
		changed := false
		if len(req.TaskSlots) > 0 && string(req.TaskSlots) != string(worker.TaskSlots) {
			worker.TaskSlots, changed = req.TaskSlots, true
		}
		if len(req.ProcessMetrics) > 0 && string(req.ProcessMetrics) != string(worker.ProcessMetrics) {
			worker.ProcessMetrics, changed = req.ProcessMetrics, true
		}
		if req.HeartbeatInterval > 0 && req.HeartbeatInterval != worker.HeartbeatInterval {
			worker.HeartbeatInterval, changed = req.HeartbeatInterval, true
		}
		now := e.now()
		if !changed && now-worker.LastSeenAt < seenEvery {
			return nil, nil
		}
		worker.LastSeenAt, worker.UpdatedAt = now, now
		return &rules.Effects{Worker: &worker}, nil
	})
	return worker, err
}

// seenEvery is how often a worker's last_seen_at is stored at most, in micros (settled.md).
const seenEvery = 3_000_000

// seen is the effect of having heard from a worker, nil when it was stored a moment ago.
func (e *Engine) seen(worker *rules.Worker) *rules.WorkerSeen {
	now := e.now()
	if now-worker.LastSeenAt < seenEvery {
		return nil
	}
	return &rules.WorkerSeen{Namespace: worker.Namespace, WorkerID: worker.WorkerID, At: now}
}

// touch stores that a worker was heard from, if that is due. It is a transaction of its own: one that
// holds a run's lock must not wait for a registration.
func (e *Engine) touch(ctx context.Context, worker *rules.Worker) error {
	seen := e.seen(worker)
	if seen == nil || worker.WorkerID == "" {
		return nil
	}
	return e.transition(ctx, func(context.Context, store.Tx) (*rules.Effects, error) {
		return &rules.Effects{Seen: seen}, nil
	})
}
