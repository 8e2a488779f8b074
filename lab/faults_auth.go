package lab

import (
	"time"
)

func authFaults() []Fault {
	return []Fault{
		{
			Name: "auth_expired", Layer: "api_auth", Mechanism: "token_expired", Expected: expectAttributed, ShowsIn: []string{"api_auth", "api", "client"},
			Description: "alice's token is over its time and nothing refreshes it",
			inject: func(l *lab, _ target) (func() error, error) {
				l.auth.expire("tok-alice", time.Now())
				return func() error { l.auth.expire("tok-alice", time.Time{}); return nil }, nil
			},
		},
		{
			Name: "auth_policy_missing", Layer: "api_auth", Mechanism: "policy", Expected: expectAttributed, ShowsIn: []string{"api_auth", "api", "client"},
			Description: "alice's line is missing from the policy",
			inject: func(l *lab, _ target) (func() error, error) {
				put := l.auth.forget("alice")
				return func() error { put(); return nil }, nil
			},
		},
		{
			Name: "auth_down", Layer: "deploy", Mechanism: "not_running", Expected: expectAttributed, ShowsIn: []string{"api", "client"},
			Description: "the authorization service is scaled to nothing: dials are refused",
			inject: func(l *lab, _ target) (func() error, error) {
				return l.listeners.auth.reopen, l.listeners.auth.shut()
			},
		},
	}
}
