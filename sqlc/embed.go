// Package sqlc embeds the numbered migrations of every engine, so that the binary creates and
// upgrades its own database.
package sqlc

import "embed"

// Files holds <engine>/<version>_<name>.up.sql and .down.sql.
//
//go:embed sqlite/*.sql postgres/*.sql mysql/*.sql
var Files embed.FS
