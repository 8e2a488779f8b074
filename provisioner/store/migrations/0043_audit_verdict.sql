-- The verdict that justified it, as JSON; says so where there was none.
ALTER TABLE audit ADD COLUMN verdict TEXT NOT NULL DEFAULT ''
