package main

import (
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/faultline-io/faultline/internal/table"
)

func contextCommand() *cobra.Command {
	cmd := group("context", "Which Faultline is asked, where there are several")
	cmd.Long = `Names servers, so that commands ask the right one: faultline context use NAME, or --context NAME for one command.

A command asks the first of: --server, --context, FAULTLINE_SERVER, ` + contextVariable + `, the current context,
` + defaultServer + `.

They are kept in $XDG_CONFIG_HOME/faultline/config.yaml (else ~/.config/faultline/config.yaml):

  current: prod
  contexts:
    - {name: prod, server: https://faultline.example.com, token_file: prod.token, provisioner: https://provisioner.example.com}
    - {name: lab, server: http://127.0.0.1:8680}`
	cmd.AddCommand(contextListCommand(), contextShowCommand(), contextUseCommand(), contextSetCommand(), contextDeleteCommand())
	return cmd
}

func contextListCommand() *cobra.Command {
	l := look{}
	cmd := &cobra.Command{
		Use: "list", Short: "Every context; * marks the current one", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			f, path, err := loadContexts()
			if err != nil {
				return err
			}
			return l.show(cmd, time.Now(), contextsJSON(f), func() view {
				v := view{ids: f.names(), table: &table.Table{Columns: []table.Column{
					{Name: "CURRENT"}, {Name: "NAME"}, {Name: "SERVER"}, {Name: "TOKEN FILE", Rank: 2}, {Name: "PROVISIONER", Rank: 1},
				}}}
				for _, c := range f.Contexts {
					mark := " "
					if c.Name == f.Current {
						mark = "*"
					}
					v.table.Add(plain(mark, c.Name, redacted(c.Server), c.TokenFile, redacted(c.Provisioner))...)
				}
				if len(f.Contexts) == 0 {
					v.foot = "no contexts in " + path + "; faultline context set NAME --server URL makes one"
				}
				return v
			})
		},
	}
	l.flags(cmd)
	return cmd
}

// contextsJSON is what programs read, keys as in the file.
func contextsJSON(f contextFile) any {
	type one struct {
		Name        string `json:"name"`
		Server      string `json:"server"`
		TokenFile   string `json:"token_file,omitempty"`
		Provisioner string `json:"provisioner,omitempty"`
	}
	out := struct {
		Current  string `json:"current,omitempty"`
		Contexts []one  `json:"contexts"`
	}{f.Current, []one{}}
	for _, c := range f.Contexts {
		c.Server, c.Provisioner = redacted(c.Server), redacted(c.Provisioner)
		out.Contexts = append(out.Contexts, one(c))
	}
	return out
}

func contextShowCommand() *cobra.Command {
	q := question{}
	cmd := &cobra.Command{
		Use: "show", Short: "Whom a command asks now, and what says so", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			to, err := q.destination()
			if err != nil {
				return err
			}
			p := q.page(cmd.OutOrStdout(), q.screen(cmd), time.Now())
			p.field("server", to.shown())
			p.field("because of", to.because)
			p.field("context", to.Name)
			p.field("token file", to.TokenFile)
			p.field("provisioner", redacted(to.Provisioner))
			return nil
		},
	}
	q.whomFlags(cmd)
	return cmd
}

func contextUseCommand() *cobra.Command {
	return &cobra.Command{
		Use: "use NAME", Short: "Make a context the current one", Args: cobra.ExactArgs(1), ValidArgsFunction: completeContexts,
		RunE: func(cmd *cobra.Command, args []string) error {
			c := serverContext{}
			err := changeContexts(func(f *contextFile) (err error) {
				c, err = f.find(args[0])
				f.Current = args[0]
				return err
			})
			if err == nil {
				_, err = fmt.Fprintf(cmd.OutOrStdout(), "%s is asked from now on, at %s\n", c.Name, redacted(c.Server))
			}
			return err
		},
	}
}

func contextSetCommand() *cobra.Command {
	var given serverContext
	cmd := &cobra.Command{
		Use: "set NAME", Short: "Make a context, or change what is given of one", Args: cobra.ExactArgs(1), ValidArgsFunction: completeContexts,
		Example: "  faultline context set prod --server https://faultline.example.com --token-file ~/prod.token\n  faultline context set prod --provisioner https://provisioner.example.com",
		RunE: func(cmd *cobra.Command, args []string) error {
			if given.TokenFile != "" {
				path, err := filepath.Abs(given.TokenFile)
				if err != nil {
					return fmt.Errorf("--token-file: %w", err)
				}
				given.TokenFile = path
			}
			for _, name := range []string{"server", "provisioner"} {
				if address := flagText(cmd, name); address != "" {
					if err := checkAddress(address); err != nil {
						return fmt.Errorf("--%s: %w", name, err)
					}
				}
			}
			current := ""
			err := changeContexts(func(f *contextFile) error {
				at := f.index(args[0])
				if at < 0 {
					if given.Server == "" {
						return fmt.Errorf("--server: %s is a new context; where is its server?", args[0])
					}
					f.Contexts = append(f.Contexts, serverContext{Name: args[0]})
					at = len(f.Contexts) - 1
				}
				c := &f.Contexts[at]
				for name, field := range map[string]*string{"server": &c.Server, "token-file": &c.TokenFile, "provisioner": &c.Provisioner} {
					if cmd.Flags().Changed(name) {
						*field = flagText(cmd, name)
					}
				}
				if cmd.Flags().Changed("token-file") {
					c.TokenFile = given.TokenFile
				}
				if f.Current == "" {
					f.Current = args[0]
				}
				current = f.Current
				return nil
			})
			if err == nil {
				_, err = fmt.Fprintf(cmd.OutOrStdout(), "%s is kept; the current context is %s\n", args[0], current)
			}
			return err
		},
	}
	cmd.Flags().StringVar(&given.Server, "server", "", "the correlator's address")
	cmd.Flags().StringVar(&given.TokenFile, "token-file", "", "file that holds the bearer token")
	cmd.Flags().StringVar(&given.Provisioner, "provisioner", "", "the provisioner's control API, for faultline recover")
	return cmd
}

func contextDeleteCommand() *cobra.Command {
	return &cobra.Command{
		Use: "delete NAME", Short: "Forget a context", Args: cobra.ExactArgs(1), ValidArgsFunction: completeContexts,
		RunE: func(cmd *cobra.Command, args []string) error {
			err := changeContexts(func(f *contextFile) error {
				if _, err := f.find(args[0]); err != nil {
					return err
				}
				if f.Contexts = slices.Delete(f.Contexts, f.index(args[0]), f.index(args[0])+1); f.Current == args[0] {
					f.Current = ""
				}
				return nil
			})
			if err == nil {
				_, err = fmt.Fprintf(cmd.OutOrStdout(), "%s is forgotten\n", args[0])
			}
			return err
		},
	}
}
