-- Whether any record was ever stamped with an allocation: who asks for an unknown one reads no evidence.
SELECT count() FROM allocations WHERE allocation_id = {id:String}
