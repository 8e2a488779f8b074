-- links in the order in which the store took them, as they were told: what a Collector asks every few
-- seconds is "what came since" (processors/identityprocessor/linkstore), and links, ordered by subject,
-- can only answer that by a scan.
-- stored_time is the store's own clock at the insert, one value an insert: the clocks of those who write
-- don't matter to those who follow. Rows are never replaced; a link told twice is there twice.
-- By day, so that old ones go as whole parts. Identifiers are all of a row (10.8 of 22 bytes with ZSTD, LZ4 23 of 45); its time, a value
-- an insert, is next to nothing.
CREATE TABLE IF NOT EXISTS links_by_time
(
    stored_time   DateTime64(6, 'UTC') CODEC(Delta, ZSTD),
    service       LowCardinality(String),
    subject_kind  LowCardinality(String),
    subject_id    String,
    object_kind   LowCardinality(String),
    object_id     String,
    type          LowCardinality(String),
    valid_from    Int64,
    valid_to      Int64
)
ENGINE = MergeTree
PARTITION BY toYYYYMMDD(stored_time)
ORDER BY stored_time
TTL toDateTime(stored_time) + INTERVAL 30 DAY
SETTINGS default_compression_codec = 'ZSTD(1)', ttl_only_drop_parts = 1
