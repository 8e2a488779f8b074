-- How long each kind of evidence is kept (schema.Retention; `faultline store retention` changes it): lifecycle events
-- 400 days, what names a machine 90, the rest 14. Heartbeats and polls are plain records: `liveness` keeps what they say.
-- A row goes with the week in which it came, so that a part is rewritten once when a kind expires (ttl_only_drop_parts
-- would keep a mixed part until the last of its rows expires), and dropped as a whole at the end.
ALTER TABLE events (MODIFY SETTING ttl_only_drop_parts = 0), (MODIFY TTL
    toMonday(ingested_time) + toIntervalDay(407),
    toMonday(ingested_time) + toIntervalDay(21) WHERE (node_id = '') AND (node_instance_id = '') AND (name NOT IN ('identity.binding', 'allocation.state', 'node.assigned', 'node.unassigned', 'node.instance', 'node.occupancy', 'workflow.state', 'task.state', 'provider_job.state', 'projection.observed', 'outbox.record', 'audit.action', 'deploy.change')),
    toMonday(ingested_time) + toIntervalDay(97) WHERE name NOT IN ('identity.binding', 'allocation.state', 'node.assigned', 'node.unassigned', 'node.instance', 'node.occupancy', 'workflow.state', 'task.state', 'provider_job.state', 'projection.observed', 'outbox.record', 'audit.action', 'deploy.change'))
