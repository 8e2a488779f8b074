CREATE TABLE IF NOT EXISTS allocations_local ON CLUSTER main
(
    allocation_id String CODEC(ZSTD(1)),
    first_seen    SimpleAggregateFunction(min, DateTime64(9, 'UTC')) CODEC(T64, ZSTD(1)),
    last_seen     SimpleAggregateFunction(max, DateTime64(9, 'UTC')) CODEC(ZSTD(1)),
    last_ingested SimpleAggregateFunction(max, DateTime) CODEC(ZSTD(1))
)
ENGINE = ReplicatedAggregatingMergeTree('/clickhouse/tables/{shard}/{database}/{table}', '{replica}')
ORDER BY allocation_id
SETTINGS index_granularity = 64, replicated_deduplication_window = 1000;

CREATE TABLE IF NOT EXISTS allocations ON CLUSTER main AS allocations_local
ENGINE = Distributed('main', currentDatabase(), 'allocations_local', cityHash64(allocation_id));
