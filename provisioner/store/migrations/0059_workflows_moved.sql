-- Since when a workflow is where it is: what is stuck says so.
ALTER TABLE workflows ADD COLUMN moved_at INTEGER NOT NULL DEFAULT 0
