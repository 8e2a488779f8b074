CREATE TABLE IF NOT EXISTS events_local ON CLUSTER main
(
    key              FixedString(16) CODEC(ZSTD(1)),
    signal           Enum8('log' = 1, 'span' = 2) CODEC(ZSTD(1)),
    time             DateTime64(9, 'UTC') CODEC(Delta, ZSTD(1)),
    minute           Int32 MATERIALIZED intDiv(toUnixTimestamp64Nano(time), 60000000000) CODEC(Delta, ZSTD(1)),
    end_time         DateTime64(9, 'UTC') CODEC(ZSTD(1)),
    observed_delay   Int64 CODEC(T64('bit'), ZSTD(1)),
    observed_time    DateTime64(9, 'UTC') ALIAS fromUnixTimestamp64Nano(toUnixTimestamp64Nano(time) + observed_delay, 'UTC'),
    ingested_time    DateTime64(9, 'UTC') CODEC(ZSTD(1)),
    service          LowCardinality(String) CODEC(ZSTD(1)),
    scope            LowCardinality(String) CODEC(ZSTD(1)),
    name             LowCardinality(String) CODEC(ZSTD(1)),
    severity         Int32 CODEC(ZSTD(1)),
    severity_text    LowCardinality(String) CODEC(ZSTD(1)),
    body             String CODEC(ZSTD(1)),
    trace_id         String CODEC(ZSTD(1)),
    span_id          String CODEC(ZSTD(1)),
    parent_span_id   String CODEC(ZSTD(1)),
    span_kind        LowCardinality(String) CODEC(ZSTD(1)),
    status           LowCardinality(String) CODEC(ZSTD(1)),
    status_message   String CODEC(ZSTD(1)),
    span_events      String CODEC(ZSTD(1)),
    allocation_id    String CODEC(ZSTD(1)),
    workflow_id      String CODEC(ZSTD(1)),
    correlation_id   String CODEC(ZSTD(1)),
    node_id          String CODEC(ZSTD(1)),
    node_instance_id String CODEC(ZSTD(1)),
    request_id       String CODEC(ZSTD(1)),
    task_id          String CODEC(ZSTD(1)),
    claim_id         String CODEC(ZSTD(1)),
    boot_id          String CODEC(ZSTD(1)),
    outbox_id        String CODEC(ZSTD(1)),
    resource_uid     String CODEC(ZSTD(1)),
    provider_job     String CODEC(ZSTD(1)),
    via              LowCardinality(String) CODEC(ZSTD(1)),
    keys_rest        Array(String) CODEC(ZSTD(1)),
    resource_json    LowCardinality(String) CODEC(ZSTD(1)),
    attrs_rest       Map(LowCardinality(String), String) CODEC(ZSTD(3)),
    attrs_lifted     LowCardinality(String) CODEC(ZSTD(1)),
    stamped_rest     Map(LowCardinality(String), String) CODEC(ZSTD(1)),
    stamped_lifted   LowCardinality(String) CODEC(ZSTD(1)),
    resource         Map(LowCardinality(String), String) ALIAS JSONExtract(resource_json, 'Map(LowCardinality(String), String)'),
    lifted           Map(LowCardinality(String), String) ALIAS CAST([
                         ('allocation_id', allocation_id), ('workflow_id', workflow_id), ('correlation_id', correlation_id),
                         ('node_id', node_id), ('node_instance_id', node_instance_id), ('request_id', request_id), ('task_id', task_id),
                         ('claim_id', claim_id), ('boot_id', boot_id), ('outbox_id', outbox_id), ('resource_uid', resource_uid),
                         ('provider_job', provider_job), ('identity_via', toString(via))], 'Map(LowCardinality(String), String)'),
    attrs            Map(LowCardinality(String), String) ALIAS mapConcat(attrs_rest, mapFilter((k, v) -> has(splitByChar(',', attrs_lifted), k), lifted)),
    stamped          Map(LowCardinality(String), String) ALIAS mapConcat(stamped_rest, mapFilter((k, v) -> has(splitByChar(',', stamped_lifted), k), lifted)),
    keys             Array(String) ALIAS arrayConcat(arrayFilter(k -> NOT endsWith(k, ':'), [
                         concat('allocation:', allocation_id), concat('workflow:', workflow_id), concat('correlation:', correlation_id),
                         concat('node:', node_id), concat('node_instance:', node_instance_id), concat('trace:', trace_id),
                         concat('request:', request_id), concat('task:', task_id), concat('claim:', claim_id), concat('boot:', boot_id),
                         concat('outbox:', outbox_id), concat('resource:', resource_uid), concat('provider_job:', provider_job)]), keys_rest),
    INDEX by_allocation    allocation_id    TYPE bloom_filter(0.001) GRANULARITY 1,
    INDEX by_keys          keys             TYPE bloom_filter(0.001) GRANULARITY 1,
    INDEX by_node          node_id          TYPE bloom_filter(0.001) GRANULARITY 1,
    INDEX by_node_instance node_instance_id TYPE bloom_filter(0.001) GRANULARITY 1,
    INDEX by_trace         trace_id         TYPE bloom_filter(0.001) GRANULARITY 1,
    INDEX by_workflow      workflow_id      TYPE bloom_filter(0.001) GRANULARITY 1,
    INDEX by_time          time             TYPE minmax              GRANULARITY 1,
    PROJECTION by_service (SELECT service, minute, _part_offset ORDER BY service, minute)
)
ENGINE = ReplicatedMergeTree('/clickhouse/tables/{shard}/{database}/{table}', '{replica}')
PARTITION BY toMonday(ingested_time)
ORDER BY (allocation_id, node_id, service, time)
TTL toDateTime(ingested_time) + INTERVAL 90 DAY
SETTINGS index_granularity = 512, default_compression_codec = 'ZSTD(1)',
         min_bytes_for_wide_part = 1000000000000000, string_serialization_version = 'single_stream',
         ttl_only_drop_parts = 1, replicated_deduplication_window = 1000;

CREATE TABLE IF NOT EXISTS events ON CLUSTER main AS events_local
ENGINE = Distributed('main', currentDatabase(), 'events_local', cityHash64(multiIf(allocation_id != '', allocation_id, node_id != '', node_id, service)));
