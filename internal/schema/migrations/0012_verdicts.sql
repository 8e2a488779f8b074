-- Verdicts as they were given: the latest of an allocation, or the one as of a moment, is the end of one
-- range. The same judgement run again replaces itself. `answer` is the allocation's answer as JSON.
CREATE TABLE IF NOT EXISTS verdicts
(
    allocation_id String,
    as_of         DateTime64(9, 'UTC'),
    rules_version LowCardinality(String),
    outcome       LowCardinality(String),
    layer         LowCardinality(String),
    mechanism     LowCardinality(String),
    answer        String CODEC(ZSTD(3)),
    ingested_time DateTime64(9, 'UTC')
)
ENGINE = ReplacingMergeTree(ingested_time)
ORDER BY (allocation_id, as_of, rules_version)
TTL toDateTime(ingested_time) + INTERVAL 90 DAY
SETTINGS non_replicated_deduplication_window = 1000
