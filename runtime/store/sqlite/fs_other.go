//go:build !linux

package sqlite

// networkFS knows no network file systems here.
func networkFS(string) (string, error) { return "", nil }
