-- The relay: is there an earlier message of the same allocation that waits?
CREATE INDEX outbox_of_allocation ON outbox (allocation_id, seq) WHERE state IN ('pending', 'failed')
