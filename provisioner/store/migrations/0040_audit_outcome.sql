-- done, refused (a guard said no) or denied (the caller may not).
ALTER TABLE audit ADD COLUMN outcome TEXT NOT NULL DEFAULT 'done'
