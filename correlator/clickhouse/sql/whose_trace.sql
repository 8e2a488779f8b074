trace_id = {id:String}
