-- The last word of every service on a node before a time: who was alive.
SELECT {{template "record_columns"}}
FROM events
WHERE node_id IN {nodes:Array(String)}
  AND time < {from:DateTime64(9, 'UTC')} AND time >= {from:DateTime64(9, 'UTC')} - INTERVAL 1 DAY
  AND minute <= intDiv(toUnixTimestamp64Nano({from:DateTime64(9, 'UTC')}), 60000000000)
  AND minute >= intDiv(toUnixTimestamp64Nano({from:DateTime64(9, 'UTC')}), 60000000000) - 1441
  AND observed_time <= {as_of:DateTime64(9, 'UTC')}
ORDER BY time DESC, key
LIMIT 1 BY node_id, service
