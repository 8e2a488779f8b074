-- What the engine looks at in every round: few rows, however many are over.
CREATE INDEX workflows_open ON workflows (wake_at) WHERE state IN ('scheduled', 'running', 'waiting', 'cancel_requested')
