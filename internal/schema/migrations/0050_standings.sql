-- The last word on every allocation: what `verdicts` ends with, one row each, so that questions over all
-- allocations (stuck, drift, incidents) read no history. `answer` is the change as JSON. Of two rows the one
-- that was judged later stays; readers say FINAL.
-- notable: there is something to tell; the others are only counted.
CREATE TABLE IF NOT EXISTS standings
(
    allocation_id String,
    as_of         DateTime64(9, 'UTC'),
    outcome       LowCardinality(String),
    notable       UInt8,
    answer        String CODEC(ZSTD(3)),
    ingested_time DateTime64(9, 'UTC')
)
ENGINE = ReplacingMergeTree(as_of)
ORDER BY allocation_id
TTL toDateTime(ingested_time) + INTERVAL 400 DAY
SETTINGS non_replicated_deduplication_window = 1000
