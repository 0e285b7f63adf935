package null

import "dwserver/cmd/dwbench/wire"

// commands is what a batch of workflow commands comes to.
type commands struct {
	activities int
	events     int
	closes     bool
}

func readCommands(array []byte) (c commands, err error) {
	var fault error
	err = wire.Elements(array, func(command []byte) bool {
		c.events++
		fault = wire.Members(command, func(name, value []byte) bool {
			if string(name) != "type" {
				return true
			}
			switch wire.Text(value) {
			case "schedule_activity":
				c.activities++
			case "complete_workflow":
				c.closes = true
			case "record_local_activity":
				c.events += 2
			}
			return false
		})
		return fault == nil
	})
	if fault != nil {
		err = fault
	}
	return c, err
}

// request is what the server reads of any request body.
type request struct {
	workerID, pollRequestID, workflowType, workflowID string
	timeoutSeconds                                    int64
	single                                            bool
	commands                                          commands
	continuation                                      *commands
	polls                                             [2]*request // carried
}

func readRequest(body []byte) (*request, error) {
	r := &request{single: true}
	var fault error
	err := wire.Members(body, func(name, value []byte) bool {
		fault = r.member(string(name), value)
		return fault == nil
	})
	if fault != nil {
		err = fault
	}
	return r, err
}

func (r *request) member(name string, value []byte) (err error) {
	switch name {
	case "worker_id", "lease_owner":
		r.workerID = wire.Text(value)
	case "poll_request_id":
		r.pollRequestID = wire.Text(value)
	case "timeout_seconds":
		r.timeoutSeconds = wire.Integer(value)
	case "workflow_type":
		r.workflowType = wire.Text(value)
	case "workflow_id":
		r.workflowID = wire.Text(value)
	case "capabilities":
		err = wire.Elements(value, func(element []byte) bool {
			r.single = r.single && wire.Text(element) != "concurrent_slots"
			return true
		})
	case "commands":
		r.commands, err = readCommands(value)
	case "workflow_continuation":
		var inner *request
		if inner, err = readRequest(value); err == nil {
			r.continuation = &inner.commands
		}
	case "workflow_poll":
		r.polls[workflowKind], err = readRequest(value)
	case "activity_poll":
		r.polls[activityKind], err = readRequest(value)
	}
	return err
}
