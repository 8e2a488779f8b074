package score

// Profile is the default one with the budgets of the lab's pace: what takes minutes on real nodes takes
// seconds there, so it is overdue within seconds, too.
const Profile = `name: lab
extends: [default]
projections:
  "*": {grace: 10s}
  ui: {grace: 10s}
budgets:
  states:
    requested: 20s
    reserved: 20s
    provisioning: 40s
    canceling: 40s
    releasing: 40s
  task_claim: 15s
  task_lease: 15s
  heartbeat: 6s
  provider_job: 30s
  cancel: 12s
  outbox: 10s
`
