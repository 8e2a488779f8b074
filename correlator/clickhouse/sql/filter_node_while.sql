-- A node's records while it was the selection's. A broken clock is placed by when it was observed.
node_id = {node:String}
{{- if .Located}}
  AND allocation_id IN {places:Array(String)} AND minute >= {first_minute:Int64} AND minute <= {last_minute:Int64}
{{- end}}
  AND multiIf({kind:String} = 'allocation', allocation_id, node_instance_id) != {id:String}
  AND (time >= fromUnixTimestamp64Nano({since:Int64}, 'UTC') AND time < fromUnixTimestamp64Nano({until:Int64}, 'UTC')
       OR observed_time >= fromUnixTimestamp64Nano({since:Int64}, 'UTC') AND observed_time < fromUnixTimestamp64Nano({until:Int64}, 'UTC'))
