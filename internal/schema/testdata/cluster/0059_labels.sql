CREATE TABLE IF NOT EXISTS labels_local ON CLUSTER main
(
    allocation_id String CODEC(ZSTD(1)),
    label         LowCardinality(String) CODEC(ZSTD(1)),
    value         String CODEC(ZSTD(1)),
    first_seen    SimpleAggregateFunction(min, DateTime64(9, 'UTC')) CODEC(T64, ZSTD(1)),
    last_ingested SimpleAggregateFunction(max, DateTime) CODEC(ZSTD(1))
)
ENGINE = ReplicatedAggregatingMergeTree('/clickhouse/tables/{shard}/{database}/{table}', '{replica}')
ORDER BY (allocation_id, label, value)
SETTINGS index_granularity = 256, replicated_deduplication_window = 1000;

CREATE TABLE IF NOT EXISTS labels ON CLUSTER main AS labels_local
ENGINE = Distributed('main', currentDatabase(), 'labels_local', cityHash64(allocation_id));
