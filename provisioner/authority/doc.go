// Package authority is the certificate authority of node agents and of the parts that speak with them.
// It signs short-lived certificates whose URI names the node and the node instance, so that whoever
// verifies one knows both; what was issued to a node instance dies with it.
package authority
