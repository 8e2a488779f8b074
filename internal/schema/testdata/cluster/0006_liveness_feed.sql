CREATE MATERIALIZED VIEW IF NOT EXISTS liveness_feed ON CLUSTER main TO liveness_local AS
SELECT
    service,
    toDateTime64(intDiv(toUnixTimestamp64Nano(time), 60000000000) * 60, 0, 'UTC') AS minute,
    scope,
    if(mapContains(attrs_rest, 'layer'), attrs_rest['layer'], JSONExtractString(resource_json, 'layer')) AS layer,
    count() AS records,
    countIf(severity >= 17) AS errors,
    min(time) AS first,
    max(time) AS last,
    min(observed_time) AS first_observed,
    toDateTime(max(ingested_time)) AS last_ingested
FROM events_local
GROUP BY service, minute, scope, layer;
