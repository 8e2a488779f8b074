-- The allocation's own ranges, one in every two hours that it was heard of.
SELECT {{template "record_columns"}}
FROM events
WHERE allocation_id = {allocation:String} AND minute >= {first_minute:Int64} AND minute <= {last_minute:Int64}
  AND observed_time <= {as_of:DateTime64(9, 'UTC')}
ORDER BY time, key
LIMIT {most:UInt32}
SETTINGS optimize_use_projections = 0, use_skip_indexes_on_data_read = 0
