-- One node per allocation, whatever the code does.
CREATE UNIQUE INDEX one_node_per_allocation ON nodes (allocation_id) WHERE allocation_id <> ''
