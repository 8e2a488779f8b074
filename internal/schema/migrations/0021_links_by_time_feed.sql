-- Fills links_by_time.
CREATE MATERIALIZED VIEW IF NOT EXISTS links_by_time_feed TO links_by_time AS
SELECT now64(6, 'UTC') AS stored_time, service, subject_kind, subject_id, object_kind, object_id, type, valid_from, valid_to
FROM links
