package worker

import (
	"fmt"

	"dwserver/cmd/dwbench/wire"
)

// carried are the polls that a completion carries: the request id by kind, empty for a kind that is not
// asked for.
type carried [2]string

// carry adds the polls to a completion.
func (w *Worker) carry(o *wire.Object, c carried) {
	for k, id := range c {
		if id != "" {
			o.Raw(carriers[k], w.pollObject(id, kind(k), 0))
		}
	}
}

// completion is the answer to a completion of either kind.
type completion struct {
	recorded     bool
	lastSequence int64
	polls        [2]carriedAnswer
	continuation *continuationAnswer
}

type carriedAnswer struct {
	attempted bool
	lease     *lease // nil when declined
	reason    string
}

type continuationAnswer struct {
	accepted     bool
	reason       string
	lastSequence int64
}

func readCompletion(body []byte) (*completion, error) {
	var c completion
	var fault error
	err := wire.Members(body, func(name, value []byte) bool {
		switch string(name) {
		case "recorded":
			c.recorded = wire.True(value)
		case "last_history_sequence":
			c.lastSequence = wire.Integer(value)
		case "workflow_poll":
			c.polls[workflowKind], fault = readCarried(workflowKind, value)
		case "activity_poll":
			c.polls[activityKind], fault = readCarried(activityKind, value)
		case "workflow_continuation":
			c.continuation, fault = readContinuation(value)
		}
		return fault == nil
	})
	if fault != nil {
		err = fault
	}
	if err != nil {
		return nil, fmt.Errorf("completion answer: %w", err)
	}
	return &c, nil
}

func readCarried(k kind, member []byte) (a carriedAnswer, err error) {
	if wire.Null(member) {
		return a, nil
	}
	a.attempted = true
	var answer []byte
	err = wire.Members(member, func(name, value []byte) bool {
		switch string(name) {
		case "answer":
			answer = value
		case "reason":
			a.reason = wire.Text(value)
		}
		return true
	})
	if err == nil && answer != nil {
		a.lease, err = readLease(k, answer)
	}
	return a, err
}

func readContinuation(member []byte) (*continuationAnswer, error) {
	if wire.Null(member) {
		return nil, nil
	}
	var a continuationAnswer
	err := wire.Members(member, func(name, value []byte) bool {
		switch string(name) {
		case "accepted":
			a.accepted = wire.True(value)
		case "reason":
			a.reason = wire.Text(value)
		case "last_history_sequence":
			a.lastSequence = wire.Integer(value)
		}
		return true
	})
	return &a, err
}

// answered is what became of the polls that a completion carried.
type answered struct {
	leases []*lease
	// unsettled are the ids that may stand for a lease nobody has read the answer of: they were not
	// attempted, or declined for another reason than that there is no task.
	unsettled carried
}

// leased reports whether a poll of a kind was granted a task.
func (a *answered) leased(k kind) bool {
	for _, l := range a.leases {
		if l.kind == k {
			return true
		}
	}
	return false
}

// granted reads the carried polls' answers. A repeated completion answers none of them although the first
// one may have leased, so their ids are asked for.
func (w *Worker) granted(conn *wire.Conn, c carried, a *completion, retried bool) (out answered, err error) {
	for k, id := range c {
		if id == "" {
			continue
		}
		answer := a.polls[k]
		switch {
		case answer.lease != nil:
			w.tally.count("carried_lease")
			out.leases = append(out.leases, answer.lease)
		case answer.attempted:
			w.tally.count("carried_declined:" + answer.reason)
			if answer.reason != "empty" {
				out.unsettled[k] = id
			}
		case retried && !a.recorded:
			l, err := w.poll(conn, kind(k), id, 0)
			if err != nil {
				return out, err
			}
			if l != nil {
				out.leases = append(out.leases, l)
			}
		default:
			out.unsettled[k] = id
		}
	}
	return out, nil
}
