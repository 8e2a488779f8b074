// Package rest puts the provisioner's two APIs on HTTP: the control API for tenants' requests, which an
// API service in front has authorised, and the node API for agents, whose identity the ingress in front
// has verified. Every error is a problem document (RFC 9457).
package rest
