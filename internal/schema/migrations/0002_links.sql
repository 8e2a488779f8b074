-- What is known of who belonged to whom: one row per link (identity.Link). The reader closes over it
-- transitively, subject to object here, object to subject in links_by_object.
-- valid_from and valid_to are Unix nanoseconds, the smallest and largest Int64 for "always" and "for
-- ever"; a link that opens or closes uses valid_from alone, one that was merely seen neither.
-- Of the same link told twice one row stays, with the first time at which anyone observed it and the first
-- at which the store had it: a judgement, or a reading, "as of" a moment must not lose what was known by
-- then, whatever was told again since. Of those who told it the first by name stays, so that nothing
-- depends on the order of arrival.
-- ref is the record that says so; "" where identifiers were merely seen together, on any record that has
-- both of them (random digits were a fifth of this table).
-- A lookup finds a few rows: small granules, which cost nothing here (128 instead of 512: 28.2 and 28.0 bytes a link, a quarter of the rows read).
-- Times of links are of two values, "always" and "for ever", or of a record: differences from one row to the next are larger than they are.
CREATE TABLE IF NOT EXISTS links
(
    subject_kind  LowCardinality(String) CODEC(ZSTD(1)),
    subject_id    String CODEC(ZSTD(1)),
    object_kind   LowCardinality(String) CODEC(ZSTD(1)),
    object_id     String CODEC(ZSTD(1)),
    type          LowCardinality(String) CODEC(ZSTD(1)),
    valid_from    Int64 CODEC(ZSTD(1)),
    valid_to      Int64 CODEC(ZSTD(1)),
    service       SimpleAggregateFunction(min, LowCardinality(String)) CODEC(ZSTD(1)),
    ref           SimpleAggregateFunction(min, String) CODEC(ZSTD(1)),
    observed_time SimpleAggregateFunction(min, DateTime64(9, 'UTC')) CODEC(ZSTD(1)),
    ingested_time SimpleAggregateFunction(min, DateTime64(9, 'UTC')) CODEC(ZSTD(1))
)
ENGINE = AggregatingMergeTree
ORDER BY (subject_kind, subject_id, object_kind, object_id, type, valid_from, valid_to)
SETTINGS index_granularity = 128, non_replicated_deduplication_window = 1000
