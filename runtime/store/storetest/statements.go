package storetest

import "strings"

// OwnScan is the statement by which a store looks for the work of other processes, now and then and by itself. It
// is no statement of an operation; counted as one it would shift those that follow.
const OwnScan = "TaskListFresh"

// IsControl reports a statement, by the name that a probe is told, that begins, marks or ends a transaction.
func IsControl(name string) bool {
	for _, word := range []string{"BEGIN", "START TRANSACTION", "COMMIT", "ROLLBACK", "SAVEPOINT", "RELEASE", "SET "} {
		if strings.HasPrefix(name, word) {
			return true
		}
	}
	return false
}
