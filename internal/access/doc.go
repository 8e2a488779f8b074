// Package access says who calls an API of Faultline, what that caller may do, and which tenants it sees.
// Callers show a bearer token (one of the configuration's, of which only a digest is kept, or one of an
// OpenID Connect issuer) or a client certificate that is listed. Where none of it is configured everybody
// may do everything, and the API listens on this machine only.
package access
