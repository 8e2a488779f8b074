-- What judging leaves behind of an allocation beside the rows that were stamped with it (correlator.Supplement): its last verdict, and where
-- the few records of its timeline lie that were not. Both together are the answer to "show me this allocation", in two ranges. Of two
-- rows the one that was judged later stays. Granules of 64 rows: one is read.
CREATE TABLE IF NOT EXISTS supplements
(
    allocation_id String CODEC(ZSTD(1)),
    judged_at     DateTime64(9, 'UTC') CODEC(T64, ZSTD(1)),
    rules_version LowCardinality(String) CODEC(ZSTD(1)),
    answer        String CODEC(ZSTD(3)),
    ingested_time DateTime64(9, 'UTC') CODEC(T64, ZSTD(1))
)
ENGINE = ReplacingMergeTree(judged_at)
ORDER BY allocation_id
SETTINGS index_granularity = 64, non_replicated_deduplication_window = 1000
