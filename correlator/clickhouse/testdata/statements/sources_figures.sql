-- What each source sent lately: how late, with which clock, and how many of its records carry, or were stamped with, each identifier.
SELECT
    service, count(), countIf(severity >= 17),
    quantile(0.5)((toUnixTimestamp64Nano(ingested_time) - toUnixTimestamp64Nano(time)) / 1e9), greatest(0, max(-observed_delay)) / 1e9,
    countIf(allocation_id = '' AND node_id = ''),
    countIf(allocation_id != ''), countIf(workflow_id != ''), countIf(correlation_id != ''), countIf(node_id != ''), countIf(node_instance_id != '')
FROM events
WHERE ingested_time >= now64(9) - toIntervalSecond({window:UInt32})
GROUP BY service
