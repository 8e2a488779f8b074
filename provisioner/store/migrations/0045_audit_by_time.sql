-- The audit log, newest first, page by page.
CREATE INDEX audit_by_time ON audit (at, audit_id)
