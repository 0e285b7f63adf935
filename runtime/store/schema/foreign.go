package schema

import (
	"context"
	"fmt"
	"regexp"

	"dwserver/runtime/store"
)

var creates = regexp.MustCompile(`(?i)^\s*CREATE TABLE (?:IF NOT EXISTS )?(\w+)`)

// foreign refuses a database in which no migration was ever applied and which has a table by a name of this
// program's all the same: it is another program's. Where creating is repeatable, the other's table would
// be taken for one that an earlier creation left.
func (m *Manager) foreign(ctx context.Context) error {
	there, err := m.tables(ctx)
	if err != nil {
		return fmt.Errorf("schema: list tables: %w", err)
	}
	for _, k := range m.known {
		for _, s := range k.Up {
			if name := creates.FindStringSubmatch(s); name != nil && there[name[1]] {
				return m.refuse(store.SchemaUnknown, nil, "the table "+name[1]+" is not this program's")
			}
		}
	}
	return nil
}

func (m *Manager) tables(ctx context.Context) (map[string]bool, error) {
	rows, err := m.conn.QueryContext(ctx, m.dialect.Tables)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	there := map[string]bool{}
	for rows.Next() {
		var name string
		if err := rows.Scan(&name); err != nil {
			return nil, err
		}
		there[name] = true
	}
	return there, rows.Err()
}
