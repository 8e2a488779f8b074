//go:build !linux

package namespace

import (
	"context"
	"errors"
	"net"
	"net/netip"
)

// Network is what only Linux has.
type Network struct{}

// Open says that there is none.
func Open() (*Network, error) { return nil, errors.New("network namespaces are Linux's") }

// Name is nobody's.
func (*Network) Name() string { return "" }

// Gateway is nobody's address.
func (*Network) Gateway() netip.Addr { return netip.Addr{} }

// Dial is never called: there is no Network.
func (*Network) Dial(context.Context, string, string) (net.Conn, error) {
	return nil, errors.ErrUnsupported
}

// Cut is never called.
func (*Network) Cut() error { return errors.ErrUnsupported }

// Mend is never called.
func (*Network) Mend() error { return errors.ErrUnsupported }

// Close is never called.
func (*Network) Close() error { return nil }
