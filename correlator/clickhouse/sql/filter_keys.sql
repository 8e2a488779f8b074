-- Whatever carries one of these keys, or was stamped with it.
hasAny(keys, {keys:Array(String)})
{{- if .Located}}
  AND allocation_id IN {places:Array(String)} AND minute >= {first_minute:Int64} AND minute <= {last_minute:Int64}
{{- end}}
  AND ({kind:String} != 'allocation' OR allocation_id != {id:String})
  AND (time >= fromUnixTimestamp64Nano({since:Int64}, 'UTC') AND time < fromUnixTimestamp64Nano({until:Int64}, 'UTC')
       OR observed_time >= fromUnixTimestamp64Nano({since:Int64}, 'UTC') AND observed_time < fromUnixTimestamp64Nano({until:Int64}, 'UTC'))
