CREATE TABLE IF NOT EXISTS states_local ON CLUSTER main
(
    allocation_id String CODEC(ZSTD(1)),
    time          DateTime64(9, 'UTC') CODEC(T64, ZSTD(1)),
    state         LowCardinality(String) CODEC(ZSTD(1)),
    key           FixedString(12) CODEC(ZSTD(1)),
    reason        String CODEC(ZSTD(1)),
    observed_time DateTime64(9, 'UTC') CODEC(T64, ZSTD(1)),
    ingested_time DateTime64(9, 'UTC') CODEC(ZSTD(1))
)
ENGINE = ReplicatedReplacingMergeTree('/clickhouse/tables/{shard}/{database}/{table}', '{replica}')
ORDER BY (allocation_id, time, state, key)
SETTINGS replicated_deduplication_window = 1000;

CREATE TABLE IF NOT EXISTS states ON CLUSTER main AS states_local
ENGINE = Distributed('main', currentDatabase(), 'states_local', cityHash64(allocation_id));
