node_instance_id = {id:String}
