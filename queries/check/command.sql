-- name: signal_of_nothing
-- Every signal belongs to a run and was made by an accepted command of the same workflow id.
SELECT s.signal_id, s.run_id, s.command_id
FROM signals s
LEFT JOIN workflow_runs r ON r.run_id = s.run_id AND r.workflow_id = s.workflow_id
LEFT JOIN commands c ON c.command_id = s.command_id AND c.workflow_id = s.workflow_id AND c.type = 'signal'
    AND c.status = 'accepted'
WHERE r.run_id IS NULL OR c.command_id IS NULL
ORDER BY s.signal_id;

-- name: signal_status
-- A signal's status agrees with its close, and its arrival is in history.
SELECT s.signal_id, s.status, s.closed_at, s.workflow_sequence, s.received_sequence,
    COALESCE(e.event_type, '') AS event_type
FROM signals s
LEFT JOIN history_events e ON e.run_id = s.run_id AND e.sequence = s.received_sequence
WHERE s.status NOT IN ('received', 'applied', 'rejected') OR (s.status = 'received') <> (s.closed_at = 0)
   OR s.status <> 'applied' AND s.workflow_sequence > 0
   OR COALESCE(e.event_type, '') <> 'SignalReceived'
ORDER BY s.signal_id;

-- name: signal_lost
-- Every accepted signal command has its signal, once.
SELECT c.command_id, c.run_id, COALESCE(s.signals, 0) AS signals
FROM commands c
LEFT JOIN (SELECT command_id, COUNT(*) AS signals FROM signals GROUP BY command_id) s ON s.command_id = c.command_id
WHERE c.type = 'signal' AND c.status = 'accepted' AND COALESCE(s.signals, 0) <> 1
ORDER BY c.command_id;

-- name: signal_arrivals
-- A run's history tells of as many signals as the run has.
SELECT r.run_id, COALESCE(e.arrivals, 0) AS arrivals, COALESCE(s.signals, 0) AS signals
FROM workflow_runs r
LEFT JOIN (
    SELECT run_id, COUNT(*) AS arrivals FROM history_events WHERE event_type = 'SignalReceived' GROUP BY run_id
) e ON e.run_id = r.run_id
LEFT JOIN (SELECT run_id, COUNT(*) AS signals FROM signals GROUP BY run_id) s ON s.run_id = r.run_id
-- Signals that were not applied move on with continue-as-new; their arrival stays in the old history too.
WHERE COALESCE(e.arrivals, 0) < COALESCE(s.signals, 0)
   OR (r.closed_reason <> 'continued' AND COALESCE(e.arrivals, 0) <> COALESCE(s.signals, 0))
ORDER BY r.run_id;

-- name: command_of_nothing
-- Every command belongs to a run of its workflow id.
SELECT c.command_id, c.workflow_id, c.run_id
FROM commands c
LEFT JOIN workflow_runs r ON r.run_id = c.run_id AND r.workflow_id = c.workflow_id AND r.namespace = c.namespace
WHERE r.run_id IS NULL
ORDER BY c.command_id;

-- name: command_sequence
-- Commands of a run are numbered, each number once, up to the run's last_command_sequence.
SELECT c.run_id, c.sequence, c.commands, COALESCE(r.last_command_sequence, 0) AS last_command_sequence
FROM (SELECT run_id, sequence, COUNT(*) AS commands FROM commands GROUP BY run_id, sequence) c
LEFT JOIN workflow_runs r ON r.run_id = c.run_id
WHERE c.commands > 1 OR c.sequence < 1 OR c.sequence > COALESCE(r.last_command_sequence, 0)
ORDER BY c.run_id, c.sequence;

-- name: command_in_vain
-- An accepted cancel or terminate closed its run.
SELECT c.command_id, c.type, c.run_id, r.status
FROM commands c
JOIN workflow_runs r ON r.run_id = c.run_id
WHERE c.status = 'accepted' AND ((c.type = 'cancel' AND r.status <> 'cancelled') OR (c.type = 'terminate' AND r.status <> 'terminated'))
ORDER BY c.command_id;

-- name: command_request
-- A request_id is bound to a command that exists and carries it.
SELECT q.workflow_id, q.command_type, q.request_id, q.command_id
FROM command_requests q
LEFT JOIN commands c ON c.command_id = q.command_id AND c.type = q.command_type
WHERE c.command_id IS NULL
ORDER BY q.command_id;
