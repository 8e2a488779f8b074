package rest_test

import (
	"encoding/json"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/faultline-io/faultline/internal/access"
	"github.com/faultline-io/faultline/internal/access/accesstest"
	"github.com/faultline-io/faultline/provisioner/control"
	"github.com/faultline-io/faultline/provisioner/recovery"
	"github.com/faultline-io/faultline/provisioner/rest"
	"github.com/faultline-io/faultline/provisioner/store"
)

// People come with tokens of their issuer: what they may do follows from their groups, and what they did
// stands under their name.
func TestTokensOfAnIssuer(t *testing.T) {
	issuer, err := accesstest.NewIssuer()
	if err != nil {
		t.Fatal(err)
	}
	defer issuer.Close()
	ca, err := issuer.CAFile(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	secret, static := access.NewToken("break-glass", access.Admin, time.Time{})
	gate, err := access.Open(access.Config{Tokens: []access.Token{static}, OIDC: access.OIDC{
		Issuer: issuer.URL, Audience: accesstest.Audience, Subject: "email", Claim: "groups", CAFile: ca,
		Roles: map[access.Role][]string{access.Viewer: {"everyone"}, access.Operator: {"sre"}, access.Admin: {"sre-lead"}},
	}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	b := newBench(t, store.Options{})
	b.control = rest.NewControl(control.New(b.store, time.Minute), recovery.New(b.store, recovery.DefaultConfig(), time.Minute), gate, nil, slog.New(slog.DiscardHandler))
	as := func(change map[string]any) []string {
		t.Helper()
		token, err := issuer.Token("k1", change)
		if err != nil {
			t.Fatal(err)
		}
		return []string{"Authorization", "Bearer " + token}
	}
	kim, vera := as(nil), as(map[string]any{"email": "vera@example.com", "groups": []string{"everyone"}})
	ada := as(map[string]any{"email": "ada@example.com", "groups": []string{"sre-lead"}})

	b.want(b.call(b.control, "POST", "/v1/nodes", `{"node_id":"n-1","node_pool":"p"}`, kim...), 403, "role_missing")
	b.want(b.call(b.control, "POST", "/v1/nodes", `{"node_id":"n-1","node_pool":"p"}`, ada...), 201, "")
	b.want(b.call(b.control, "POST", "/v1/allocations", good, vera...), 403, "role_missing")
	b.want(b.call(b.control, "POST", "/v1/allocations", good, kim...), 201, "")
	b.want(b.call(b.control, "GET", "/v1/nodes", "", vera...), 200, "")
	b.want(b.call(b.control, "POST", "/v1/recovery/nodes/n-1/fence", `{"reason":"smoke"}`, vera...), 403, "role_missing")
	b.want(b.call(b.control, "POST", "/v1/recovery/nodes/n-1/fence", `{"reason":"smoke","actor":"ada@example.com"}`, kim...), 403, "actor_mismatch")
	b.want(b.call(b.control, "POST", "/v1/recovery/nodes/n-1/fence", `{"reason":"smoke"}`, kim...), 200, "")

	late := b.call(b.control, "GET", "/v1/nodes", "", as(map[string]any{"exp": time.Now().Add(-time.Minute).Unix()})...)
	b.want(late, 401, "token_expired")
	if h := late.Header().Get("WWW-Authenticate"); !strings.Contains(h, "invalid_token") {
		t.Errorf("WWW-Authenticate: %q", h)
	}
	b.want(b.call(b.control, "GET", "/v1/nodes", "", as(map[string]any{"aud": "another"})...), 401, "token_audience")
	b.want(b.call(b.control, "GET", "/v1/nodes", "", as(map[string]any{"groups": nil})...), 403, "no_role")
	forged, err := issuer.Forge("k1", nil)
	if err != nil {
		t.Fatal(err)
	}
	b.want(b.call(b.control, "GET", "/v1/nodes", "", "Authorization", "Bearer "+forged), 401, "token_unknown")

	w := b.call(b.control, "GET", "/v1/audit?action=fence", "", vera...)
	b.want(w, 200, "")
	var audit struct {
		Entries []struct{ Actor, Outcome string }
	}
	if err := json.Unmarshal(w.Body.Bytes(), &audit); err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, i := range audit.Entries {
		got = append(got, i.Actor+" "+i.Outcome)
	}
	if text := strings.Join(got, ", "); !strings.Contains(text, "kim@example.com done") || !strings.Contains(text, "vera@example.com denied") {
		t.Errorf("the audit log has %s: %s", text, w.Body)
	}

	if err := issuer.Rotate("k2"); err != nil { // while the issuer is away, nobody knows its new key
		t.Fatal(err)
	}
	issuer.SetDown(true)
	fresh, err := issuer.Token("k2", nil)
	if err != nil {
		t.Fatal(err)
	}
	b.want(b.call(b.control, "GET", "/v1/nodes", "", "Authorization", "Bearer "+fresh), 503, "issuer_unavailable")
	b.want(b.call(b.control, "GET", "/v1/nodes", "", kim...), 200, "")
	b.want(b.call(b.control, "GET", "/v1/nodes", "", "Authorization", "Bearer "+secret), 200, "")
}
