-- traces_id_ts_lookup_table.sql of opentelemetry-collector-contrib/exporter/clickhouseexporter v0.161.0 (Apache-2.0),
-- placeholders filled in.
CREATE TABLE IF NOT EXISTS contrib_traces_trace_id_ts (
    TraceId String CODEC(ZSTD(1)),
    Start DateTime CODEC(Delta, ZSTD(1)),
    End DateTime CODEC(Delta, ZSTD(1)),
    INDEX idx_trace_id TraceId TYPE bloom_filter(0.01) GRANULARITY 1
) ENGINE = MergeTree()
    PARTITION BY toDate(Start)
    ORDER BY (TraceId, Start)
    SETTINGS index_granularity=8192, ttl_only_drop_parts = 1
