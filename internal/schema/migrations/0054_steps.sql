-- What steps of lifecycles took, so that what is late is known by experience: "step, took WHERE ended within four
-- weeks", asked every few minutes by whoever judges. By step and end, so that a question reads its four weeks whatever is
-- kept (a million rows of three) and equal neighbours compress; by week, so that FINAL looks for a step that was filed twice, which is
-- one row, within a week, and old weeks go as whole parts. T64 takes 5.3 bytes of an end (Delta 5.9) and 4.9 of a duration (ZSTD alone 5.8);
-- a row is 28 bytes, 44 with LZ4.
CREATE TABLE IF NOT EXISTS steps
(
    step          LowCardinality(String) CODEC(ZSTD(1)),
    ended         DateTime64(9, 'UTC') CODEC(T64, ZSTD(1)),
    allocation_id String CODEC(ZSTD(1)),
    part          String CODEC(ZSTD(1)),
    took          Int64 CODEC(T64, ZSTD(1)),
    ingested_time DateTime64(3, 'UTC') DEFAULT now64(3, 'UTC') CODEC(ZSTD(1))
)
ENGINE = ReplacingMergeTree(ingested_time)
PARTITION BY toMonday(ended)
ORDER BY (step, ended, allocation_id, part)
SETTINGS non_replicated_deduplication_window = 1000
