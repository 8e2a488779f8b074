-- One wide row per log record, span and lifecycle event. Rows are evidence: inserted once, never
-- rewritten. A record that is delivered twice may stand here twice; whoever reads counts it once, by
-- `key`, and settles differing contents by their bytes (record.Merge). That is why this is no
-- ReplacingMergeTree: a background merge would pick a winner by order of arrival.
-- docs/adr/0005 has what was measured for each choice below.
--
-- ORDER BY: two hours, and in them the timeline of one allocation as one range ("allocation_id = ?"); an allocation is in
-- a few of them. Without the hours its rows would be one range altogether, but a search in ten minutes would read a granule
-- of every allocation that lives at the time; with one hour it would be five ranges instead of three. Records of nobody
-- (allocation_id = '') follow by machine and time, so that "what did this machine say between" is a
-- range as well ("allocation_id = '' AND node_id = ?"), and those without a machine by service and time
-- (context: a peer's heartbeat, a deployment). The primary key is not told times, but minutes (Unix, which a DateTime could
-- not hold for any time that a record may claim): who looks for a time says "minute BETWEEN ? AND ?" beside it.
-- index_granularity: an allocation has a hundred records, not eight thousand. What a range reads beyond
-- its own rows is about a granule a part.
-- min_bytes_for_wide_part: every part keeps all columns in one file, granule after granule. A record is read
-- with nearly all of its columns, and opening sixty files a part took four times as long as reading them;
-- blocks end with a granule, so that nothing is unpacked in vain. string_serialization_version: the lengths of
-- texts stand before each, not in blocks of their own, of which a granule would have twenty.
--
-- An identifier is stored once. Of attributes that stand in a column of their own only the name is kept
-- (attrs_lifted, stamped_lifted), the others are in *_rest; what a record carries is worked out from the columns
-- (keys), and a resource, which thousands of records share, is a dictionary entry (resource_json).
-- ALIAS columns put them together again for who reads. Cheaper to scan by: attrs_rest['http.route'],
-- which is what attrs['http.route'] finds, and request_id = … instead of attrs['request_id'].
-- observed_delay: two clocks that nearly agree cost six bytes each, their difference half of that.
--
-- Skip indexes: the same machine, installation, trace, workflow or any key ("kind:id") wherever the
-- row lies, asked within the allocations and minutes that `whereabouts` names. One in a thousand granules is read in vain; as rows of
-- one identifier lie together, that is cheap. by_allocation spares the one granule that a part without the allocation would cost. `time` for windows
-- over all services. A record is never asked for by its key alone (a ref's sixteen hex digits), but within an
-- allocation or a time: a filter of keys would cost a byte a row. Conditions on two of them joined by OR use none: ask one by one.
-- by_words, by_said: the words of eight granules' bodies, and of what has none (spans, events), so that a rare one is found in
-- any stretch of time; who looks for words says hasToken(…) of each. An exact index of words would cost 27 to 32 bytes a row, these two.
-- (said compares with nothing and maps nothing: an index over such an expression is not recognized in a query.)
-- Partitions follow the time of arrival, since a stamped time is anybody's claim: a clock gone wild
-- must neither open a thousand partitions nor have its records expire at once.
CREATE TABLE IF NOT EXISTS events
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
    said             String ALIAS if(empty(body), lower(concat(name, ' ', status_message, ' ', replaceRegexpAll(span_events, '\\\\[nrt]', ' '), ' ',
                         arrayStringConcat(mapValues(attrs_rest), ' '), ' ', allocation_id, ' ', workflow_id, ' ', correlation_id, ' ', node_id, ' ',
                         node_instance_id, ' ', request_id, ' ', task_id, ' ', claim_id, ' ', boot_id, ' ', outbox_id, ' ', resource_uid, ' ', provider_job, ' ', via)), ''),
    INDEX by_allocation    allocation_id    TYPE bloom_filter(0.001) GRANULARITY 1,
    INDEX by_keys          keys             TYPE bloom_filter(0.001) GRANULARITY 1,
    INDEX by_node          node_id          TYPE bloom_filter(0.001) GRANULARITY 1,
    INDEX by_node_instance node_instance_id TYPE bloom_filter(0.001) GRANULARITY 1,
    INDEX by_trace         trace_id         TYPE bloom_filter(0.001) GRANULARITY 1,
    INDEX by_workflow      workflow_id      TYPE bloom_filter(0.001) GRANULARITY 1,
    INDEX by_words         lower(body)      TYPE tokenbf_v1(8192, 3, 0) GRANULARITY 8,
    INDEX by_said          said             TYPE tokenbf_v1(8192, 3, 0) GRANULARITY 8,
    INDEX by_time          time             TYPE minmax              GRANULARITY 1
)
ENGINE = MergeTree
PARTITION BY toMonday(ingested_time)
ORDER BY (intDiv(minute, 120), allocation_id, node_id, service, time)
TTL toDateTime(ingested_time) + INTERVAL 90 DAY
SETTINGS index_granularity = 512, default_compression_codec = 'ZSTD(1)',
         min_bytes_for_wide_part = 1000000000000000, string_serialization_version = 'single_stream',
         ttl_only_drop_parts = 1, non_replicated_deduplication_window = 1000
