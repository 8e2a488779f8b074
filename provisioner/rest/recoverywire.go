package rest

import (
	"encoding/json"
	"time"

	"github.com/faultline-io/faultline/internal/access"
	"github.com/faultline-io/faultline/provisioner/recovery"
)

// RecoveryRequest is one action that somebody wants done.
type RecoveryRequest struct {
	Reason string `json:"reason"`
	// Actor is who acts. With access control it is the caller, and may be left out.
	Actor  string `json:"actor,omitempty"`
	DryRun bool   `json:"dry_run,omitempty"`
	// RuntimeVerifiedAbsent says that somebody has seen that nothing runs any more; Evidence, where that is written.
	RuntimeVerifiedAbsent bool              `json:"runtime_verified_absent,omitempty"`
	Evidence              string            `json:"evidence,omitempty"`
	Verdict               *recovery.Verdict `json:"verdict,omitempty"` // what justifies it
}

// RecoveryActions is the table of what may be done.
type RecoveryActions struct {
	Actions []RecoveryAction `json:"actions"`
}

// RecoveryAction is one line of it.
type RecoveryAction struct {
	Name        string          `json:"name"`
	Of          recovery.Kind   `json:"of"`
	Path        string          `json:"path"`
	Role        access.Role     `json:"role"`
	Does        string          `json:"does"`
	When        string          `json:"when"`
	Guards      []RecoveryGuard `json:"guards"`
	Moves       []recovery.Move `json:"moves,omitempty"`
	AuditAction string          `json:"audit_action"`
}

// RecoveryGuard is a condition of an action, the reason of its refusal, and what satisfies it.
type RecoveryGuard struct {
	Guard       string `json:"guard"`
	Reason      string `json:"reason"`
	SatisfiedBy string `json:"satisfied_by"`
}

// AuditLog is one page, newest first; next is the `after` of the following page, "" at the end.
type AuditLog struct {
	Entries []AuditEntry `json:"entries"`
	Next    string       `json:"next,omitempty"`
}

// AuditEntry is what somebody did by hand, or tried to.
type AuditEntry struct {
	AuditID       string          `json:"audit_id"`
	At            time.Time       `json:"at"`
	Actor         string          `json:"actor"`
	ActorType     string          `json:"actor_type"`
	Via           string          `json:"via,omitempty"` // how the actor was known
	Action        string          `json:"action"`
	Outcome       string          `json:"outcome"` // done, refused, denied
	AllocationID  string          `json:"allocation_id,omitempty"`
	NodeID        string          `json:"node_id,omitempty"`
	Subject       string          `json:"subject,omitempty"`
	Reason        string          `json:"reason,omitempty"`
	Before        string          `json:"before,omitempty"`
	After         string          `json:"after,omitempty"`
	Evidence      string          `json:"evidence,omitempty"`
	Detail        string          `json:"detail,omitempty"`
	CorrelationID string          `json:"correlation_id,omitempty"`
	Verdict       json.RawMessage `json:"verdict,omitempty"`
}
