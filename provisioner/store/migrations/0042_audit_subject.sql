-- What was acted on, where it is neither an allocation nor a node: a message of the outbox, a task.
ALTER TABLE audit ADD COLUMN subject TEXT NOT NULL DEFAULT ''
