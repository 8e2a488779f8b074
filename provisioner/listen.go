package provisioner

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"time"

	"github.com/faultline-io/faultline/internal/service"
	"github.com/faultline-io/faultline/provisioner/authority"
	"github.com/faultline-io/faultline/provisioner/fleet"
)

// serviceLife is that of the node API's own certificate; a start makes another.
const serviceLife = 90 * 24 * time.Hour

// listenForNodes opens the node API's listener. With an authority it speaks TLS, to whoever holds a
// certificate of the authority: who that is, is looked at with every request.
func (c Config) listenForNodes(ctx context.Context, f *fleet.Fleet, shown *service.Certificates) (net.Listener, error) {
	var wrap *tls.Config
	if c.Authority.Folder != "" {
		a, err := authority.Open(c.Authority.Folder)
		if err != nil {
			return nil, err
		}
		host, _, err := net.SplitHostPort(c.Node)
		if err != nil {
			return nil, fmt.Errorf("node: %w", err)
		}
		hosts := []string{authority.NodeAPI, "localhost", "127.0.0.1", "::1"}
		if host != "" {
			hosts = append(hosts, host)
		}
		now := time.Now()
		pair, err := a.Pair(authority.Identity{Service: authority.NodeAPI}, now.Add(-time.Hour), now.Add(serviceLife), hosts...)
		if err != nil {
			return nil, err
		}
		f.Certify(a, c.Authority.Life)
		shown.Add("node", func() (time.Time, error) { return pair.Leaf.NotAfter, nil })
		shown.Add("authority", func() (time.Time, error) { return a.Certificate().NotAfter, nil })
		wrap = &tls.Config{
			Certificates: []tls.Certificate{pair}, ClientAuth: tls.VerifyClientCertIfGiven, ClientCAs: a.Pool(),
			MinVersion: tls.VersionTLS13, NextProtos: []string{"http/1.1"},
		}
	}
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", c.Node)
	if err != nil {
		return nil, fmt.Errorf("listen on %s: %w", c.Node, err)
	}
	if wrap != nil {
		l = tls.NewListener(l, wrap)
	}
	return l, nil
}
