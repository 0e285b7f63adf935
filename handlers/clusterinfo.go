package handlers

import (
	"errors"
	"net/http"

	"dwserver/gen/control"
	"dwserver/runtime"
	"dwserver/runtime/rules"

	"github.com/labstack/echo/v4"
)

// GetClusterInfo handles GET /cluster/info: what clients check before they do anything else
// (control-plane.md 2). Only the namespace depends on the request.
func (s *Server) GetClusterInfo(c echo.Context, _ control.GetClusterInfoParams) error {
	x := exchangeOf(c)
	if err := x.valid(); err != nil {
		return err
	}
	seen, err := x.clusterNamespace()
	if err != nil {
		return err
	}
	member, err := marshal(seen)
	if err != nil {
		return err
	}
	var namespace objectWriter
	namespace.raw("namespace", member)
	return x.replyJSON(http.StatusOK, spliceTail(s.cluster, namespace.members()))
}

// clusterNamespace is the namespace the request would act in; it need not exist.
func (x *exchange) clusterNamespace() (*control.ClusterNamespace, error) {
	seen := &control.ClusterNamespace{Name: x.namespace, ExternalPayloadStorage: noExternalStorage}
	found, err := x.s.engine.Namespace(x.context(), x.namespace)
	var refused *runtime.Refusal
	if errors.As(err, &refused) {
		return seen, nil
	}
	if err != nil {
		return nil, err
	}
	seen.Exists, seen.Status = true, &found.Status
	seen.RetentionMode, seen.RetentionDays = &found.RetentionMode, retentionDays(&found)
	return seen, nil
}

// noExternalStorage is the storage policy of every namespace: payloads are kept inline.
var noExternalStorage = rules.NewObject(128).Str("schema", "durable-workflow.v2.external-payload-storage").
	Int("version", 1).Bool("configured", false).Bool("enabled", false).Str("status", "unconfigured").
	Raw("threshold_bytes", []byte("null")).Bytes()
