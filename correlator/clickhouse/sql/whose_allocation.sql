allocation_id = {id:String}
