-- One task per attempt of a step: a step that runs twice queues once.
CREATE UNIQUE INDEX tasks_by_step ON tasks (workflow_id, step, attempt)
