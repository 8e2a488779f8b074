CREATE TABLE IF NOT EXISTS events_local ON CLUSTER main
(
    key              FixedString(12) CODEC(ZSTD(1)),
    signal           Enum8('log' = 1, 'span' = 2) CODEC(ZSTD(1)),
    time             DateTime64(9, 'UTC') CODEC(Delta, ZSTD(1)),
    minute           Int32 MATERIALIZED intDiv(toUnixTimestamp64Nano(time), 60000000000) CODEC(T64, ZSTD(1)),
    observed_delay   Int64 CODEC(T64('bit'), ZSTD(1)),
    ingested_time    DateTime64(9, 'UTC') CODEC(ZSTD(1)),
    service          LowCardinality(String) CODEC(ZSTD(1)),
    name             LowCardinality(String) CODEC(ZSTD(1)),
    severity         Int32 CODEC(ZSTD(1)),
    body             String CODEC(ZSTD(1)),
    trace_id         String CODEC(ZSTD(1)),
    span_id          String CODEC(ZSTD(1)),
    allocation_id    String CODEC(ZSTD(1)),
    workflow_id      String CODEC(ZSTD(1)),
    correlation_id   String CODEC(ZSTD(1)),
    node_id          String CODEC(ZSTD(1)),
    node_instance_id String CODEC(ZSTD(1)),
    keys_rest        Array(String) CODEC(ZSTD(1)),
    form_json        LowCardinality(String) CODEC(ZSTD(1)),
    resource_json    LowCardinality(String) CODEC(ZSTD(1)),
    attrs_rest       Map(LowCardinality(String), String) CODEC(ZSTD(3)),
    extra_json       String CODEC(ZSTD(1)),
    observed_time    DateTime64(9, 'UTC') ALIAS fromUnixTimestamp64Nano(toUnixTimestamp64Nano(time) + observed_delay, 'UTC'),
    scope            String ALIAS JSONExtractString(form_json, 'scope'),
    severity_text    String ALIAS JSONExtractString(form_json, 'severity_text'),
    attrs_hoisted    String ALIAS JSONExtractString(form_json, 'attrs'),
    stamped_hoisted  String ALIAS JSONExtractString(form_json, 'stamped'),
    via              String ALIAS JSONExtractString(form_json, 'via'),
    end_time         DateTime64(9, 'UTC') ALIAS fromUnixTimestamp64Nano(if(signal = 'span', toUnixTimestamp64Nano(time) + JSONExtractInt(extra_json, 'took'), 0), 'UTC'),
    parent_span_id   String ALIAS JSONExtractString(extra_json, 'parent'),
    span_kind        String ALIAS JSONExtractString(extra_json, 'kind'),
    status           String ALIAS JSONExtractString(extra_json, 'status'),
    status_message   String ALIAS JSONExtractString(extra_json, 'message'),
    span_events      String ALIAS JSONExtractRaw(extra_json, 'events'),
    stamped_rest     Map(LowCardinality(String), String) ALIAS JSONExtract(extra_json, 'stamped', 'Map(LowCardinality(String), String)'),
    resource         Map(LowCardinality(String), String) ALIAS JSONExtract(resource_json, 'Map(LowCardinality(String), String)'),
    keys             Array(String) ALIAS arrayConcat(arrayFilter(k -> NOT endsWith(k, ':'), [
                         concat('allocation:', allocation_id), concat('workflow:', workflow_id), concat('correlation:', correlation_id),
                         concat('node:', node_id), concat('node_instance:', node_instance_id), concat('trace:', trace_id)]), keys_rest),
    said             String ALIAS if(empty(body), lower(concat(name, ' ', replaceRegexpAll(extra_json, '\\\\(u[0-9a-f]{4}|.)', ' '), ' ',
                         arrayStringConcat(mapValues(attrs_rest), ' '), ' ', allocation_id, ' ', workflow_id, ' ', correlation_id, ' ', node_id, ' ',
                         node_instance_id, ' ', arrayStringConcat(keys_rest, ' '))), ''),
    INDEX by_allocation    allocation_id    TYPE bloom_filter(0.001) GRANULARITY 1,
    INDEX by_keys          keys             TYPE bloom_filter(0.001) GRANULARITY 1,
    INDEX by_node          node_id          TYPE bloom_filter(0.001) GRANULARITY 1,
    INDEX by_node_instance node_instance_id TYPE bloom_filter(0.001) GRANULARITY 1,
    INDEX by_trace         trace_id         TYPE bloom_filter(0.001) GRANULARITY 1,
    INDEX by_workflow      workflow_id      TYPE bloom_filter(0.001) GRANULARITY 1,
    INDEX by_words         lower(body)      TYPE tokenbf_v1(12288, 4, 0) GRANULARITY 8,
    INDEX by_said          said             TYPE tokenbf_v1(12288, 4, 0) GRANULARITY 8,
    INDEX by_time          time             TYPE minmax              GRANULARITY 1
)
ENGINE = ReplicatedMergeTree('/clickhouse/tables/{shard}/{database}/{table}', '{replica}')
PARTITION BY toMonday(ingested_time)
ORDER BY (intDiv(minute, 120), allocation_id, node_id, service, time)
SETTINGS index_granularity = 640, default_compression_codec = 'ZSTD(1)',
         min_bytes_for_wide_part = 1000000000000000, string_serialization_version = 'single_stream',
         ttl_only_drop_parts = 0, replicated_deduplication_window = 1000;

CREATE TABLE IF NOT EXISTS events ON CLUSTER main AS events_local
ENGINE = Distributed('main', currentDatabase(), 'events_local', cityHash64(multiIf(allocation_id != '', allocation_id, node_id != '', node_id, service)));
