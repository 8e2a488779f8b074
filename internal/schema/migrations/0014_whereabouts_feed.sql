-- Fills whereabouts. Machines, installations and boots lead to no allocation by being seen with it, so they are told of whoever names
-- them; a record that names two of a kind may have more identifiers than are linked.
CREATE MATERIALIZED VIEW IF NOT EXISTS whereabouts_feed TO whereabouts AS
SELECT
    arrayJoin(arrayFilter(k -> NOT endsWith(k, ':') AND NOT startsWith(k, 'allocation:'), if(allocation_id != '' AND via IN ('', 'explicit') AND arrayUniq(arrayMap(k -> substring(k, 1, position(k, ':')), keys)) = length(keys),
        [concat('node:', node_id), concat('node_instance:', node_instance_id), concat('boot:', boot_id)], keys))) AS key,
    allocation_id,
    min(minute) AS first_minute,
    max(minute) AS last_minute,
    max(toUInt32(intDiv(abs(observed_delay), 60000000000))) AS adrift,
    toDateTime(max(ingested_time)) AS last_ingested
FROM events
GROUP BY key, allocation_id
