// Package check embeds the statements of `dwserver check`: each finds the rows that break one
// invariant of the stored state, and finds none in a sound database.
//
// They are one text for all engines, in the part of SQL that the engines share (no ||, no LEAST, no
// boolean as a value), and are run as they stand: nothing but the checker uses them, so no code is
// generated from them. Above each stands its name, after "-- name: ", and what it holds. :now stands
// for the time in microseconds.
package check

import "embed"

// Files holds the statements, one file for each family of tables.
//
//go:embed *.sql
var Files embed.FS
