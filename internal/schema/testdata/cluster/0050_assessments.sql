CREATE TABLE IF NOT EXISTS assessments_local ON CLUSTER main
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
SETTINGS index_granularity = 256, replicated_deduplication_window = 1000;

CREATE TABLE IF NOT EXISTS assessments ON CLUSTER main AS assessments_local
ENGINE = Distributed('main', currentDatabase(), 'assessments_local', cityHash64(allocation_id));
