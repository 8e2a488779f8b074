-- Fills labels from what the records of an allocation, or their resource, say.
CREATE MATERIALIZED VIEW IF NOT EXISTS labels_feed TO labels AS
SELECT
    allocation_id,
    said.1 AS label,
    said.2 AS value,
    min(time) AS first_seen,
    toDateTime(max(ingested_time)) AS last_ingested
FROM events
ARRAY JOIN arrayFilter(x -> x.2 != '', [
    ('tenant', coalesce(nullIf(attrs_rest['tenant'], ''), nullIf(attrs_rest['tenant_id'], ''), JSONExtractString(resource_json, 'tenant'))),
    ('provider', if(startsWith(name, 'provider_job.'), attrs_rest['provider'], ''))]) AS said
WHERE allocation_id != ''
GROUP BY allocation_id, label, value
