-- Of what was refused or denied: why. Of what was done: what else has changed.
ALTER TABLE audit ADD COLUMN detail TEXT NOT NULL DEFAULT ''
