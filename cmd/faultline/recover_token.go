package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/faultline-io/faultline/internal/access"
)

func recoverTokenCommand() *cobra.Command {
	name, role, lasts, tenants := "", "", time.Duration(0), []string(nil)
	cmd := &cobra.Command{
		Use:   "token",
		Short: "Make a token for the correlator or the control API, and the line of the configuration that lets it in",
		Long: `Makes a token of 256 random bits. The token is printed once and kept nowhere; the configuration gets its digest,
under access.tokens or, in a file of its own that is read again when it changes, under tokens. Nothing is sent.

  access: {token_file: /etc/faultline/tokens.yaml}`,
		Example: "  faultline recover token --name kim --role operator --lasts 2160h",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if name == "" {
				return errors.New("--name: whose token is it? The name stands in the audit log")
			}
			as, err := access.ParseRole(role)
			if err != nil {
				return fmt.Errorf("--role: %w", err)
			}
			if lasts < 0 {
				return errors.New("--lasts: must not be negative")
			}
			var expires time.Time
			if lasts > 0 {
				expires = time.Now().Add(lasts).UTC().Truncate(time.Second)
			}
			secret, t := access.NewToken(name, as, expires, tenants...)
			until := ""
			if !expires.IsZero() {
				until = ", expires: " + expires.Format(time.RFC3339)
			}
			if len(tenants) > 0 {
				sees, err := json.Marshal(tenants) // which is YAML
				if err != nil {
					return err
				}
				until += ", tenants: " + string(sees)
			}
			_, err = fmt.Fprintf(cmd.OutOrStdout(), "token, shown this once: %s\n\ntokens:\n  - {name: %q, role: %s, sha256: %s%s}\n", secret, t.Name, t.Role, t.SHA256, until)
			return err
		},
	}
	cmd.Flags().StringVar(&name, "name", "", "whose token it is (required)")
	cmd.Flags().StringVar(&role, "role", "viewer", "viewer, operator or admin")
	cmd.Flags().DurationVar(&lasts, "lasts", 0, "how long it is good for (default for ever)")
	cmd.Flags().StringSliceVar(&tenants, "tenant", nil, "a tenant that its owner sees, more than once for several (default all)")
	return cmd
}
