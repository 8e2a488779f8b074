-- Whatever carries one of these keys and was not written down as the selection's own.
hasAny(keys, {keys:Array(String)})
  AND multiIf({kind:String} = 'allocation', allocation_id, {kind:String} = 'node', node_id, {kind:String} = 'node_instance', node_instance_id,
              {kind:String} = 'workflow', workflow_id, {kind:String} = 'trace', trace_id, '') != {id:String}
  AND (time >= fromUnixTimestamp64Nano({since:Int64}, 'UTC') AND time < fromUnixTimestamp64Nano({until:Int64}, 'UTC')
       OR observed_time >= fromUnixTimestamp64Nano({since:Int64}, 'UTC') AND observed_time < fromUnixTimestamp64Nano({until:Int64}, 'UTC'))
