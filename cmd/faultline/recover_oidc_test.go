package main

import (
	"context"
	"os"
	"path/filepath"
	"time"

	"github.com/faultline-io/faultline/internal/access/accesstest"
	"github.com/faultline-io/faultline/internal/service"
)

// issue is an OpenID Connect issuer for scripts: issue DIR. It leaves its certificate and tokens there, and
// its address, last, in DIR/url.
func issue() {
	p, err := accesstest.NewIssuer()
	fail(err)
	write := func(name string, text []byte) { fail(os.WriteFile(filepath.Join(os.Args[1], name), text, 0o600)) }
	_, err = p.CAFile(os.Args[1])
	fail(err)
	for name, change := range map[string]map[string]any{
		"kim":     nil, // in sre
		"vera":    {"email": "vera@example.com", "groups": []string{"everyone"}},
		"ada":     {"email": "ada@example.com", "groups": []string{"sre-lead"}},
		"late":    {"exp": time.Now().Add(-time.Minute).Unix()},
		"another": {"aud": "another"},
		"nobody":  {"groups": []string{}},
	} {
		token, err := p.Token("k1", change)
		fail(err)
		write(name+".token", []byte(token+"\n"))
	}
	token, err := p.Forge("k1", map[string]any{"groups": []string{"sre-lead"}})
	fail(err)
	write("forged.token", []byte(token))
	write("url.new", []byte(p.URL))
	fail(os.Rename(filepath.Join(os.Args[1], "url.new"), filepath.Join(os.Args[1], "url")))
	ctx, stop := service.SignalContext(context.Background())
	defer stop()
	<-ctx.Done()
	p.Close()
}
