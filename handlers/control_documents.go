package handlers

import (
	"net/http"

	"dwserver/openapi"

	"github.com/labstack/echo/v4"
)

// documentType is the media type of the served OpenAPI documents (RFC 9512).
const documentType = "application/yaml"

// GetWorkerProtocolDocument handles GET /openapi/worker-protocol.yaml.
func (s *Server) GetWorkerProtocolDocument(c echo.Context) error {
	return exchangeOf(c).replyText(http.StatusOK, documentType, openapi.WorkerProtocol)
}

// GetControlPlaneDocument handles GET /openapi/control-plane.yaml.
func (s *Server) GetControlPlaneDocument(c echo.Context) error {
	return exchangeOf(c).replyText(http.StatusOK, documentType, openapi.ControlPlane)
}
