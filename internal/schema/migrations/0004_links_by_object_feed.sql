-- Fills links_by_object.
CREATE MATERIALIZED VIEW IF NOT EXISTS links_by_object_feed TO links_by_object AS
SELECT object_kind, object_id, subject_kind, subject_id, type, valid_from, valid_to, observed_time, ingested_time
FROM links
