package rows

import (
	"math"
	"strings"

	"dwserver/runtime/store"
)

// RunListPage selects a page of runs.
type RunListPage struct {
	Namespace    string
	StartedAt    int64
	RunID        string
	WorkflowType string
	Statuses     string // ",running,waiting,", or "" for all
	MaxRows      int64
}

// Page is the selection of p.
func Page(p store.ListPage) RunListPage {
	sel := RunListPage{Namespace: p.Namespace, StartedAt: p.StartedAt, RunID: p.RunID,
		WorkflowType: p.WorkflowType, MaxRows: p.Limit}
	if p.StartedAt == 0 {
		sel.StartedAt = math.MaxInt64
	}
	if len(p.Statuses) > 0 {
		sel.Statuses = "," + strings.Join(p.Statuses, ",") + ","
	}
	return sel
}
