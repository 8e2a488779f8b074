CREATE TABLE IF NOT EXISTS verdicts_local ON CLUSTER main
(
    allocation_id String,
    as_of         DateTime64(9, 'UTC'),
    rules_version LowCardinality(String),
    outcome       LowCardinality(String),
    layer         LowCardinality(String),
    mechanism     LowCardinality(String),
    answer        String CODEC(ZSTD(3)),
    ingested_time DateTime64(9, 'UTC')
)
ENGINE = ReplicatedReplacingMergeTree('/clickhouse/tables/{shard}/{database}/{table}', '{replica}', ingested_time)
ORDER BY (allocation_id, as_of, rules_version)
TTL toDateTime(ingested_time) + INTERVAL 90 DAY
SETTINGS replicated_deduplication_window = 1000;

CREATE TABLE IF NOT EXISTS verdicts ON CLUSTER main AS verdicts_local
ENGINE = Distributed('main', currentDatabase(), 'verdicts_local', cityHash64(allocation_id));
