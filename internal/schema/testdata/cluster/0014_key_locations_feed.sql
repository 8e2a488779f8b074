CREATE MATERIALIZED VIEW IF NOT EXISTS key_locations_feed ON CLUSTER main TO key_locations_local AS
SELECT
    arrayJoin(arrayFilter(k -> NOT startsWith(k, 'allocation:'), if(allocation_id != '' AND via IN ('', 'explicit') AND arrayUniq(arrayMap(k -> substring(k, 1, position(k, ':')), keys)) = length(keys),
        arrayFilter(k -> substring(k, 1, position(k, ':') - 1) NOT IN ('workflow', 'task', 'claim', 'provider_job', 'outbox', 'resource', 'correlation', 'request', 'trace'), keys), keys))) AS key,
    allocation_id,
    min(minute) AS first_minute,
    max(minute) AS last_minute,
    max(toUInt32(intDiv(abs(observed_delay), 60000000000))) AS max_skew,
    toDateTime(max(ingested_time)) AS last_ingested
FROM events_local
GROUP BY key, allocation_id;
