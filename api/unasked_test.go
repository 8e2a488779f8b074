package api_test

import (
	"log/slog"
	"testing"

	"github.com/faultline-io/faultline/api/guard"
)

// unasked is a guard that lets everybody in, under the name that httptest gives its requests.
func unasked(t *testing.T) *guard.Guard {
	t.Helper()
	c := guard.DefaultConfig()
	c.Hosts = []string{"example.com"}
	g, err := guard.New(c, guard.DefaultLimits(), "127.0.0.1:8680", slog.New(slog.DiscardHandler), nil)
	if err != nil {
		t.Fatal(err)
	}
	return g
}
