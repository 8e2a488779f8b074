-- What is known of who belonged to whom: one row per fact (identity.Fact). The reader closes over it
-- transitively, subject to object here, object to subject in links_by_object.
-- valid_from and valid_to are Unix nanoseconds, the smallest and largest Int64 for "always" and "for
-- ever"; a fact that opens or closes uses valid_from alone, one that was merely seen neither.
-- Of the same fact told twice the row that was observed first stays: a judgement "as of" a moment must
-- not lose what was known by then.
-- A lookup finds a few rows: small granules.
CREATE TABLE IF NOT EXISTS links
(
    subject_kind  LowCardinality(String) CODEC(ZSTD(1)),
    subject_id    String CODEC(ZSTD(1)),
    object_kind   LowCardinality(String) CODEC(ZSTD(1)),
    object_id     String CODEC(ZSTD(1)),
    type          LowCardinality(String) CODEC(ZSTD(1)),
    valid_from    Int64 CODEC(Delta, ZSTD(1)),
    valid_to      Int64 CODEC(Delta, ZSTD(1)),
    service       LowCardinality(String) CODEC(ZSTD(1)),
    ref           String CODEC(ZSTD(1)),
    observed_time DateTime64(9, 'UTC') CODEC(Delta, ZSTD(1)),
    ingested_time DateTime64(9, 'UTC') CODEC(Delta, ZSTD(1)),
    earliest      UInt64 MATERIALIZED bitNot(reinterpretAsUInt64(toUnixTimestamp64Nano(observed_time))) CODEC(Delta, ZSTD(1))
)
ENGINE = ReplacingMergeTree(earliest)
ORDER BY (subject_kind, subject_id, object_kind, object_id, type, valid_from, valid_to)
SETTINGS index_granularity = 512, non_replicated_deduplication_window = 1000
