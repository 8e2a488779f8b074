-- What a token was spent on: an agent that never saw the answer asks again with the same key, and gets it again.
CREATE TABLE IF NOT EXISTS enrolment_uses (
    token_hash  TEXT PRIMARY KEY REFERENCES enrolments,
    instance_id TEXT NOT NULL REFERENCES node_instances,
    key_hash    TEXT NOT NULL
)
