CREATE TABLE IF NOT EXISTS verdicts_local ON CLUSTER main
(
    allocation_id String CODEC(ZSTD(1)),
    as_of         DateTime64(9, 'UTC') CODEC(Delta, ZSTD(1)),
    rules_version LowCardinality(String) CODEC(ZSTD(1)),
    outcome       LowCardinality(String) CODEC(ZSTD(1)),
    layer         LowCardinality(String) CODEC(ZSTD(1)),
    mechanism     LowCardinality(String) CODEC(ZSTD(1)),
    answer        String CODEC(ZSTD(3)),
    ingested_time DateTime64(9, 'UTC') CODEC(Delta, ZSTD(1))
)
ENGINE = ReplicatedReplacingMergeTree('/clickhouse/tables/{shard}/{database}/{table}', '{replica}', ingested_time)
ORDER BY (allocation_id, as_of, rules_version)
SETTINGS index_granularity = 256, replicated_deduplication_window = 1000;

CREATE TABLE IF NOT EXISTS verdicts ON CLUSTER main AS verdicts_local
ENGINE = Distributed('main', currentDatabase(), 'verdicts_local', cityHash64(allocation_id));
