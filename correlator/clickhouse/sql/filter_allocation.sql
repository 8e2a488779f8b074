allocation_id = {id:String} AND minute >= {first_minute:Int64} AND minute <= {last_minute:Int64}
