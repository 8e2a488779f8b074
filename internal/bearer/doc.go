// Package bearer is the caller's side of access: it finds the token for a server, and keeps tokens from being read on
// their way.
package bearer
