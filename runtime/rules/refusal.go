package rules

// Refusal is a typed answer "no" of the contract. Fields are further members of the answer's body,
// by their wire names (times already as text). Errors is the validation map (field path → messages)
// of a validation_failed or memo refusal.
type Refusal struct {
	Reason  string
	Message string
	Fields  map[string]any
	Errors  map[string][]string
	Command *Command // the rejected control-plane command, recorded
	Run     *Run     // the run a rejected command was about
}

// Refuse makes a refusal.
func Refuse(reason, message string) *Refusal { return &Refusal{Reason: reason, Message: message} }

// Error implements error.
func (r *Refusal) Error() string { return r.Reason + ": " + r.Message }

// With adds a member to the refusal's answer.
func (r *Refusal) With(name string, value any) *Refusal {
	if r.Fields == nil {
		r.Fields = make(map[string]any, 8)
	}
	r.Fields[name] = value
	return r
}

// Invalid makes a validation_failed refusal (422) for one field path.
func Invalid(path, message string) *Refusal {
	return &Refusal{Reason: "validation_failed", Message: message, Errors: map[string][]string{path: {message}}}
}
