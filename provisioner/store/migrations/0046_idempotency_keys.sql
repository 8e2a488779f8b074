-- Answers to requests that carried a key, so that the same request may be sent again.
CREATE TABLE idempotency_keys (
    actor       TEXT NOT NULL, -- keys of different callers never meet
    request_key TEXT NOT NULL,
    fingerprint TEXT NOT NULL, -- of the request: the same key with another one is refused
    answer      TEXT NOT NULL DEFAULT '',
    created_at  BIGINT NOT NULL,
    PRIMARY KEY (actor, request_key)
)
