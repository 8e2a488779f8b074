-- One workflow of an allocation at a time; a cancel waits for the provision to stop.
CREATE UNIQUE INDEX one_open_workflow ON workflows (allocation_id, operation) WHERE state IN ('scheduled', 'running', 'waiting', 'cancel_requested')
