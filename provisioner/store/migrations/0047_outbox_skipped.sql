-- Dead messages of which somebody has decided that they are not sent any more.
CREATE TABLE outbox_skipped (
    outbox_id  TEXT PRIMARY KEY,
    reason     TEXT NOT NULL,
    skipped_at BIGINT NOT NULL
)
