package rest_test

import (
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"testing"

	"github.com/faultline-io/faultline/provisioner/authority"
	"github.com/faultline-io/faultline/provisioner/rest"
	"github.com/faultline-io/faultline/provisioner/store"
)

// Whoever is no proxy of ours can put what it likes into the header.
func TestOnlyAProxySaysWhoCalls(t *testing.T) {
	b := newBench(t, store.Options{})
	as := b.agentOf("n-1")
	named, err := authority.Config{Life: 1, Proxies: []string{"10.1.0.0/16", "fd00::7"}}.Networks()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		ingress []netip.Prefix
		from    string
		status  int
	}{
		{nil, "127.0.0.1:5000", 204},
		{nil, "[::1]:5000", 204},
		{nil, "[::ffff:127.0.0.1]:5000", 204},
		{nil, "10.1.2.3:5000", 401},
		{nil, "", 401},
		{nil, "@", 401},
		{named, "10.1.2.3:5000", 204},
		{named, "[fd00::7]:5000", 204},
		{named, "[fd00::8]:5000", 401},
		{named, "127.0.0.1:5000", 401},
	} {
		r := httptest.NewRequest(http.MethodGet, "/internal/v1/nodes/n-1/tasks/wait?timeout=1ms", nil)
		r.RemoteAddr = c.from
		for i := 0; i < len(as); i += 2 {
			r.Header.Set(as[i], as[i+1])
		}
		w := httptest.NewRecorder()
		rest.NewNode(b.fleet, nil, slog.New(slog.DiscardHandler), c.ingress...).ServeHTTP(w, r)
		reason := ""
		if c.status == 401 {
			reason = "no_certificate"
		}
		b.want(w, c.status, reason)
	}
	var denied []store.Audit
	if err := b.store.View(t.Context(), "audit", func(tx *store.Tx) (err error) {
		denied, err = tx.AuditLog(store.AuditFilter{NodeID: "n-1", Outcome: store.Denied, Limit: 10})
		return err
	}); err != nil || len(denied) == 0 {
		t.Fatal(denied, err)
	}
}

func TestProxiesAreAddresses(t *testing.T) {
	for text, good := range map[string]bool{"10.0.0.0/8": true, "::1": true, "ingress": false, "10.0.0.1:80": false, "10.0.0.0/33": false} {
		if err := (authority.Config{Life: 1, Proxies: []string{text}}).Validate(); (err == nil) != good {
			t.Error(text, err)
		}
	}
	if err := (authority.Config{Life: 1, Folder: "f", Proxies: []string{"::1"}}).Validate(); err == nil {
		t.Error("proxies beside a folder say nothing")
	}
}
