package runtime

// Decline says why a carried poll or a continuation was not granted although the request it rode on
// stands (carried-polls.md 4 and 6). The set is closed: one constructor per reason. Everything that
// is not a Decline is a fault and rolls the whole request back.
type Decline struct{ reason string }

// Reason is the decline's word on the wire.
func (d *Decline) Reason() string { return d.reason }

func (d *Decline) Error() string { return "declined: " + d.reason }

// Declines of carried polls.
func declineEmpty() *Decline               { return &Decline{"empty"} }
func declineInvalidPoll() *Decline         { return &Decline{"invalid_poll"} }
func declineWorkerMismatch() *Decline      { return &Decline{"worker_mismatch"} }
func declineWorkerNotRegistered() *Decline { return &Decline{"worker_not_registered"} }
func declineRoutingMismatch() *Decline     { return &Decline{"routing_mismatch"} }
func declineWorkerDraining() *Decline      { return &Decline{"worker_draining"} }
func declineRegistrationFenced() *Decline  { return &Decline{"registration_fenced"} }
func declineSlotOccupied() *Decline        { return &Decline{"slot_occupied"} }
func declineCapabilityMismatch() *Decline  { return &Decline{"capability_mismatch"} }
func declinePollRequestConflict() *Decline { return &Decline{"poll_request_conflict"} }

// Declines of continuations; registration_fenced is shared with carried polls.
func declineHistoryMoved() *Decline       { return &Decline{"history_moved"} }
func declineTaskOpen() *Decline           { return &Decline{"task_open"} }
func declineNotResuming() *Decline        { return &Decline{"not_resuming"} }
func declinePendingCommand() *Decline     { return &Decline{"pending_command"} }
func declineCommandNotEligible() *Decline { return &Decline{"command_not_eligible"} }
func declineInvalidCommands() *Decline    { return &Decline{"invalid_commands"} }
func declineBudget() *Decline             { return &Decline{"budget"} }
func declineWorkerNotEligible() *Decline  { return &Decline{"worker_not_eligible"} }
