UPDATE workflows SET moved_at = created_at WHERE moved_at = 0
