package access

import (
	"fmt"
	"strings"
	"time"
)

// Role is what a caller may do. Each one may do what those before it may.
type Role uint8

// Roles, the least first.
const (
	Nobody   Role = iota
	Viewer        // reads
	Operator      // moves what is stuck, within what the platform proves by itself
	Admin         // overrules it: forces, vouches for what no software can prove, hands out identities
)

var roleNames = [...]string{"nobody", "viewer", "operator", "admin"}

func (r Role) String() string { return roleNames[r] }

// ParseRole reads a role's name.
func ParseRole(name string) (Role, error) {
	for i, known := range roleNames[1:] {
		if strings.EqualFold(name, known) {
			return Role(i + 1), nil
		}
	}
	return Nobody, fmt.Errorf("%q is none of viewer, operator, admin", name)
}

// UnmarshalText reads a role's name.
func (r *Role) UnmarshalText(text []byte) (err error) {
	*r, err = ParseRole(string(text))
	return err
}

// MarshalText writes a role's name.
func (r Role) MarshalText() ([]byte, error) { return []byte(r.String()), nil }

// Principal is a caller that is known.
type Principal struct {
	Subject string // "" where nobody asked
	Role    Role
	Via     string // how it is known: "token kim", "oidc https://issuer", "certificate CN", or "open"
	// Tenants are those that it sees: nil all, a list without any none. Ask Sees.
	Tenants []string
	Expires time.Time // when what it showed stops being good; zero: never
}

// Open reports whether access is not controlled, so that the caller's own word is all there is.
func (p Principal) Open() bool { return p.Subject == "" }
