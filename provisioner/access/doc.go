// Package access says who a caller of the control API is, and what it may do. Callers show a bearer
// token: one of the configuration's, of which only a digest is kept, or one of an OpenID Connect issuer.
// Where neither is configured everybody may do everything, and the API listens on this machine only.
package access
