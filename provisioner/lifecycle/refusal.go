package lifecycle

import "fmt"

// Reason names why something was refused. Stable: callers branch on it and operators search for it.
type Reason string

// Reasons for refusals.
const (
	Allowed             Reason = ""
	IllegalMove         Reason = "illegal_move"          // the table has no such move
	NodeNotReserved     Reason = "node_not_reserved"     // no node was set aside for the allocation
	WorkBegun           Reason = "work_begun"            // a task was claimed: cancelling needs cleanup
	ReadinessUnproven   Reason = "readiness_unproven"    // the tasks did not succeed, or nobody saw the result run
	NodeNotInCleanup    Reason = "node_not_in_cleanup"   // the node still counts as usable by the allocation
	CleanupUnproven     Reason = "cleanup_unproven"      // nobody proved that nothing is left on the node
	WasActive           Reason = "was_active"            // an allocation that was active is released, not canceled
	UnnamedActor        Reason = "unnamed_actor"         // recovery needs an actor and a reason
	EvidenceMissing     Reason = "evidence_missing"      // absence of the runtime was asserted without evidence
	StaleFence          Reason = "stale_fence"           // the task was claimed again since
	WrongClaim          Reason = "wrong_claim"           // the claim is not the current one
	LeaseEnded          Reason = "lease_ended"           // the claim's lease is over
	TaskOver            Reason = "task_over"             // the task has its result already
	SupersededInstance  Reason = "superseded_instance"   // the node was enrolled again since
	UnknownNode         Reason = "unknown_node"          // the inventory has no such node
	NodeBusy            Reason = "node_busy"             // the node belongs to another allocation
	EnrolmentToken      Reason = "enrolment_token"       // the token is unknown, used or too old
	NoCertificate       Reason = "no_certificate"        // the ingress passed on no client certificate
	WrongCertificate    Reason = "wrong_certificate"     // the client certificate is another node's, or node instance's
	CertificateRequest  Reason = "certificate_request"   // the certificate request cannot be granted
	AllocationExists    Reason = "allocation_exists"     // the id was used for another request
	OperationInProgress Reason = "operation_in_progress" // a workflow of the allocation is still running
)

// Refusal is the error of a move or request that the domain does not allow.
type Refusal struct {
	Reason  Reason
	Of      string // kind of the subject, where the refusal is about a move
	Subject string // kind and id: "allocation a-1"
	From    string // state the subject is in, where the refusal is about a move
	To      string
	Detail  string // further words, may be empty
}

func (r *Refusal) Error() string {
	text := string(r.Reason) + ": " + r.Subject
	if r.To != "" {
		text += fmt.Sprintf(" may not go from %s to %s", r.From, r.To)
	}
	if r.Detail != "" {
		text += ": " + r.Detail
	}
	return text
}

// Refuse makes a refusal that is not about a move.
func Refuse(reason Reason, subject, detail string) *Refusal {
	return &Refusal{Reason: reason, Subject: subject, Detail: detail}
}
