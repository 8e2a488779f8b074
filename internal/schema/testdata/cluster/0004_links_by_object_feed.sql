CREATE MATERIALIZED VIEW IF NOT EXISTS links_by_object_feed ON CLUSTER main TO links_by_object_local AS
SELECT object_kind, object_id, subject_kind, subject_id, type, valid_from, valid_to, observed_time, ingested_time
FROM links_local;
