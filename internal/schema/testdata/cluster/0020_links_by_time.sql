CREATE TABLE IF NOT EXISTS links_by_time_local ON CLUSTER main
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
ENGINE = ReplicatedMergeTree('/clickhouse/tables/{shard}/{database}/{table}', '{replica}')
PARTITION BY toYYYYMMDD(stored_time)
ORDER BY stored_time
TTL toDateTime(stored_time) + INTERVAL 30 DAY
SETTINGS default_compression_codec = 'ZSTD(1)', ttl_only_drop_parts = 1;

CREATE TABLE IF NOT EXISTS links_by_time ON CLUSTER main AS links_by_time_local
ENGINE = Distributed('main', currentDatabase(), 'links_by_time_local', cityHash64(subject_kind, subject_id));
