-- What steps of lifecycles took, so that what is late is known by experience: "step, took WHERE ended within four
-- weeks", asked every few minutes by whoever judges. By week, so that a question reads four or five parts' weeks
-- whatever is kept; by step and end, so that equal neighbours compress. A step filed twice is one row.
CREATE TABLE IF NOT EXISTS steps
(
    step          LowCardinality(String),
    ended         DateTime64(9, 'UTC') CODEC(Delta, ZSTD(1)),
    allocation_id String,
    part          String CODEC(ZSTD(1)),
    took          Int64 CODEC(T64, ZSTD(1)),
    ingested_time DateTime64(3, 'UTC') DEFAULT now64(3, 'UTC')
)
ENGINE = ReplacingMergeTree(ingested_time)
PARTITION BY toMonday(ended)
ORDER BY (step, ended, allocation_id, part)
TTL toMonday(ended) + toIntervalDay(407)
SETTINGS non_replicated_deduplication_window = 1000
