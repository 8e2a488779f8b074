package lab

import (
	"context"
	"errors"
	"fmt"
	"net"
	"time"

	"github.com/faultline-io/faultline/lab/namespace"
)

// What nodes' networks are.
const (
	networkAuto      = "auto"
	networkNamespace = "namespace"
	networkProxy     = "proxy"
)

// joinNetworks gives every node a network of its own, where that can be had and is wanted. It is all or none,
// so that nodes differ in nothing but their faults.
func (l *lab) joinNetworks(ctx context.Context) error {
	if l.config.Network == networkProxy {
		return nil
	}
	for _, s := range l.specs {
		err := l.joinNetwork(ctx, l.states[s.id])
		if err == nil {
			continue
		}
		err = errors.Join(fmt.Errorf("network of %s: %w", s.id, err), l.leaveNetworks())
		if l.config.Network == networkNamespace {
			return err
		}
		l.log.Info("nodes have no networks of their own, partitions are made by a proxy", "reason", err)
		return nil
	}
	l.log.Info("nodes have networks of their own, partitions are made by the kernel", "interfaces", namespace.Prefix+"*", "nodes", len(l.specs))
	return nil
}

// joinNetwork makes one, opens the ingress in it, and tries it: a firewall may be between the two.
func (l *lab) joinNetwork(ctx context.Context, n *nodeState) (err error) {
	own, err := namespace.Open()
	if err != nil {
		return err
	}
	n.path.own = own
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", net.JoinHostPort(own.Gateway().String(), "0"))
	if err != nil {
		return err
	}
	l.sockets.gateways = append(l.sockets.gateways, listener)
	n.path.front = listener.Addr().String()
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	c, err := n.path.dial(ctx, "tcp", n.path.front)
	if err != nil {
		return fmt.Errorf("reach this machine from inside: %w", err)
	}
	_ = c.Close()
	c, err = listener.Accept()
	if err != nil {
		return err
	}
	return c.Close()
}

// leaveNetworks takes them away.
func (l *lab) leaveNetworks() (err error) {
	for _, g := range l.sockets.gateways {
		_ = g.Close()
	}
	l.sockets.gateways = nil
	for id, n := range l.states {
		if n.path.own == nil {
			continue
		}
		if failed := n.path.own.Close(); failed != nil {
			err = errors.Join(err, fmt.Errorf("take network of %s away: %w", id, failed))
		}
		n.path.own = nil
	}
	return err
}
