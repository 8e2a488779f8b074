CREATE MATERIALIZED VIEW IF NOT EXISTS standings_feed ON CLUSTER main TO standings_local AS
SELECT
    allocation_id,
    as_of,
    outcome,
    outcome != 'none' OR JSONHas(answer, 'standing', 'stuck', 'what') OR JSONLength(answer, 'standing', 'verdict', 'drift') > 0
        OR JSONLength(answer, 'standing', 'orphans') > 0 AS notable,
    answer,
    ingested_time
FROM verdicts_local;
