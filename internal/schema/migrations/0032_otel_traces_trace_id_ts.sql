-- When a trace began and ended, as contrib's look-up table of that name says: Grafana asks it first. Here
-- it is worked out of the spans, which the index on trace_id finds.
CREATE VIEW IF NOT EXISTS otel_traces_trace_id_ts
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
GROUP BY TraceId
