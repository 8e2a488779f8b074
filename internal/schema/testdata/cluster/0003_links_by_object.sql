CREATE TABLE IF NOT EXISTS links_by_object_local ON CLUSTER main
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
ENGINE = ReplicatedAggregatingMergeTree('/clickhouse/tables/{shard}/{database}/{table}', '{replica}')
ORDER BY (object_kind, object_id, subject_kind, subject_id, type, valid_from, valid_to)
SETTINGS index_granularity = 128, replicated_deduplication_window = 1000;

CREATE TABLE IF NOT EXISTS links_by_object ON CLUSTER main AS links_by_object_local
ENGINE = Distributed('main', currentDatabase(), 'links_by_object_local', cityHash64(subject_kind, subject_id));
