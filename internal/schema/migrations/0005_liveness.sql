-- Whether a layer's telemetry was alive, minute by minute, without touching evidence: one short range
-- per source ("service = ? AND minute BETWEEN"). A layer is decided when it is read, so the row keeps
-- what the catalogue asks for: service, scope, and the layer that the emitter states.
-- first_observed answers "as of". `records` counts rows: a record delivered twice counts twice here,
-- because alive is alive; do not use it as a number of records.
CREATE TABLE IF NOT EXISTS liveness
(
    service        LowCardinality(String) CODEC(ZSTD(1)),
    minute         DateTime64(0, 'UTC') CODEC(Delta, ZSTD(1)),
    scope          LowCardinality(String) CODEC(ZSTD(1)),
    layer          LowCardinality(String) CODEC(ZSTD(1)),
    records        SimpleAggregateFunction(sum, UInt64) CODEC(T64, ZSTD(1)),
    errors         SimpleAggregateFunction(sum, UInt64) CODEC(T64, ZSTD(1)),
    first          SimpleAggregateFunction(min, DateTime64(9, 'UTC')) CODEC(Delta, ZSTD(1)),
    last           SimpleAggregateFunction(max, DateTime64(9, 'UTC')) CODEC(Delta, ZSTD(1)),
    first_observed SimpleAggregateFunction(min, DateTime64(9, 'UTC')) CODEC(Delta, ZSTD(1)),
    last_ingested  SimpleAggregateFunction(max, DateTime) CODEC(Delta, ZSTD(1))
)
ENGINE = AggregatingMergeTree
ORDER BY (service, minute, scope, layer)
TTL last_ingested + INTERVAL 90 DAY
SETTINGS non_replicated_deduplication_window = 1000
