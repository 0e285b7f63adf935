package load

// All are the workloads, in the order of the report.
func All() []Workload {
	return []Workload{five(), local(), burst(), fanout(), signals(), timers(), long(), idle(), claims(), serving()}
}
