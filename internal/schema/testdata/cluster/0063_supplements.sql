CREATE TABLE IF NOT EXISTS supplements_local ON CLUSTER main
(
    allocation_id String CODEC(ZSTD(1)),
    judged_at     DateTime64(9, 'UTC') CODEC(T64, ZSTD(1)),
    rules_version LowCardinality(String) CODEC(ZSTD(1)),
    answer        String CODEC(ZSTD(3)),
    ingested_time DateTime64(9, 'UTC') CODEC(T64, ZSTD(1))
)
ENGINE = ReplicatedReplacingMergeTree('/clickhouse/tables/{shard}/{database}/{table}', '{replica}', judged_at)
ORDER BY allocation_id
SETTINGS index_granularity = 64, replicated_deduplication_window = 1000;

CREATE TABLE IF NOT EXISTS supplements ON CLUSTER main AS supplements_local
ENGINE = Distributed('main', currentDatabase(), 'supplements_local', cityHash64(allocation_id));
