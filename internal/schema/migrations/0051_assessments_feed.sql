-- Fills assessments.
CREATE MATERIALIZED VIEW IF NOT EXISTS assessments_feed TO assessments AS
SELECT
    allocation_id,
    as_of,
    outcome,
    outcome != 'none' OR JSONHas(answer, 'assessment', 'stuck', 'what') OR JSONLength(answer, 'assessment', 'verdict', 'drift') > 0
        OR JSONLength(answer, 'assessment', 'orphans') > 0 AS notable,
    answer,
    ingested_time
FROM verdicts
