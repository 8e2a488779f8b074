package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/faultline-io/faultline/lab"
)

// runningLab is the flag that says which lab is meant.
type runningLab struct{ data string }

func (r *runningLab) flag(cmd *cobra.Command) {
	cmd.Flags().StringVar(&r.data, "data", "data", "data folder of the faultline up, or of the faultline-lab run, that runs")
}

// dial finds it: in the folder itself, or in the lab's part of a whole run's.
func (r *runningLab) dial() (*lab.Remote, error) {
	remote, err := lab.Dial(r.data + "/lab")
	if errors.Is(err, lab.ErrNoLab) {
		if own, ownErr := lab.Dial(r.data); ownErr == nil {
			return own, nil
		}
	}
	return remote, err
}

// wait finds it as soon as it is there, within a minute.
func (r *runningLab) wait(ctx context.Context) (*lab.Remote, error) {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	for {
		remote, err := r.dial()
		if err == nil {
			return remote, nil
		}
		select {
		case <-ctx.Done():
			return nil, err
		case <-time.After(100 * time.Millisecond):
		}
	}
}

func injectCommand() *cobra.Command {
	at, order := runningLab{}, lab.Order{}
	cmd := &cobra.Command{
		Use:   "inject FAULT",
		Short: "Make a real fault in the running lab; faultline-lab list shows them",
		Long: `Makes a fault in the lab that runs, until it is healed, its time is over, or the lab ends. Nothing in
telemetry says so but its effects; which allocations it cost something stands in truth.jsonl.`,
		Example: "  faultline-lab inject node_disk_full\n  faultline-lab inject cert_expired --for 30s",
		Args:    oneFault,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := lab.CheckFault(args[0]); err != nil {
				return err
			}
			remote, err := at.dial()
			if err != nil {
				return err
			}
			defer remote.Close()
			order.Name = args[0]
			on, err := remote.Inject(cmd.Context(), order)
			if err != nil {
				return err
			}
			where, until := "", "until faultline-lab heal "+on.Name
			if len(on.Nodes) > 0 {
				where = ": " + strings.Join(on.Nodes, ", ")
			}
			if on.Way != "" {
				where += " by " + on.Way
			}
			if order.For > 0 {
				until = "for " + order.For.String()
			}
			_, err = fmt.Fprintf(cmd.OutOrStdout(), "%s is on%s, %s\n", on.Name, where, until)
			return err
		},
	}
	at.flag(cmd)
	cmd.Flags().DurationVar(&order.For, "for", 0, "heal it after this long (default: not by itself)")
	cmd.Flags().StringVar(&order.Pool, "pool", "", "pool of the node, for a fault of nodes (default \"general\")")
	return cmd
}

func oneFault(_ *cobra.Command, args []string) error {
	if len(args) != 1 {
		return errors.New("name one fault; faultline-lab list shows them")
	}
	return nil
}

func healCommand() *cobra.Command {
	at := runningLab{}
	cmd := &cobra.Command{
		Use:   "heal [FAULT]",
		Short: "End a fault in the running lab, or all of them",
		Args:  cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			remote, err := at.dial()
			if err != nil {
				return err
			}
			defer remote.Close()
			was, err := remote.On(cmd.Context())
			if err != nil {
				return err
			}
			name := strings.Join(args, "")
			if err := remote.Heal(cmd.Context(), name); err != nil {
				return err
			}
			if name == "" && len(was) == 0 {
				_, err = fmt.Fprintln(cmd.OutOrStdout(), "no fault is on")
			}
			for _, on := range was {
				if name == "" || on.Name == name {
					_, err = fmt.Fprintf(cmd.OutOrStdout(), "%s is healed after %s\n", on.Name, time.Since(on.Since).Round(time.Second))
				}
			}
			return err
		},
	}
	at.flag(cmd)
	return cmd
}

func faultsCommand() *cobra.Command {
	at, asJSON := runningLab{}, false
	cmd := &cobra.Command{
		Use:   "list",
		Short: "The faults that the lab can make: whose each is, where it shows, and what a verdict must say",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if asJSON {
				return printJSON(cmd.OutOrStdout(), lab.Faults())
			}
			return at.list(cmd.Context(), cmd.OutOrStdout())
		},
	}
	at.flag(cmd)
	cmd.Flags().BoolVar(&asJSON, "json", false, "print an array of {name, layer, mechanism, description, shows_in, expected}")
	return cmd
}

func (r *runningLab) list(ctx context.Context, out io.Writer) error {
	on := map[string]string{}
	if remote, err := r.dial(); err == nil {
		defer remote.Close()
		if all, err := remote.On(ctx); err == nil {
			for _, f := range all {
				on[f.Name] = strings.TrimSuffix(" (on, by "+f.Way, ", by ") + ")"
			}
		}
	}
	w := tabwriter.NewWriter(out, 0, 8, 2, ' ', 0)
	fmt.Fprintln(w, "FAULT\tOWNER\tSHOWS IN\tEXPECTED\tWHAT IT IS")
	for _, f := range lab.Faults() {
		fmt.Fprintf(w, "%s\t%s/%s\t%s\t%s\t%s\n", f.Name+on[f.Name], f.Layer, f.Mechanism, strings.Join(f.ShowsIn, " "), f.Expected, f.Description)
	}
	return w.Flush()
}

func printJSON(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(v)
}
