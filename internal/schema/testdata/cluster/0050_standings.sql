CREATE TABLE IF NOT EXISTS standings_local ON CLUSTER main
(
    allocation_id String CODEC(ZSTD(1)),
    as_of         DateTime64(9, 'UTC') CODEC(T64, ZSTD(1)),
    outcome       LowCardinality(String) CODEC(ZSTD(1)),
    notable       UInt8 CODEC(T64, ZSTD(1)),
    answer        String CODEC(ZSTD(3)),
    ingested_time DateTime64(9, 'UTC') CODEC(T64, ZSTD(1))
)
ENGINE = ReplicatedReplacingMergeTree('/clickhouse/tables/{shard}/{database}/{table}', '{replica}', as_of)
ORDER BY allocation_id
TTL toDateTime(ingested_time) + INTERVAL 400 DAY
SETTINGS index_granularity = 256, replicated_deduplication_window = 1000;

CREATE TABLE IF NOT EXISTS standings ON CLUSTER main AS standings_local
ENGINE = Distributed('main', currentDatabase(), 'standings_local', cityHash64(allocation_id));
