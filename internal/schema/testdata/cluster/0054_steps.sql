CREATE TABLE IF NOT EXISTS steps_local ON CLUSTER main
(
    step          LowCardinality(String) CODEC(ZSTD(1)),
    ended         DateTime64(9, 'UTC') CODEC(T64, ZSTD(1)),
    allocation_id String CODEC(ZSTD(1)),
    part          String CODEC(ZSTD(1)),
    took          Int64 CODEC(T64, ZSTD(1)),
    ingested_time DateTime64(3, 'UTC') DEFAULT now64(3, 'UTC') CODEC(ZSTD(1))
)
ENGINE = ReplicatedReplacingMergeTree('/clickhouse/tables/{shard}/{database}/{table}', '{replica}', ingested_time)
PARTITION BY toMonday(ended)
ORDER BY (step, ended, allocation_id, part)
SETTINGS replicated_deduplication_window = 1000;

CREATE TABLE IF NOT EXISTS steps ON CLUSTER main AS steps_local
ENGINE = Distributed('main', currentDatabase(), 'steps_local', cityHash64(allocation_id));
