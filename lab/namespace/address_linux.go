package namespace

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"time"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"
)

// blocks is where networks take their addresses from, four each: private ones that are seldom used.
func blocks() []netip.Prefix {
	return []netip.Prefix{
		netip.MustParsePrefix("10.231.77.0/24"), netip.MustParsePrefix("172.31.231.0/24"),
		netip.MustParsePrefix("192.168.231.0/24"), netip.MustParsePrefix("198.18.231.0/24"),
	}
}

// freeBlock finds four addresses that this machine neither has nor has a route to, the default one aside.
func freeBlock() (netip.Prefix, error) {
	taken, err := routed()
	if err != nil {
		return netip.Prefix{}, err
	}
	return choose(taken)
}

func choose(taken []netip.Prefix) (netip.Prefix, error) {
	for _, block := range blocks() {
		for at := block.Addr(); block.Contains(at); at = after(at) {
			if one := netip.PrefixFrom(at, 30); !overlapsAny(taken, one) {
				return one, nil
			}
		}
	}
	return netip.Prefix{}, errors.New("every private address that a network could have is in use on this machine")
}

// after is four addresses on.
func after(a netip.Addr) netip.Addr { return a.Next().Next().Next().Next() }

func overlapsAny(all []netip.Prefix, one netip.Prefix) bool {
	for _, p := range all {
		if p.Overlaps(one) {
			return true
		}
	}
	return false
}

// routed lists the addresses that this machine has, and those of every routing table.
func routed() (all []netip.Prefix, err error) {
	addrs, err := netlink.AddrList(nil, netlink.FAMILY_V4)
	if err != nil {
		return nil, fmt.Errorf("list addresses: %w", err)
	}
	for _, a := range addrs {
		all = append(all, prefixOf(a.IPNet))
	}
	routes, err := netlink.RouteListFiltered(netlink.FAMILY_V4, &netlink.Route{Table: unix.RT_TABLE_UNSPEC}, netlink.RT_FILTER_TABLE)
	if err != nil {
		return nil, fmt.Errorf("list routes: %w", err)
	}
	for _, r := range routes {
		if r.Dst == nil {
			continue
		}
		if p := prefixOf(r.Dst); p.Bits() > 0 {
			all = append(all, p)
		}
	}
	return all, nil
}

func prefixOf(n *net.IPNet) netip.Prefix {
	addr, _ := netip.AddrFromSlice(n.IP)
	bits, _ := n.Mask.Size()
	return netip.PrefixFrom(addr.Unmap(), bits).Masked()
}

func ipNet(p netip.Prefix) *net.IPNet {
	return &net.IPNet{IP: p.Addr().AsSlice(), Mask: net.CIDRMask(p.Bits(), p.Addr().BitLen())}
}

// reserved is the name that is held while addresses are chosen. It is one of this machine's network, as the
// addresses are, and goes with the process that holds it.
const reserved = "@faultline-lab-addresses"

// reserve waits until no other process chooses addresses.
func reserve() (release func(), err error) {
	for deadline := time.Now().Add(20 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		l, err := net.Listen("unix", reserved) //nolint:noctx // nothing to wait for
		if err == nil {
			return func() { _ = l.Close() }, nil
		}
		if !errors.Is(err, unix.EADDRINUSE) || time.Now().After(deadline) {
			return nil, fmt.Errorf("choose addresses: %w", err)
		}
	}
}
