-- What nodes, or anyone who names them, said in a stretch of time, by their clocks or by that of who observed it. Where their records lie, and how
-- wrong their clocks were, is noted (key_locations).
WITH (SELECT (min(first_minute), max(last_minute), max(max_skew)) FROM key_locations WHERE key IN {keys:Array(String)}) AS noted
SELECT {{template "record_columns"}}
FROM events
WHERE node_id IN {nodes:Array(String)}
  AND allocation_id != {allocation:String}
  AND minute >= greatest(toInt64(noted.1), intDiv(toUnixTimestamp64Nano({from:DateTime64(9, 'UTC')}), 60000000000) - noted.3 - 2)
  AND minute <= least(toInt64(noted.2), intDiv(toUnixTimestamp64Nano({to:DateTime64(9, 'UTC')}), 60000000000) + noted.3 + 2)
  AND (time >= {from:DateTime64(9, 'UTC')} AND time <= {to:DateTime64(9, 'UTC')}
       OR observed_time >= {from:DateTime64(9, 'UTC')} AND observed_time <= {to:DateTime64(9, 'UTC')})
  AND observed_time <= {as_of:DateTime64(9, 'UTC')}
ORDER BY time, key
LIMIT {most:UInt32}
SETTINGS optimize_use_projections = 0, use_skip_indexes_on_data_read = 0
