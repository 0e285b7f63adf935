package postgres

import (
	"context"

	"dwserver/gen/pgdb"
	"dwserver/runtime/rules"
	"dwserver/runtime/store"
)

// definition is that of a workflow type, read with the lock of the workflow id that is started.
type definition struct {
	namespace, workflowType string
	read, missing           bool
	row                     rules.Definition
}

func (d *definition) load(ctx context.Context, p *pipe) {
	p.load(func(q *pgdb.Queries) error {
		row, err := q.DefinitionGet(ctx, pgdb.DefinitionGetParams{Namespace: d.namespace, WorkflowType: d.workflowType})
		d.row, d.read = rules.Definition(row), true
		return err
	}, &d.missing)
}

// GetDefinition implements store.Tx.
func (t *tx) GetDefinition(ctx context.Context, namespace, workflowType string) (rules.Definition, error) {
	d := t.definition
	switch {
	case d == nil || !d.read || d.namespace != namespace || d.workflowType != workflowType:
		return t.reads.GetDefinition(ctx, namespace, workflowType)
	case d.missing:
		return rules.Definition{}, store.ErrNotFound
	}
	return d.row, nil
}
