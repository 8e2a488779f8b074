// Package lab simulates a platform around a real provisioner: clients, an ingress with TLS, an API with
// an authorization service, node agents with client certificates, nodes with kernels, a user
// interface's view, and an operator. Everything talks over real sockets; what fails, fails for real: a
// certificate that has expired, a back end that nobody started, a policy that lacks a line.
//
//	client ─▶ ingress ─▶ api ─▶ auth
//	             ▲        └───▶ provisioner ◀── operator, view
//	node agent ──┘─────────────────▲
//
// Each part speaks under a service.name of its own and says only what it can know. Which story a client
// plays, and whose fault it is, stands in truth.jsonl and never in telemetry.
package lab
