-- Until when a replica has a workflow for itself. A lease that lapses, or that a wake-up takes away, costs
-- nothing but a second look: whoever runs a step holds the allocation and reads the workflow anew.
ALTER TABLE workflows ADD COLUMN leased_until INTEGER NOT NULL DEFAULT 0
