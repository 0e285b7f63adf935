package handlers

import (
	"net/http"
	"strings"

	"dwserver/gen/control"
	"dwserver/runtime/rules"

	"github.com/labstack/echo/v4"
)

// retainForever is the retention mode that has no days.
const retainForever = "forever"

// ListNamespaces handles GET /namespaces (control-plane.md 6).
func (s *Server) ListNamespaces(c echo.Context) error {
	x := exchangeOf(c)
	found, err := s.engine.ListNamespaces(x.context())
	if err != nil {
		return err
	}
	rows := make([]control.Namespace, len(found))
	for i := range found {
		rows[i] = namespaceRow(&found[i])
	}
	return x.reply(http.StatusOK, &control.NamespaceList{Namespaces: rows})
}

// DescribeNamespace handles GET /namespaces/{name}. Names are lower-cased, as in the header.
func (s *Server) DescribeNamespace(c echo.Context, _ control.NamespaceName) error {
	x := exchangeOf(c)
	found, err := s.engine.Namespace(x.context(), strings.ToLower(x.path["name"]))
	if err != nil {
		return err
	}
	return x.reply(http.StatusOK, namespaceRow(&found))
}

func namespaceRow(n *rules.Namespace) control.Namespace {
	return control.Namespace{
		Name: n.Name, Description: orNil(n.Description),
		RetentionMode: control.NamespaceRetentionMode(n.RetentionMode), RetentionDays: retentionDays(n), Status: n.Status,
		CreatedAt: calendarTime(n.CreatedAt), UpdatedAt: calendarTime(n.UpdatedAt),
	}
}

func retentionDays(n *rules.Namespace) *int {
	if n.RetentionMode == retainForever {
		return nil
	}
	days := int(n.RetentionDays)
	return &days
}
