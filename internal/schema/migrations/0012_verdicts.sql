-- Verdicts as they were given: the latest of an allocation, or the one as of a moment, is the end of one
-- range. The same judgement run again replaces itself. `answer` is the allocation's answer as JSON.
-- Granules of 256 rows: a history reads 95 KB, of 8,192 rows 7.6 MB, for 7 bytes a row. Of a row (62 bytes, answers of 900) the answer
-- is most: ZSTD(3) 39.4 bytes, ZSTD(1) 40.6, LZ4 71.
CREATE TABLE IF NOT EXISTS verdicts
(
    allocation_id String CODEC(ZSTD(1)),
    as_of         DateTime64(9, 'UTC') CODEC(Delta, ZSTD(1)),
    rules_version LowCardinality(String) CODEC(ZSTD(1)),
    outcome       LowCardinality(String) CODEC(ZSTD(1)),
    layer         LowCardinality(String) CODEC(ZSTD(1)),
    mechanism     LowCardinality(String) CODEC(ZSTD(1)),
    answer        String CODEC(ZSTD(3)),
    ingested_time DateTime64(9, 'UTC') CODEC(Delta, ZSTD(1))
)
ENGINE = ReplacingMergeTree(ingested_time)
ORDER BY (allocation_id, as_of, rules_version)
SETTINGS index_granularity = 256, non_replicated_deduplication_window = 1000
