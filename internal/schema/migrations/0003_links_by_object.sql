-- links from the other end: "which subjects lead to this allocation", and onwards. Same rows, same rule;
-- which record said so stands in links alone. Granules and codecs are those of links, for the same reasons (the same was measured here).
CREATE TABLE IF NOT EXISTS links_by_object
(
    object_kind   LowCardinality(String) CODEC(ZSTD(1)),
    object_id     String CODEC(ZSTD(1)),
    subject_kind  LowCardinality(String) CODEC(ZSTD(1)),
    subject_id    String CODEC(ZSTD(1)),
    type          LowCardinality(String) CODEC(ZSTD(1)),
    valid_from    Int64 CODEC(ZSTD(1)),
    valid_to      Int64 CODEC(ZSTD(1)),
    observed_time SimpleAggregateFunction(min, DateTime64(9, 'UTC')) CODEC(ZSTD(1)),
    ingested_time SimpleAggregateFunction(min, DateTime64(9, 'UTC')) CODEC(ZSTD(1))
)
ENGINE = AggregatingMergeTree
ORDER BY (object_kind, object_id, subject_kind, subject_id, type, valid_from, valid_to)
SETTINGS index_granularity = 128, non_replicated_deduplication_window = 1000
