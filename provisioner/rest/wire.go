package rest

import "time"

// The JSON of the two APIs.

// AllocationRequest asks for capacity. allocation_id is optional; a client that chooses it may send
// the request again without getting two.
type AllocationRequest struct {
	AllocationID string `json:"allocation_id,omitempty"`
	NodePool     string `json:"node_pool"`
	Image        string `json:"image"`
	RequestedBy  string `json:"requested_by"`
}

// Allocation is one allocation as the control plane knows it.
type Allocation struct {
	AllocationID  string    `json:"allocation_id"`
	NodePool      string    `json:"node_pool"`
	Image         string    `json:"image"`
	RequestedBy   string    `json:"requested_by"`
	CorrelationID string    `json:"correlation_id,omitempty"`
	State         string    `json:"state"`
	Reason        string    `json:"reason,omitempty"`
	NodeID        string    `json:"node_id,omitempty"`
	Version       int64     `json:"version"`
	Since         time.Time `json:"since"`
	CreatedAt     time.Time `json:"created_at"`
}

// Allocations is one page, newest first; next is the `after` of the following page, "" at the end.
type Allocations struct {
	Allocations []Allocation `json:"allocations"`
	Next        string       `json:"next,omitempty"`
}

// ActionRequest says who asks for a cancel or a release, and why.
type ActionRequest struct {
	Actor     string `json:"actor"`
	ActorType string `json:"actor_type,omitempty"` // user (default), admin, system, billing
	Reason    string `json:"reason,omitempty"`
}

// RepairRequest gives a node back by hand.
type RepairRequest struct {
	Actor                 string `json:"actor"`
	Reason                string `json:"reason"`
	RuntimeVerifiedAbsent bool   `json:"runtime_verified_absent"`
	Evidence              string `json:"evidence"` // where it is written that nothing is left
}

// NodeRequest registers a node.
type NodeRequest struct {
	NodeID   string `json:"node_id"`
	NodePool string `json:"node_pool"`
}

// NodeToken lets an agent enrol, once.
type NodeToken struct {
	NodeID    string    `json:"node_id"`
	Token     string    `json:"token"`
	ExpiresAt time.Time `json:"expires_at"`
}

// Node is one node of the inventory.
type Node struct {
	NodeID         string     `json:"node_id"`
	NodePool       string     `json:"node_pool"`
	Occupancy      string     `json:"occupancy"`
	AllocationID   string     `json:"allocation_id,omitempty"`
	NodeInstanceID string     `json:"node_instance_id,omitempty"`
	SeenAt         *time.Time `json:"seen_at,omitempty"`
}

// EnrolRequest is an agent's first word.
type EnrolRequest struct {
	Token    string `json:"token"`
	BootID   string `json:"boot_id"`
	HostName string `json:"host_name"`
	// CertificateRequest is PKCS #10 in PEM, for the agent's own key; wanted where certificates are issued.
	CertificateRequest string `json:"certificate_request,omitempty"`
}

// Enrolled is what the agent is known as from now on.
type Enrolled struct {
	NodeID         string `json:"node_id"`
	NodeInstanceID string `json:"node_instance_id"`
	Certificate    string `json:"certificate,omitempty"` // PEM
}

// CertificateRequest asks for another certificate before the present one ends.
type CertificateRequest struct {
	CertificateRequest string `json:"certificate_request"` // PKCS #10 in PEM
}

// Certificate is what an agent presents from now on.
type Certificate struct {
	Certificate string `json:"certificate"` // PEM
}

// HeartbeatRequest is what an agent says when it has nothing to say; the body may be left out.
type HeartbeatRequest struct {
	BootID string `json:"boot_id,omitempty"`
}

// Task is what an agent has claimed.
type Task struct {
	TaskID        string    `json:"task_id"`
	Type          string    `json:"type"`
	AllocationID  string    `json:"allocation_id"`
	WorkflowID    string    `json:"workflow_id"`
	CorrelationID string    `json:"correlation_id,omitempty"`
	Attempt       int       `json:"attempt"`
	ClaimID       string    `json:"claim_id"`
	Fence         int64     `json:"fence"`
	LeaseUntil    time.Time `json:"lease_until"`
	Traceparent   string    `json:"traceparent,omitempty"` // the task's span
}

// ClaimRequest names the claim under which an agent speaks.
type ClaimRequest struct {
	ClaimID string `json:"claim_id"`
	Fence   int64  `json:"fence"`
}

// Renewed is the claim's new lease.
type Renewed struct {
	LeaseUntil time.Time `json:"lease_until"`
}

// ResultRequest is how a task ended.
type ResultRequest struct {
	ClaimID  string `json:"claim_id"`
	Fence    int64  `json:"fence"`
	OK       bool   `json:"ok"`
	Code     string `json:"code,omitempty"`
	Message  string `json:"message,omitempty"`
	Observed string `json:"observed,omitempty"` // running, absent
}

// Headers of the node API.
const (
	// HeaderCertSubject is the subject of the verified client certificate ("CN=node-1"). The ingress sets
	// it, and drops what a client sent under that name; the node API must be reachable through it alone.
	HeaderCertSubject = "X-Client-Cert-Subject"
	// HeaderInstance is the node instance for which the agent speaks.
	HeaderInstance = "X-Node-Instance-ID"
)
