-- One wide row per log record, span and lifecycle event. Rows are evidence: inserted once, never
-- rewritten. A record that is delivered twice may stand here twice; whoever reads counts it once, by
-- `key`, and settles differing contents by their bytes (record.Merge). That is why this is no
-- ReplacingMergeTree: a background merge would pick a winner by order of arrival.
--
-- ORDER BY: the timeline of one allocation is one range ("allocation_id = ?"). Records of nobody
-- (allocation_id = '') follow by machine and time, so that "what did this machine say between" is a
-- range as well ("allocation_id = '' AND node_id = ?"), and those without a machine by service and time
-- (context: a peer's heartbeat, a deployment).
-- Skip indexes: the same machine, installation, trace, workflow or any own key ("kind:id") wherever the
-- row lies; the first half of `key` for the record that a ref cites ("substring(key, 1, 16) = ?"); `time`
-- for windows over all services. Conditions on two of them joined by OR use none: ask one by one.
-- Partitions follow the time of arrival, since a stamped time is anybody's claim: a clock gone wild
-- must neither open a thousand partitions nor have its records expire at once.
CREATE TABLE IF NOT EXISTS events
(
    key              FixedString(32) CODEC(ZSTD(1)),
    signal           Enum8('log' = 1, 'span' = 2),
    time             DateTime64(9, 'UTC') CODEC(Delta, ZSTD(1)),
    end_time         DateTime64(9, 'UTC') CODEC(Delta, ZSTD(1)),
    observed_time    DateTime64(9, 'UTC') CODEC(Delta, ZSTD(1)),
    ingested_time    DateTime64(9, 'UTC') CODEC(Delta, ZSTD(1)),
    service          LowCardinality(String),
    scope            LowCardinality(String),
    name             LowCardinality(String),
    severity         Int32,
    severity_text    LowCardinality(String),
    body             String CODEC(ZSTD(1)),
    trace_id         String CODEC(ZSTD(1)),
    span_id          String CODEC(ZSTD(1)),
    parent_span_id   String CODEC(ZSTD(1)),
    span_kind        LowCardinality(String),
    status           LowCardinality(String),
    status_message   String CODEC(ZSTD(1)),
    span_events      String CODEC(ZSTD(1)),
    resource         Map(LowCardinality(String), String) CODEC(ZSTD(1)),
    attrs            Map(LowCardinality(String), String) CODEC(ZSTD(1)),
    stamped          Map(LowCardinality(String), String) CODEC(ZSTD(1)),
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
    keys             Array(String) CODEC(ZSTD(1)),
    via              LowCardinality(String),
    INDEX by_ref           substring(key, 1, 16) TYPE bloom_filter(0.01) GRANULARITY 1,
    INDEX by_keys          keys             TYPE bloom_filter(0.01) GRANULARITY 1,
    INDEX by_node          node_id          TYPE bloom_filter(0.01) GRANULARITY 1,
    INDEX by_node_instance node_instance_id TYPE bloom_filter(0.01) GRANULARITY 1,
    INDEX by_trace         trace_id         TYPE bloom_filter(0.01) GRANULARITY 1,
    INDEX by_workflow      workflow_id      TYPE bloom_filter(0.01) GRANULARITY 1,
    INDEX by_time          time             TYPE minmax             GRANULARITY 1
)
ENGINE = MergeTree
PARTITION BY toMonday(ingested_time)
ORDER BY (allocation_id, node_id, service, time)
TTL toDateTime(ingested_time) + INTERVAL 90 DAY
SETTINGS ttl_only_drop_parts = 1, non_replicated_deduplication_window = 1000
