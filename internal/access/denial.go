package access

import "fmt"

// Reason names why a caller was turned away. Stable: callers branch on it and operators search for it.
type Reason string

// Reasons.
const (
	TokenMissing      Reason = "token_missing"
	TokenUnknown      Reason = "token_unknown" // also: its signature is not the issuer's
	TokenExpired      Reason = "token_expired"
	TokenAudience     Reason = "token_audience" // it was issued for somebody else
	NoRole            Reason = "no_role"        // the issuer vouches for the caller, and nothing here gives it a role
	RoleMissing       Reason = "role_missing"   // the role does not suffice
	ActorMismatch     Reason = "actor_mismatch" // the caller wants to act as somebody else
	ForeignOrigin     Reason = "foreign_origin" // a page of another site is behind the request
	IssuerUnavailable Reason = "issuer_unavailable"
	// CertificateUnknown is a client certificate that is verified, and not listed.
	CertificateUnknown Reason = "certificate_unknown"
	TenantLimited      Reason = "tenant_limited" // what was asked for is of all tenants, and the caller sees some
)

// remedies say what would have let the caller in.
var remedies = map[Reason]string{
	TokenMissing:      "a header Authorization: Bearer TOKEN",
	TokenUnknown:      "a token of the configuration (access.tokens, access.token_file) or of its issuer (access.oidc.issuer)",
	TokenExpired:      "a token that has not expired",
	TokenAudience:     "a token whose audience is access.oidc.audience",
	NoRole:            "one of the groups that access.oidc.roles names",
	RoleMissing:       "a caller with the role that is needed",
	ActorMismatch:     "no actor, or the caller's own name",
	ForeignOrigin:     "a request that no web page of another site has made, or access control",
	IssuerUnavailable: "the issuer, or a token of the configuration",

	CertificateUnknown: "a client certificate that access.certificates lists, or a token",
	TenantLimited:      "a caller who sees all tenants",
}

// Remedy is what would have let the caller in.
func (r Reason) Remedy() string { return remedies[r] }

// Denial is the error of a caller that is turned away. It never holds the token.
type Denial struct {
	Reason Reason
	Who    Principal // as far as it is known
	Detail string
}

func (d *Denial) Error() string {
	if d.Detail == "" {
		return string(d.Reason)
	}
	return string(d.Reason) + ": " + d.Detail
}

// Unknown reports whether it isn't known who calls: another token may help, another role would not.
func (d *Denial) Unknown() bool {
	switch d.Reason {
	case TokenMissing, TokenUnknown, TokenExpired, TokenAudience, CertificateUnknown:
		return true
	}
	return false
}

func deny(reason Reason, format string, args ...any) *Denial {
	return &Denial{Reason: reason, Detail: fmt.Sprintf(format, args...)}
}
