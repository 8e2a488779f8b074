CREATE TABLE IF NOT EXISTS standings_local ON CLUSTER main
(
    allocation_id String,
    as_of         DateTime64(9, 'UTC'),
    outcome       LowCardinality(String),
    notable       UInt8,
    answer        String CODEC(ZSTD(3)),
    ingested_time DateTime64(9, 'UTC')
)
ENGINE = ReplicatedReplacingMergeTree('/clickhouse/tables/{shard}/{database}/{table}', '{replica}', as_of)
ORDER BY allocation_id
TTL toDateTime(ingested_time) + INTERVAL 400 DAY
SETTINGS replicated_deduplication_window = 1000;

CREATE TABLE IF NOT EXISTS standings ON CLUSTER main AS standings_local
ENGINE = Distributed('main', currentDatabase(), 'standings_local', cityHash64(allocation_id));
