CREATE MATERIALIZED VIEW IF NOT EXISTS allocations_feed ON CLUSTER main TO allocations_local AS
SELECT
    allocation_id,
    min(time) AS first_seen,
    max(time) AS last_seen,
    toDateTime(max(ingested_time)) AS last_ingested
FROM events_local
WHERE allocation_id != ''
GROUP BY allocation_id;
