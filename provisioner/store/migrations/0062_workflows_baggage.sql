-- Members of the caller's baggage that are not ours: providers get them.
ALTER TABLE workflows ADD COLUMN baggage TEXT NOT NULL DEFAULT ''
