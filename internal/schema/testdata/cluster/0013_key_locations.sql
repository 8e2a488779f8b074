CREATE TABLE IF NOT EXISTS key_locations_local ON CLUSTER main
(
    key           String CODEC(ZSTD(1)),
    allocation_id String CODEC(ZSTD(1)),
    first_minute  SimpleAggregateFunction(min, Int32) CODEC(ZSTD(1)),
    last_minute   SimpleAggregateFunction(max, Int32) CODEC(ZSTD(1)),
    max_skew        SimpleAggregateFunction(max, UInt32) CODEC(T64, ZSTD(1)),
    last_ingested SimpleAggregateFunction(max, DateTime) CODEC(ZSTD(1))
)
ENGINE = ReplicatedAggregatingMergeTree('/clickhouse/tables/{shard}/{database}/{table}', '{replica}')
ORDER BY (key, allocation_id)
SETTINGS index_granularity = 128, replicated_deduplication_window = 1000;

CREATE TABLE IF NOT EXISTS key_locations ON CLUSTER main AS key_locations_local
ENGINE = Distributed('main', currentDatabase(), 'key_locations_local', rand());
