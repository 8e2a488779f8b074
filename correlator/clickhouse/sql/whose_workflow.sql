workflow_id = {id:String}
