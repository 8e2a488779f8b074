CREATE TABLE IF NOT EXISTS liveness_local ON CLUSTER main
(
    service        LowCardinality(String) CODEC(ZSTD(1)),
    minute         DateTime64(0, 'UTC') CODEC(Delta, ZSTD(1)),
    scope          LowCardinality(String) CODEC(ZSTD(1)),
    layer          LowCardinality(String) CODEC(ZSTD(1)),
    records        SimpleAggregateFunction(sum, UInt64) CODEC(T64, ZSTD(1)),
    errors         SimpleAggregateFunction(sum, UInt64) CODEC(T64, ZSTD(1)),
    first          SimpleAggregateFunction(min, DateTime64(9, 'UTC')) CODEC(T64, ZSTD(1)),
    last           SimpleAggregateFunction(max, DateTime64(9, 'UTC')) CODEC(T64, ZSTD(1)),
    first_observed SimpleAggregateFunction(min, DateTime64(9, 'UTC')) CODEC(T64, ZSTD(1)),
    last_ingested  SimpleAggregateFunction(max, DateTime) CODEC(Delta, ZSTD(1))
)
ENGINE = ReplicatedAggregatingMergeTree('/clickhouse/tables/{shard}/{database}/{table}', '{replica}')
ORDER BY (minute, service, scope, layer)
SETTINGS replicated_deduplication_window = 1000;

CREATE TABLE IF NOT EXISTS liveness ON CLUSTER main AS liveness_local
ENGINE = Distributed('main', currentDatabase(), 'liveness_local', rand());
