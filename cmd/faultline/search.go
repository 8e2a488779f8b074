package main

import (
	"context"
	"net/http"
	"strings"

	"github.com/spf13/cobra"

	"github.com/faultline-io/faultline/api/client"
)

func searchCommand() *cobra.Command {
	r := reading{ages: true}
	var severity, layer string
	var services, attrs []string
	cmd := &cobra.Command{
		Use:   "search [WORD...]",
		Short: "Records by what they say, the newest first, over all allocations",
		Long: `Records that hold all the words, in any order and case, and all that the flags ask for. Words are whole:
"certificate" does not find "certificates". The last 24 hours are searched unless --from says otherwise. A
search that would read more than the store allows says how to narrow it.`,
		Example: `  faultline search expired certificate
  faultline search --layer ingress --severity error --from 2h
  faultline search refused --attr node_id=n-7 --attr http.response.status_code=503`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if r.from.String() == "" {
				if err := r.from.Set("24h"); err != nil {
					return err
				}
			}
			p := client.SearchEventsParams{
				Text: ifSaid(strings.Join(args, " ")), Severity: ifSaid(client.SearchEventsParamsSeverity(severity)), Layer: ifSaid(layer),
			}
			if len(services) > 0 {
				p.Service = &services
			}
			if len(attrs) > 0 {
				p.Attr = &attrs
			}
			_, err := r.run(cmd, func(limit int, cursor *string) request {
				p.From, p.To, p.AsOf, p.Limit, p.Cursor = r.from.time(), r.to.time(), r.asOf.time(), &limit, cursor
				return func(ctx context.Context, c client.ClientInterface) (*http.Response, error) {
					return c.SearchEvents(ctx, &p)
				}
			})
			return err
		},
	}
	r.flags(cmd, 100, "; 0 prints all")
	cmd.Flags().StringVar(&severity, "severity", "", "at least this severe: trace, debug, info, warn, error, fatal")
	cmd.Flags().StringVar(&layer, "layer", "", "only records of this layer of the profile")
	cmd.Flags().StringArrayVar(&services, "service", nil, "only records of this service; may be repeated, any of them")
	cmd.Flags().StringArrayVar(&attrs, "attr", nil, "only records with name=value among attributes, resource or identifiers; may be repeated, all of them")
	complete(cmd, "layer", layers()...)
	complete(cmd, "severity", "trace", "debug", "info", "warn", "error", "fatal")
	return cmd
}
