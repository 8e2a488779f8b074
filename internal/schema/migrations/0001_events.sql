-- One wide row per log record, span and lifecycle event. Rows are evidence: inserted once, never
-- rewritten. A record that is delivered twice may stand here twice; whoever reads counts it once, by
-- `key`, and settles differing contents by their bytes (record.Merge). That is why this is no
-- ReplacingMergeTree: a background merge would pick a winner by order of arrival.
-- docs/adr/0005 has what was measured for each choice below.
--
-- ORDER BY: two hours, and in them the timeline of one allocation as one range ("allocation_id = ?"); an allocation is in
-- a few of them. Without the hours its rows would be one range altogether, but a search in ten minutes would read a granule
-- of every allocation that lives at the time; with one hour it would be five ranges instead of three. Records of nobody
-- (allocation_id = '') follow by node and time, so that "what did this node say between" is a
-- range as well ("allocation_id = '' AND node_id = ?"), and those without a node by service and time
-- (context: a peer's heartbeat, a deployment). The primary key is not told times, but minutes (Unix, which a DateTime could
-- not hold for any time that a record may claim): who looks for a time says "minute BETWEEN ? AND ?" beside it.
-- index_granularity: an allocation has a hundred records, not eight thousand. What a range reads beyond
-- its own rows is about a granule a part; smaller ones would cost bytes, a block of each column a granule.
-- min_bytes_for_wide_part: every part keeps all columns in one file, granule after granule. A record is read
-- with nearly all of its columns, and opening sixty files a part took four times as long as reading them;
-- blocks end with a granule, so that nothing is unpacked in vain. string_serialization_version: the lengths of
-- texts stand before each, not in blocks of their own, of which a granule would have twenty.
--
-- An identifier is stored once, and few columns are wide: each costs a question a quarter of a millisecond before it reads,
-- and a granule some bytes. Identifiers that every second record has stand in a column, others in keys_rest ("task:t-1", the
-- first of a kind, then second ones; identity.Storage says which); of attributes that are one of them only the name is kept. form_json is what many records share
-- (scope, severity's text, those names, how the identity was found) and resource_json their resource, as dictionaries' entries; extra_json is what few
-- have (what only a span says; what was stamped and is no identifier). ALIAS columns give all of it its own name;
-- attributes are whole in the view `records`. Cheaper to scan by: attrs_rest['http.route'], which is what attrs['http.route'] finds there.
-- observed_delay: two clocks that nearly agree cost six bytes each, their difference half of that.
--
-- Skip indexes: the same node, node instance, trace, workflow or any key ("kind:id") wherever the
-- row lies, asked within the allocations and minutes that `key_locations` names. One in a thousand granules is read in vain; as rows of
-- one identifier lie together, that is cheap. by_allocation spares the one granule that a part without the allocation would cost. `time` for windows
-- over all services. A record is never asked for by its key alone (48 bits of a digest, as hex), but within an
-- allocation or a time: a filter of keys would cost a byte a row. Conditions on two of them joined by OR use none: ask one by one.
-- by_words, by_said: the words of eight granules' bodies, and of what has none (spans, events), so that a rare one is found in
-- any stretch of time; who looks for words says hasToken(…) of each. An exact index of words would cost 27 to 32 bytes a row, these two.
-- (said compares with nothing and maps nothing: an index over such an expression is not recognized in a query.)
-- Partitions follow the time of arrival, since a stamped time is anybody's claim: a clock gone wild
-- must neither open a thousand partitions nor have its records expire at once.
CREATE TABLE IF NOT EXISTS events
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
ENGINE = MergeTree
PARTITION BY toMonday(ingested_time)
ORDER BY (intDiv(minute, 120), allocation_id, node_id, service, time)
SETTINGS index_granularity = 640, default_compression_codec = 'ZSTD(1)',
         min_bytes_for_wide_part = 1000000000000000, string_serialization_version = 'single_stream',
         ttl_only_drop_parts = 0, non_replicated_deduplication_window = 1000
