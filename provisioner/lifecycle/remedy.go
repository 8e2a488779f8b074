package lifecycle

// Reasons for refusals of recovery, beside those of the moves.
const (
	NodeFenced       Reason = "node_fenced"       // the node is kept out of use
	NodeNotFenced    Reason = "node_not_fenced"   // there is nothing to lift
	ClaimHeld        Reason = "claim_held"        // an agent is at work on the node
	MessagePublished Reason = "message_published" // it has arrived; sending it again would change nothing
	MessageSkipped   Reason = "message_skipped"   // somebody has decided that it is not sent
	KeyReused        Reason = "key_reused"        // the idempotency key belongs to another request
	UnknownPool      Reason = "unknown_pool"      // the catalog has no such pool
	UnknownTemplate  Reason = "unknown_template"  // the catalog has no such image or template
)

// Reasons of the tables of node instances, tasks, messages and providers' jobs. Nobody asks for these moves, so
// a refusal is a fault of the controller's own.
const (
	InstanceLives   Reason = "instance_lives"   // the node has a live node instance
	NoSuccessor     Reason = "no_successor"     // no other node instance takes its place
	ClaimIncomplete Reason = "claim_incomplete" // a claim without id, fence, node instance or lease
	NotOverdue      Reason = "not_overdue"      // its time is not over
	NotTried        Reason = "not_tried"        // no attempt to send was made, and no operator decided
	OperatorsOnly   Reason = "operators_only"   // an operator decides that
	JobCanceled     Reason = "job_canceled"     // the job's end is wanted: it is not launched any more
	JobUnknown      Reason = "job_unknown"      // the provider has not named the job
	JobNamed        Reason = "job_named"        // the provider has named the job: it is followed, not looked for
	ResultOpen      Reason = "result_open"      // nobody knows how the job ended
)

// remedies say, for every reason, what would satisfy the guard that refused.
var remedies = map[Reason]string{
	IllegalMove:         "a state from which the move is in the table (GET /v1/recovery/actions lists them)",
	NodeNotReserved:     "a node that was set aside for the allocation",
	WorkBegun:           "a cancel, which cleans up what was begun",
	ReadinessUnproven:   "tasks that succeeded, and the result seen running",
	NodeNotInCleanup:    "the node in cleanup or fenced",
	CleanupUnproven:     "proof that nothing is left: a wipe that reports absent, or force-cleanup with evidence",
	WasActive:           "a release: the allocation was active",
	UnnamedActor:        "an actor and a reason",
	EvidenceMissing:     "runtime_verified_absent: true, and evidence that says where it is written that nothing runs any more",
	StaleFence:          "the fence of the current claim; the work that was done under the old one does not count",
	WrongClaim:          "the claim that this agent was given",
	LeaseEnded:          "a new claim of the task",
	TaskOver:            "nothing: the task has its result",
	SupersededInstance:  "the live instance of the node, or another enrolment",
	UnknownNode:         "a node of the inventory (POST /v1/nodes registers one)",
	NodeBusy:            "a node that belongs to nobody else",
	EnrolmentToken:      "a new token (re-enrol)",
	NoCertificate:       "a call through the ingress, which passes on the client certificate that it has verified",
	WrongCertificate:    "the certificate that this instance of this node was issued",
	CertificateRequest:  "a PKCS #10 request in PEM for a key of one's own (P-256, P-384 or Ed25519), without names",
	AllocationExists:    "another allocation_id, or the same wishes",
	OperationInProgress: "the end of the operation that is under way (recover stuck says what it waits for)",
	NodeFenced:          "unfence of the node, or force-release",
	NodeNotFenced:       "a node that is fenced",
	ClaimHeld:           "the end of the claim: a result, a cancel, or the lapse of its lease",
	MessagePublished:    "nothing: the message has arrived; repair-projection publishes the allocation's state again",
	MessageSkipped:      "an action on the allocation itself: the message is not sent any more",
	KeyReused:           "a new idempotency key for a new request",
	UnknownPool:         "a pool of the catalog",
	UnknownTemplate:     "a template of the catalog",
	InstanceLives:       "the end of the node instance that lives",
	NoSuccessor:         "another instance of the node",
	ClaimIncomplete:     "a claim with id, fence, node instance and a lease that has not ended",
	NotOverdue:          "the lapse of its time",
	NotTried:            "an attempt to send it, or an operator who skips it",
	OperatorsOnly:       "an operator who has it sent again",
	JobCanceled:         "nothing: the job is not launched any more",
	JobUnknown:          "the provider's answer, with the job's id",
	JobNamed:            "nothing: the job is followed under its id",
	ResultOpen:          "a result: success, failure, or that nobody waits for it any more",
}

// Remedy is what would satisfy the guard that refused, "" for reasons that are unknown here.
func (r Reason) Remedy() string { return remedies[r] }
