-- Log records under the names and types of contrib's clickhouseexporter (v0.161.0), for whoever reads such
-- tables: Grafana's ClickHouse data source, ClickStack. Columns that are conditions pass as they are, so
-- that filters on ServiceName, TraceId and Timestamp reach the table's indexes. LogAttributes hold the
-- identifiers that were stamped as well. What is not kept (trace flags, schema addresses, a scope's version
-- and attributes) is empty. A record that was delivered twice may stand here twice.
-- Contrib's materialized columns are aliases here: who names one gets it, SELECT * has none of them, as there.
CREATE VIEW IF NOT EXISTS otel_logs
(
    Timestamp          DateTime64(9),
    TraceId            String,
    SpanId             String,
    TraceFlags         UInt8,
    SeverityText       LowCardinality(String),
    SeverityNumber     UInt8,
    ServiceName        LowCardinality(String),
    Body               String,
    ResourceSchemaUrl  LowCardinality(String),
    ResourceAttributes Map(LowCardinality(String), String),
    ScopeSchemaUrl     LowCardinality(String),
    ScopeName          String,
    ScopeVersion       LowCardinality(String),
    ScopeAttributes    Map(LowCardinality(String), String),
    LogAttributes      Map(LowCardinality(String), String),
    EventName          String,
    `__otel_materialized_k8s.cluster.name` LowCardinality(String) ALIAS ResourceAttributes['k8s.cluster.name'],
    `__otel_materialized_k8s.container.name` LowCardinality(String) ALIAS ResourceAttributes['k8s.container.name'],
    `__otel_materialized_k8s.deployment.name` LowCardinality(String) ALIAS ResourceAttributes['k8s.deployment.name'],
    `__otel_materialized_k8s.namespace.name` LowCardinality(String) ALIAS ResourceAttributes['k8s.namespace.name'],
    `__otel_materialized_k8s.node.name` LowCardinality(String) ALIAS ResourceAttributes['k8s.node.name'],
    `__otel_materialized_k8s.pod.name` LowCardinality(String) ALIAS ResourceAttributes['k8s.pod.name'],
    `__otel_materialized_k8s.pod.uid` LowCardinality(String) ALIAS ResourceAttributes['k8s.pod.uid'],
    `__otel_materialized_deployment.environment.name` LowCardinality(String) ALIAS ResourceAttributes['deployment.environment.name']
)
AS SELECT
    time AS Timestamp,
    trace_id AS TraceId,
    span_id AS SpanId,
    0 AS TraceFlags,
    severity_text AS SeverityText,
    least(greatest(severity, 0), 255) AS SeverityNumber,
    service AS ServiceName,
    body AS Body,
    '' AS ResourceSchemaUrl,
    resource AS ResourceAttributes,
    '' AS ScopeSchemaUrl,
    scope AS ScopeName,
    '' AS ScopeVersion,
    map() AS ScopeAttributes,
    mapConcat(attrs, stamped) AS LogAttributes,
    name AS EventName
FROM records
WHERE signal = 'log'
