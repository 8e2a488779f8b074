-- Spans under the names and types of contrib's clickhouseexporter (v0.161.0); see otel_logs. Trace states
-- and links are not kept and are empty.
CREATE VIEW IF NOT EXISTS otel_traces
(
    Timestamp           DateTime64(9),
    TraceId             String,
    SpanId              String,
    ParentSpanId        String,
    TraceState          String,
    SpanName            LowCardinality(String),
    SpanKind            LowCardinality(String),
    ServiceName         LowCardinality(String),
    ResourceAttributes  Map(LowCardinality(String), String),
    ScopeName           String,
    ScopeVersion        String,
    SpanAttributes      Map(LowCardinality(String), String),
    Duration            UInt64,
    StatusCode          LowCardinality(String),
    StatusMessage       String,
    `Events.Timestamp`  Array(DateTime64(9)),
    `Events.Name`       Array(LowCardinality(String)),
    `Events.Attributes` Array(Map(LowCardinality(String), String)),
    `Links.TraceId`     Array(String),
    `Links.SpanId`      Array(String),
    `Links.TraceState`  Array(String),
    `Links.Attributes`  Array(Map(LowCardinality(String), String))
)
AS WITH JSONExtract(span_events, 'Array(Tuple(time Int64, name String, attrs Array(Tuple(Key String, Value String))))') AS happened
SELECT
    time AS Timestamp,
    trace_id AS TraceId,
    span_id AS SpanId,
    parent_span_id AS ParentSpanId,
    '' AS TraceState,
    name AS SpanName,
    if(span_kind = '', 'Unspecified', initcap(span_kind)) AS SpanKind,
    service AS ServiceName,
    resource AS ResourceAttributes,
    scope AS ScopeName,
    '' AS ScopeVersion,
    mapConcat(attrs, stamped) AS SpanAttributes,
    greatest(toUnixTimestamp64Nano(end_time) - toUnixTimestamp64Nano(time), 0) AS Duration,
    if(status = '', 'Unset', initcap(status)) AS StatusCode,
    status_message AS StatusMessage,
    arrayMap(e -> fromUnixTimestamp64Nano(e.time), happened) AS `Events.Timestamp`,
    happened.name AS `Events.Name`,
    arrayMap(e -> CAST(mapFromArrays(e.attrs.Key, e.attrs.Value), 'Map(LowCardinality(String), String)'), happened) AS `Events.Attributes`,
    [] AS `Links.TraceId`,
    [] AS `Links.SpanId`,
    [] AS `Links.TraceState`,
    [] AS `Links.Attributes`
FROM records
WHERE signal = 'span'
