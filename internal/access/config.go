package access

import (
	"errors"
	"fmt"
	"net"
	"net/url"
	"strings"
)

// Config is the `access` section. Empty, everybody may do everything.
type Config struct {
	Tokens    []Token `yaml:"tokens,omitempty"`
	TokenFile string  `yaml:"token_file,omitempty"` // more of them, as a YAML list; read again when it changes
	OIDC      OIDC    `yaml:"oidc,omitempty"`
	TLS       TLS     `yaml:"tls,omitempty"`
	// Certificates are the client certificates that let in; access.tls.client_ca_file vouches for them.
	Certificates []Certificate `yaml:"certificates,omitempty"`
}

// OIDC is an OpenID Connect issuer and what its tokens are good for.
type OIDC struct {
	Issuer   string `yaml:"issuer,omitempty"`   // its URL, as its tokens name it
	Audience string `yaml:"audience,omitempty"` // the tokens' aud; whatever was issued for others is refused
	// Subject is the claim that names the caller in the audit log.
	Subject string `yaml:"subject,omitempty"`
	// Claim holds the caller's groups: a list, or words with blanks between them. A dot leads into an object.
	Claim  string            `yaml:"claim,omitempty"`
	Roles  map[Role][]string `yaml:"roles,omitempty"`   // groups that have a role; the greatest counts
	CAFile string            `yaml:"ca_file,omitempty"` // who vouches for the issuer's certificate; absent: this system's authorities
	// TenantClaim holds the caller's tenants: one name or a list, with a path as in Claim. Absent: everybody sees all.
	// Where a token lacks it, its owner sees none.
	TenantClaim string   `yaml:"tenant_claim,omitempty"`
	AllTenants  []string `yaml:"all_tenants,omitempty"` // groups that see all tenants, whatever the claim says
}

// Enabled reports whether callers must show who they are.
func (c Config) Enabled() bool {
	return len(c.Tokens) > 0 || c.TokenFile != "" || c.OIDC.Issuer != "" || len(c.Certificates) > 0
}

// Validate names the key that is wrong.
func (c Config) Validate() error {
	var all []error
	if _, err := newDirectory(c.Tokens); err != nil {
		all = append(all, fmt.Errorf("access.tokens: %w", err))
	}
	if _, err := newCertificates(c.Certificates); err != nil {
		all = append(all, fmt.Errorf("access.certificates: %w", err))
	}
	if len(c.Certificates) > 0 && c.TLS.ClientCAFile == "" {
		all = append(all, errors.New("access.tls.client_ca_file: must be set where access.certificates are, or nobody vouches for them"))
	}
	return errors.Join(append(all, c.OIDC.validate(), c.TLS.validate())...)
}

func (c OIDC) validate() error {
	if c.Issuer == "" {
		if c.Audience != "" || len(c.Roles) > 0 {
			return errors.New("access.oidc.issuer: must be set")
		}
		return nil
	}
	var all []error
	u, err := url.Parse(c.Issuer)
	if err != nil || u.Host == "" || u.Scheme != "https" && (u.Scheme != "http" || !Loopback(u.Host)) {
		all = append(all, fmt.Errorf("access.oidc.issuer: %q is no https URL (http is for this machine only)", c.Issuer))
	}
	if c.Audience == "" {
		all = append(all, errors.New("access.oidc.audience: must be set, or tokens that were issued for others would do"))
	}
	if len(c.AllTenants) > 0 && c.TenantClaim == "" {
		all = append(all, errors.New("access.oidc.all_tenants: says nothing without access.oidc.tenant_claim: everybody sees all tenants"))
	}
	granted := 0
	for _, groups := range c.Roles {
		granted += len(groups)
	}
	if granted == 0 {
		all = append(all, errors.New("access.oidc.roles: no group has a role, so nobody could do anything"))
	}
	return errors.Join(all...)
}

// Guards reports whether it is safe to listen on address with this configuration: what is reached from other
// machines wants access control.
func (c Config) Guards(key, address string) error {
	if c.Enabled() || Loopback(address) {
		return nil
	}
	return fmt.Errorf("%s: %s can be reached from other machines, and nobody asks callers who they are: "+
		"configure access (access.tokens, access.token_file or access.oidc), or listen on 127.0.0.1", key, address)
}

// Loopback reports whether only this machine reaches a host:port.
func Loopback(address string) bool {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		host = address
	}
	if strings.EqualFold(host, "localhost") {
		return true
	}
	ip := net.ParseIP(strings.Trim(host, "[]"))
	return ip != nil && ip.IsLoopback()
}
