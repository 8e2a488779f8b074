-- A message that is delivered twice starts one workflow.
CREATE UNIQUE INDEX workflow_of_message ON workflows (outbox_id)
