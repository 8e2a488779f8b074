-- The allocation.state events alone, narrow: the state of every allocation, and since when, is worked
-- out from these few rows. The same event delivered twice is one row after merging and changes nothing
-- before.
CREATE TABLE IF NOT EXISTS states
(
    allocation_id String,
    time          DateTime64(9, 'UTC'),
    state         LowCardinality(String),
    key           FixedString(32),
    reason        String,
    observed_time DateTime64(9, 'UTC'),
    ingested_time DateTime64(9, 'UTC')
)
ENGINE = ReplacingMergeTree
ORDER BY (allocation_id, time, state, key)
TTL toDateTime(ingested_time) + INTERVAL 90 DAY
SETTINGS non_replicated_deduplication_window = 1000
