package rules

// ActivityFailureReport is what a worker says about a failed attempt (worker-plane.md 6.5).
type ActivityFailureReport struct {
	Message      string
	Type         string
	Class        string
	Code         *int64
	StackTrace   string
	NonRetryable bool
	Kind         string // application, timeout, cancellation, malformed_output, …
	TimeoutType  string
	Cancelled    bool
	Details      []byte // payload envelope, empty when none
}
