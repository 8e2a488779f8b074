package lab

import (
	"crypto/tls"
	"errors"
	"fmt"
	"time"
)

func certFaults() []Fault {
	const hour = time.Hour
	server := func(name, mechanism, what string, issue func(*lab) (tls.Certificate, error)) Fault {
		return Fault{
			Name: name, Layer: "cert", Mechanism: mechanism, Description: what, ShowsIn: []string{"client", "node_agent", "ingress"}, Expected: expectAttributed, meets: byWork,
			inject: func(l *lab, _ target) (func() error, error) {
				c, err := issue(l)
				if err != nil {
					return nil, err
				}
				l.install(&c)
				return func() error { l.install(nil); return nil }, nil
			},
		}
	}
	node := func(name, mechanism, what string, issue func(*lab, string) (tls.Certificate, error)) Fault {
		return Fault{
			Name: name, Layer: "cert", Mechanism: mechanism, Description: what, ShowsIn: []string{"ingress", "node_agent", "workflow"}, Expected: expectAttributed, meets: byNode,
			inject: func(l *lab, t target) (func() error, error) {
				return l.onNodes(t, func(id string, n *nodeState) (func() error, error) {
					c, err := issue(l, id)
					if err != nil {
						return nil, err
					}
					n.change(func(n *nodeState) { n.cert = &c })
					return n.undo(func(n *nodeState) { n.cert = nil }), nil
				})
			},
		}
	}
	stranger := func(name string, hosts ...string) (tls.Certificate, error) {
		other, err := newAuthority("lab-ca-retired", time.Now())
		if err != nil {
			return tls.Certificate{}, err
		}
		return other.issue(name, time.Now().Add(-hour), time.Now().Add(24*hour), hosts...)
	}
	return []Fault{
		server("cert_expired", "expired", "the ingress's certificate was not renewed and has expired", func(l *lab) (tls.Certificate, error) {
			return l.pki.ca.issue("ingress", time.Now().Add(-48*hour), time.Now().Add(-hour/2), "127.0.0.1", "localhost")
		}),
		server("cert_wrong_ca", "unknown_ca", "the ingress's certificate was signed by an authority that nobody trusts", func(*lab) (tls.Certificate, error) {
			return stranger("ingress", "127.0.0.1", "localhost")
		}),
		server("cert_wrong_name", "wrong_name", "the ingress's certificate is for another address", func(l *lab) (tls.Certificate, error) {
			return l.pki.ca.issue("ingress", time.Now().Add(-hour), time.Now().Add(24*hour), "10.11.0.9", "ingress-old.lab")
		}),
		node("node_cert_expired", "expired", "the client certificate of one node has expired", func(l *lab, id string) (tls.Certificate, error) {
			return l.pki.ca.issue(id, time.Now().Add(-48*hour), time.Now().Add(-hour/2))
		}),
		node("node_cert_wrong_ca", "unknown_ca", "one node presents a certificate of an authority that was retired", func(_ *lab, id string) (tls.Certificate, error) {
			return stranger(id)
		}),
	}
}

// install has the ingress present another certificate, nil: its own. Who is connected is asked to come again.
func (l *lab) install(c *tls.Certificate) {
	if c == nil {
		c = &l.pki.server
	}
	l.ingress.certificate.Store(c)
	l.reconnect()
}

// reconnect ends connections that idle and has those in use end after their request, as a proxy does that
// reads its configuration anew.
func (l *lab) reconnect() {
	l.ingress.drain.Store(time.Now().Add(10 * time.Second).UnixNano())
	l.closeIdle()
}

// onNodes does something to each node of the target, and undoes it.
func (l *lab) onNodes(t target, do func(id string, n *nodeState) (func() error, error)) (heal func() error, err error) {
	var undo []func() error
	heal = func() (err error) {
		for _, f := range undo {
			err = errors.Join(err, f())
		}
		l.reconnect()
		return err
	}
	for _, id := range t.nodes {
		f, err := do(id, l.states[id])
		if err != nil {
			_ = heal()
			return nil, fmt.Errorf("%s: %w", id, err)
		}
		undo = append(undo, f)
	}
	l.reconnect()
	return heal, nil
}
