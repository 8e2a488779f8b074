CREATE MATERIALIZED VIEW IF NOT EXISTS links_by_time_feed ON CLUSTER main TO links_by_time_local AS
SELECT now64(6, 'UTC') AS stored_time, service, subject_kind, subject_id, object_kind, object_id, type, valid_from, valid_to
FROM links_local;
