package handlers

import (
	"net/http"
	"strconv"

	"dwserver/gen/worker"
	"dwserver/handlers/jsondoc"
	"dwserver/runtime"
	"dwserver/runtime/rules"

	"github.com/labstack/echo/v4"
)

// Defaults of a registration (worker-plane.md 4.1).
const (
	defaultConcurrentTasks    = 100
	defaultConcurrentSessions = 10
	manifestFloor             = 18 // minor version from which the capability manifest is required and echoed
)

// RegisterWorker is POST /worker/register (worker-plane.md 4.1).
func (s *Server) RegisterWorker(c echo.Context) error {
	x := exchangeOf(c)
	var in worker.RegisterWorkerRequest
	if err := x.bind(&in); err != nil {
		return err
	}
	if in.WorkerID != nil {
		x.know("worker_id", *in.WorkerID)
	}
	x.know("task_queue", in.TaskQueue)
	request, err := x.registration(&in)
	if err != nil {
		return err
	}
	result, err := s.worker.Register(x.context(), request)
	if err != nil {
		return err
	}
	return x.reply(http.StatusCreated, x.registered(&in, &result.Worker))
}

func (x *exchange) registration(in *worker.RegisterWorkerRequest) (runtime.RegisterRequest, error) {
	body := x.doc.Root()
	identity, refused := processIdentity(body.Member("process_metrics"))
	if refused != nil {
		return runtime.RegisterRequest{}, refused
	}
	r := runtime.RegisterRequest{
		Namespace: x.namespace, WorkerID: value(in.WorkerID, ""), TaskQueue: in.TaskQueue,
		Runtime: string(in.Runtime), SDKVersion: value(in.SdkVersion, ""), BuildID: value(in.BuildID, ""),
		ProtocolMinor: x.minor, WorkflowTypes: in.SupportedWorkflowTypes, ActivityTypes: in.SupportedActivityTypes,
		Capabilities: in.Capabilities, CapabilityManifest: rawObject(body, "capability_manifest"),
		Manifest: manifestOf(in.CapabilityManifest), Fingerprints: in.WorkflowDefinitionFingerprints,
		Contracts:         contractsOf(body.Member("workflow_command_contracts")),
		MaxWorkflowTasks:  int64(value(in.MaxConcurrentWorkflowTasks, defaultConcurrentTasks)),
		MaxActivityTasks:  int64(value(in.MaxConcurrentActivityTasks, defaultConcurrentTasks)),
		MaxSessions:       int64(value(in.MaxConcurrentWorkerSessions, defaultConcurrentSessions)),
		ProcessMetrics:    rawObject(body, "process_metrics"),
		ProcessIdentity:   identity,
		HeartbeatInterval: int64(value(in.HeartbeatIntervalSeconds, 0)),
	}
	r.TaskSlots = slotsOf(in.TaskSlots, &r)
	if r.MaxWorkflowTasks == 0 && r.MaxActivityTasks == 0 {
		return r, rules.Invalid("max_concurrent_workflow_tasks", "A worker must run at least one kind of task.")
	}
	if x.minor >= manifestFloor && in.CapabilityManifest == nil {
		return r, rules.Invalid("capability_manifest", "The capability_manifest field is required.")
	}
	return r, nil
}

func (x *exchange) registered(in *worker.RegisterWorkerRequest, w *rules.Worker) worker.RegisterWorkerReply {
	manifest := w.CapabilityManifest
	if x.minor < manifestFloor || len(manifest) == 0 {
		manifest = emptyBody
	}
	return worker.RegisterWorkerReply{
		WorkerID: w.WorkerID, Registered: true, Namespace: w.Namespace, TaskQueue: w.TaskQueue, Runtime: w.Runtime,
		BuildID: orNil(w.BuildID), Capabilities: orEmpty(in.Capabilities), CapabilityManifest: manifest,
		Status:                   worker.RegisterWorkerReplyStatus(w.Status),
		HeartbeatIntervalSeconds: seconds(x.s.config.HeartbeatInterval), RegistrationToken: w.RegistrationToken,
	}
}

// rawObject is the text of a member that is an object, nil when it is absent or null.
func rawObject(body jsondoc.Value, name string) []byte {
	member := body.Member(name)
	if member.IsZero() || member.Kind() != jsondoc.Object {
		return nil
	}
	return member.Raw()
}

func manifestOf(in *worker.CapabilityManifest) map[string]runtime.ManifestEntry {
	if in == nil {
		return nil
	}
	out := map[string]runtime.ManifestEntry{}
	for name, entry := range map[string]*worker.CapabilityManifestEntry{
		"local_activities": in.LocalActivities, "worker_sessions": in.WorkerSessions, "sticky_execution": in.StickyExecution,
	} {
		if entry != nil {
			out[name] = runtime.ManifestEntry{Supported: entry.Supported, MinimumProtocol: entry.MinimumProtocolVersion}
		}
	}
	return out
}

func contractsOf(contracts jsondoc.Value) map[string][]byte {
	if contracts.IsZero() || contracts.Kind() != jsondoc.Object {
		return nil
	}
	out := map[string][]byte{}
	contracts.Each(func(_ int, workflowType string, contract jsondoc.Value) bool {
		if contract.Kind() == jsondoc.Object {
			out[workflowType] = contract.Raw()
		}
		return true
	})
	return out
}

// slotsOf are the free slots a worker reports, never more than it has.
func slotsOf(in *worker.TaskSlots, r *runtime.RegisterRequest) []byte {
	if in == nil {
		return nil
	}
	var out objectWriter
	add := func(name string, reported *int, most int64) {
		if reported != nil {
			out.integer(name, min(int64(*reported), most))
		}
	}
	add("workflow_available", in.WorkflowAvailable, r.MaxWorkflowTasks)
	add("activity_available", in.ActivityAvailable, r.MaxActivityTasks)
	add("session_available", in.SessionAvailable, r.MaxSessions)
	return out.bytes()
}

// processIdentity tells processes of one worker id apart: host, process id and start, "" when any of
// them is unknown. process_id may be an integer or a string.
func processIdentity(metrics jsondoc.Value) (string, *runtime.Refusal) {
	if metrics.IsZero() || metrics.Kind() != jsondoc.Object {
		return "", nil
	}
	id := metrics.Member("process_id")
	if !id.IsZero() {
		switch id.Kind() {
		case jsondoc.String, jsondoc.Null:
		case jsondoc.Number:
			if _, err := strconv.ParseInt(id.Text(), 10, 64); err != nil {
				return "", rules.Invalid("process_metrics.process_id", "The process_metrics.process_id field must be an integer or a string.")
			}
		default:
			return "", rules.Invalid("process_metrics.process_id", "The process_metrics.process_id field must be an integer or a string.")
		}
	}
	identity := ""
	for _, part := range []jsondoc.Value{metrics.Member("host"), id, metrics.Member("process_started_at")} {
		if part.IsZero() || part.Kind() == jsondoc.Null || part.Text() == "" {
			return "", nil
		}
		identity += part.Text() + "|"
	}
	return identity, nil
}
