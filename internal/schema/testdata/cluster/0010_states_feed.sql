CREATE MATERIALIZED VIEW IF NOT EXISTS states_feed ON CLUSTER main TO states_local AS
SELECT allocation_id, time, attrs_rest['to'] AS state, key, attrs_rest['reason'] AS reason, observed_time, ingested_time
FROM events_local
WHERE allocation_id != '' AND signal = 'log' AND name = 'allocation.state' AND attrs_rest['to'] != '';
