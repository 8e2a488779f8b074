CREATE VIEW IF NOT EXISTS otel_traces_trace_id_ts ON CLUSTER main
(
    TraceId String,
    Start   DateTime,
    End     DateTime
)
AS SELECT
    trace_id AS TraceId,
    toDateTime(min(time)) AS Start,
    toDateTime(max(time)) AS End
FROM events
WHERE signal = 'span' AND trace_id != ''
GROUP BY TraceId;
