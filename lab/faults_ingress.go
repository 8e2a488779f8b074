package lab

import "time"

func ingressFaults() []Fault {
	return []Fault{
		{
			Name: "ingress_route_missing", Layer: "ingress", Mechanism: "route", Expected: expectAttributed, ShowsIn: []string{"ingress", "client"},
			Description: "the route of the tenants' API is gone from the ingress",
			inject: func(l *lab, _ target) (func() error, error) {
				put := l.ingress.remove("/east/api/")
				return func() error { put(); return nil }, nil
			},
		},
		{
			Name: "ingress_node_route_missing", Layer: "ingress", Mechanism: "route", Expected: expectAttributed, ShowsIn: []string{"ingress", "node_agent", "workflow"},
			Description: "the route of the node API is gone from the ingress", meets: byAgent,
			inject: func(l *lab, _ target) (func() error, error) {
				put := l.ingress.remove("/internal/v1/nodes/")
				l.reconnect()
				return func() error { put(); return nil }, nil
			},
		},
		{
			Name: "ingress_no_backend", Layer: "ingress", Mechanism: "no_backend", Expected: expectAttributed, ShowsIn: []string{"ingress", "client"},
			Description: "a selector that matches nothing: the API runs and is no back end of its route any more",
			inject: func(l *lab, _ target) (func() error, error) {
				u := l.ingress.upstream("fulfillment-api-east")
				u.unregistered.Store(true)
				u.look()
				return func() error { u.unregistered.Store(false); u.look(); return nil }, nil
			},
		},
		{
			Name: "ingress_slow_backend", Layer: "api", Mechanism: "slow", Expected: expectAttributed, ShowsIn: []string{"ingress", "client"},
			Description: "the API answers later than the ingress waits",
			inject: func(l *lab, _ target) (func() error, error) {
				l.api.slow.Store(int64(2 * upstreamTime))
				return func() error { l.api.slow.Store(0); return nil }, nil
			},
		},
		{
			Name: "ingress_identity_dropped", Layer: "ingress", Mechanism: "identity_forwarding", Expected: expectAttributed, ShowsIn: []string{"ingress", "node_agent", "workflow"},
			Description: "the ingress verifies client certificates and no longer passes them on", meets: byAgent,
			inject: func(l *lab, _ target) (func() error, error) {
				l.ingress.anonymous.Store(true)
				l.reconnect()
				return func() error { l.ingress.anonymous.Store(false); return nil }, nil
			},
		},
	}
}

// upstreamTime is how long the ingress waits for the first byte of an answer; node agents' long polls end before.
const upstreamTime = 8 * time.Second
