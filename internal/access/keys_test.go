package access_test

import (
	"sync"
	"testing"
	"time"

	"github.com/faultline-io/faultline/internal/access"
)

func TestMadeUpTokensDoNotFloodTheIssuer(t *testing.T) {
	p := newIdentityProvider(t)
	var mu sync.Mutex
	now := time.Now()
	pass := func(d time.Duration) { mu.Lock(); defer mu.Unlock(); now = now.Add(d) }
	g, err := access.Open(access.Config{OIDC: access.OIDC{
		Issuer: p.URL, Audience: "faultline", CAFile: p.trusts(), Roles: map[access.Role][]string{access.Viewer: {"sre"}},
	}}, func() time.Time { mu.Lock(); defer mu.Unlock(); return now })
	if err != nil {
		t.Fatal(err)
	}
	asked := func(want int, when string) {
		t.Helper()
		if got := p.KeysAsked(); got != want {
			t.Fatalf("%s the keys were fetched %d times, want %d", when, got, want)
		}
	}
	admits(t, g, ask(p.token("k1", nil)), access.Viewer, "u-17", "")
	asked(1, "for the first token")
	p.rotate("k2")
	admits(t, g, ask(p.token("k2", nil)), access.Viewer, "u-17", "")
	asked(2, "for a new key, at once")
	flood := func() {
		t.Helper()
		forged, err := p.Forge("nobody's", nil)
		if err != nil {
			t.Fatal(err)
		}
		var all sync.WaitGroup
		for range 4 {
			all.Go(func() {
				for range 50 {
					_, err := g.Admit(ask(forged), access.Viewer)
					if d := access.DenialOf(err); d == nil || d.Reason != access.TokenUnknown {
						t.Errorf("%v", err)
					}
				}
			})
		}
		all.Wait()
	}
	flood()
	asked(4, "under a flood")
	admits(t, g, ask(p.token("k1", nil)), access.Viewer, "u-17", "")
	for i := range 3 { // what was known goes on being known, and each ten seconds somebody looks
		pass(10 * time.Second)
		flood()
		asked(5+i, "under a flood that lasts")
	}
	p.rotate("k3")
	pass(10 * time.Second)
	flood()
	admits(t, g, ask(p.token("k3", nil)), access.Viewer, "u-17", "")
	if got := p.KeysAsked(); got > 9 {
		t.Fatal(got)
	}

	p.SetDown(true) // neither does one that is away
	pass(10 * time.Second)
	forged, err := p.Forge("nobody's", nil)
	if err != nil {
		t.Fatal(err)
	}
	for range 20 {
		admits(t, g, ask(forged), access.Viewer, "", access.IssuerUnavailable)
	}
	p.SetDown(false)
	before := p.KeysAsked()
	admits(t, g, ask(forged), access.Viewer, "", access.IssuerUnavailable)
	asked(before, "soon after it was away")
	pass(5 * time.Second)
	admits(t, g, ask(forged), access.Viewer, "", access.TokenUnknown)
	asked(before+1, "when it was back")
}
