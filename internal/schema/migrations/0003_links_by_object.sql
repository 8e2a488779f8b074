-- links from the other end: "which subjects lead to this allocation", and onwards. Same rows, same rule.
CREATE TABLE IF NOT EXISTS links_by_object
(
    object_kind   LowCardinality(String),
    object_id     String,
    subject_kind  LowCardinality(String),
    subject_id    String,
    type          LowCardinality(String),
    valid_from    Int64,
    valid_to      Int64,
    service       LowCardinality(String),
    ref           String,
    observed_time DateTime64(9, 'UTC'),
    ingested_time DateTime64(9, 'UTC'),
    earliest      UInt64 MATERIALIZED bitNot(reinterpretAsUInt64(toUnixTimestamp64Nano(observed_time)))
)
ENGINE = ReplacingMergeTree(earliest)
ORDER BY (object_kind, object_id, subject_kind, subject_id, type, valid_from, valid_to)
SETTINGS non_replicated_deduplication_window = 1000
