-- The allocation.state events alone, narrow: the state of every allocation, and since when, is worked
-- out from these few rows. The same event delivered twice is one row after merging and changes nothing
-- before.
CREATE TABLE IF NOT EXISTS states
(
    allocation_id String CODEC(ZSTD(1)),
    time          DateTime64(9, 'UTC') CODEC(Delta, ZSTD(1)),
    state         LowCardinality(String) CODEC(ZSTD(1)),
    key           FixedString(16) CODEC(ZSTD(1)),
    reason        String CODEC(ZSTD(1)),
    observed_time DateTime64(9, 'UTC') CODEC(Delta, ZSTD(1)),
    ingested_time DateTime64(9, 'UTC') CODEC(Delta, ZSTD(1))
)
ENGINE = ReplacingMergeTree
ORDER BY (allocation_id, time, state, key)
TTL toDateTime(ingested_time) + INTERVAL 90 DAY
SETTINGS index_granularity = 512, non_replicated_deduplication_window = 1000
