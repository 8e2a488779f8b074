node_id = {id:String}
