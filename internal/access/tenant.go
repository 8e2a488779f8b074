package access

import (
	"errors"
	"fmt"
	"slices"

	"go.yaml.in/yaml/v3"
)

// Tenants are those that a caller sees. Nil is all of them; a list without any, none.
type Tenants []string

// IsZero reports whether the key may be left out when the list is written.
func (t Tenants) IsZero() bool { return t == nil }

func (t Tenants) validate() error {
	if slices.Contains(t, "") {
		return errors.New("tenants: one has no name")
	}
	return nil
}

// Sees reports whether the caller may know of what belongs to tenant. What belongs to none ("") is seen only by who
// sees all.
func (p Principal) Sees(tenant string) bool {
	return p.Tenants == nil || tenant != "" && slices.Contains(p.Tenants, tenant)
}

// SeesAll is nil for a caller who sees all tenants, and a *Denial for one who does not.
func (p Principal) SeesAll() error {
	if p.Tenants == nil {
		return nil
	}
	return &Denial{Reason: TenantLimited, Who: p, Detail: fmt.Sprintf("%s sees only some tenants, and this is of all", p.Subject)}
}

// entry decodes a mapping of a configuration into out. It refuses keys other than those named, as the decoder around it
// does, and tenants that are written without a list: absent means all, so that a slip of the pen would show everything.
func entry(n *yaml.Node, out any, keys ...string) error {
	var wrong []string
	for i := 0; n.Kind == yaml.MappingNode && i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		switch {
		case !slices.Contains(keys, key.Value):
			wrong = append(wrong, fmt.Sprintf("line %d: unknown key %q", key.Line, key.Value))
		case key.Value == "tenants" && value.ShortTag() == "!!null":
			wrong = append(wrong, fmt.Sprintf("line %d: tenants: names none; [] is none, and without the key all are seen", key.Line))
		}
	}
	if len(wrong) > 0 {
		return &yaml.TypeError{Errors: wrong}
	}
	return n.Decode(out)
}
