-- The allocation's own ranges, one in every two hours that it was heard of. Where those are not known beforehand, what was noted of it tells them
-- (as in allocation_known.sql); of what was noted nowhere all is looked through.
{{- if not .Located}}
WITH (SELECT (intDiv(toUnixTimestamp64Nano(min(first_seen)), 60000000000) - 1440, intDiv(toUnixTimestamp64Nano(max(last_seen)), 60000000000) + 1440, count())
      FROM allocations WHERE allocation_id = {allocation:String}) AS known
{{- end}}
SELECT {{template "record_columns"}}
FROM events
WHERE allocation_id = {allocation:String}
{{- if .Located}}
  AND minute >= {first_minute:Int64} AND minute <= {last_minute:Int64}
{{- else}}
  AND (known.3 = 0 OR minute >= known.1 AND minute <= known.2)
{{- end}}
  AND observed_time <= {as_of:DateTime64(9, 'UTC')}
ORDER BY time, key
LIMIT {most:UInt32}
SETTINGS optimize_use_projections = 0, use_skip_indexes_on_data_read = 0
