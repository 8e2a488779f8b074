-- Records that carry one of these keys and were written before anyone knew whose they are.
SELECT {{template "record_columns"}}
FROM events
WHERE hasAny(keys, {keys:Array(String)})
{{- if .Located}}
  AND allocation_id IN {places:Array(String)} AND minute >= {first_minute:Int64} AND minute <= {last_minute:Int64}
{{- end}}
  AND allocation_id != {allocation:String}
  AND observed_time <= {as_of:DateTime64(9, 'UTC')}
ORDER BY time, key
LIMIT {most:UInt32}
SETTINGS optimize_use_projections = 0, use_skip_indexes_on_data_read = 0
