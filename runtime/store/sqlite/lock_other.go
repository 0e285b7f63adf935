//go:build !unix

package sqlite

// lockFile does nothing where files cannot be locked this way: running one server process per
// database file is then up to the operator.
func lockFile(string) (func() error, error) { return func() error { return nil }, nil }
