-- When the node was last set aside: placement goes round, without a look at every node's tasks.
ALTER TABLE nodes ADD COLUMN used_at INTEGER NOT NULL DEFAULT 0
