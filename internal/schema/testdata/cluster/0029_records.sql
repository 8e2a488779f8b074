CREATE VIEW IF NOT EXISTS records ON CLUSTER main AS
SELECT
    key, signal, time, minute, end_time, observed_time, ingested_time, service, scope, name, severity, severity_text, body,
    trace_id, span_id, parent_span_id, span_kind, status, status_message, span_events,
    allocation_id, workflow_id, correlation_id, node_id, node_instance_id,
    substring(arrayFirst(k -> startsWith(k, 'task:'), keys_rest), 6) AS task_id,
    substring(arrayFirst(k -> startsWith(k, 'claim:'), keys_rest), 7) AS claim_id,
    substring(arrayFirst(k -> startsWith(k, 'provider_job:'), keys_rest), 14) AS provider_job,
    substring(arrayFirst(k -> startsWith(k, 'outbox:'), keys_rest), 8) AS outbox_id,
    substring(arrayFirst(k -> startsWith(k, 'resource:'), keys_rest), 10) AS resource_uid,
    substring(arrayFirst(k -> startsWith(k, 'request:'), keys_rest), 9) AS request_id,
    substring(arrayFirst(k -> startsWith(k, 'boot:'), keys_rest), 6) AS boot_id,
    keys, via, resource,
    mapConcat(attrs_rest, CAST(arrayMap(n -> (n, substring(arrayFirst(k -> startsWith(k, concat(replaceRegexpOne(n, '_u?id$', ''), ':')), keys), length(replaceRegexpOne(n, '_u?id$', '')) + 2)),
        arrayFilter(n -> n != '', splitByChar(',', attrs_hoisted))), 'Map(LowCardinality(String), String)')) AS attrs,
    mapConcat(stamped_rest, CAST(arrayMap(n -> (n, substring(arrayFirst(k -> startsWith(k, concat(replaceRegexpOne(n, '_u?id$', ''), ':')), arrayConcat(keys, [concat('identity_via:', via)])), length(replaceRegexpOne(n, '_u?id$', '')) + 2)),
        arrayFilter(n -> n != '', splitByChar(',', stamped_hoisted))), 'Map(LowCardinality(String), String)')) AS stamped
FROM events;
