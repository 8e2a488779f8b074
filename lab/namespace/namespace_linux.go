package namespace

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"runtime"
	"syscall"
	"time"

	"github.com/vishvananda/netlink"
	"github.com/vishvananda/netns"
	"golang.org/x/sys/unix"
)

// inside is the interface's name as the node sees it.
const inside = "eth0"

// Network is one node's. Safe for use by several goroutines.
type Network struct {
	name          string // of the interface on this side
	home, own     netns.NsHandle
	gateway, self netip.Addr
}

// Open makes a network. The error says which right, or what else, is missing.
func Open() (n *Network, err error) {
	n = &Network{name: newName(), home: netns.None(), own: netns.None()}
	defer func() {
		if err != nil {
			_ = n.Close()
			n = nil
		}
	}()
	if n.home, err = netns.Get(); err != nil {
		return n, fmt.Errorf("find this machine's network: %w", err)
	}
	if err := onThread(func() error {
		if n.own, err = netns.New(); err != nil {
			return fmt.Errorf("make network namespace: %w", err)
		}
		return netns.Set(n.home)
	}); err != nil {
		return n, err
	}
	release, err := reserve()
	if err != nil {
		return n, err
	}
	defer release()
	block, err := freeBlock()
	if err != nil {
		return n, err
	}
	n.gateway = block.Addr().Next()
	n.self = n.gateway.Next()
	return n, n.join(block.Bits())
}

// join makes the pair and gives both ends their addresses. Each knows the other's hardware address for good: on
// a network that is cut, packets are sent and lost, as behind a switch that has failed, and nobody is told at once.
func (n *Network) join(bits int) error {
	pair := &netlink.Veth{LinkAttrs: netlink.LinkAttrs{Name: n.name}, PeerName: inside, PeerNamespace: netlink.NsFd(n.own)}
	if err := netlink.LinkAdd(pair); err != nil {
		return fmt.Errorf("make interface %s: %w", n.name, err)
	}
	there, err := netlink.NewHandleAt(n.own)
	if err != nil {
		return fmt.Errorf("look into the namespace: %w", err)
	}
	defer there.Close()
	here, err := netlink.NewHandle()
	if err != nil {
		return err
	}
	defer here.Close()
	ends := []struct {
		handle *netlink.Handle
		name   string
		addr   netip.Addr
		link   netlink.Link
	}{{here, n.name, n.gateway, nil}, {there, inside, n.self, nil}}
	for i := range ends {
		e := &ends[i]
		if e.link, err = e.handle.LinkByName(e.name); err != nil {
			return fmt.Errorf("find interface %s: %w", e.name, err)
		}
		if err := e.handle.AddrAdd(e.link, &netlink.Addr{IPNet: ipNet(netip.PrefixFrom(e.addr, bits))}); err != nil {
			return fmt.Errorf("give %s its address %s: %w", e.name, e.addr, err)
		}
		if err := e.handle.LinkSetUp(e.link); err != nil {
			return fmt.Errorf("bring %s up: %w", e.name, err)
		}
	}
	for i, e := range ends {
		peer := ends[1-i]
		if err := e.handle.NeighSet(&netlink.Neigh{
			LinkIndex: e.link.Attrs().Index, State: netlink.NUD_PERMANENT, IP: peer.addr.AsSlice(), HardwareAddr: peer.link.Attrs().HardwareAddr,
		}); err != nil {
			return fmt.Errorf("tell %s who %s is: %w", e.name, peer.addr, err)
		}
	}
	return n.settle()
}

// settle waits until the interface carries packets, which the kernel decides some time after it is up.
func (n *Network) settle() error {
	for deadline := time.Now().Add(10 * time.Second); ; time.Sleep(10 * time.Millisecond) {
		link, err := netlink.LinkByName(n.name)
		if err != nil {
			return fmt.Errorf("find interface %s: %w", n.name, err)
		}
		if state := link.Attrs().OperState; state == netlink.OperUp {
			return nil
		} else if time.Now().After(deadline) {
			return fmt.Errorf("interface %s stays %s", n.name, state)
		}
	}
}

// Name is that of the interface on this side.
func (n *Network) Name() string { return n.name }

// Gateway is this machine's address as seen from inside.
func (n *Network) Gateway() netip.Addr { return n.gateway }

// patience is how long the kernel waits for an answer before it says that a connection timed out.
const patience = 3 * time.Second

// Dial connects from inside. The kernel gives up on a peer that does not answer within patience, be it asked to
// connect, sent something, or silent.
func (n *Network) Dial(ctx context.Context, network, address string) (c net.Conn, err error) {
	d := net.Dialer{
		KeepAliveConfig: net.KeepAliveConfig{Enable: true, Idle: patience / 3, Interval: patience / 3, Count: 3},
		Control: func(_, _ string, raw syscall.RawConn) error {
			var failed error
			err := raw.Control(func(fd uintptr) {
				failed = errors.Join(
					unix.SetsockoptInt(int(fd), unix.IPPROTO_TCP, unix.TCP_SYNCNT, 1), // after one second, and two more
					unix.SetsockoptInt(int(fd), unix.IPPROTO_TCP, unix.TCP_USER_TIMEOUT, int(patience.Milliseconds())))
			})
			return errors.Join(err, failed)
		},
	}
	err = n.within(func() error {
		c, err = d.DialContext(ctx, network, address)
		return err
	})
	return c, err
}

// Cut loses every packet from now on: this side's interface is taken down.
func (n *Network) Cut() error { return n.set(netlink.LinkSetDown) }

// Mend brings it up again.
func (n *Network) Mend() error { return errors.Join(n.set(netlink.LinkSetUp), n.settle()) }

func (n *Network) set(to func(netlink.Link) error) error {
	link, err := netlink.LinkByName(n.name)
	if err == nil {
		err = to(link)
	}
	if err != nil {
		return fmt.Errorf("set interface %s: %w", n.name, err)
	}
	return nil
}

// Close takes the network away. What is connected through it is lost.
func (n *Network) Close() error {
	var err error
	if link, missing := netlink.LinkByName(n.name); missing == nil {
		err = netlink.LinkDel(link) // at once: the kernel takes its time with the namespace, and with what is in it
	}
	for _, h := range []*netns.NsHandle{&n.own, &n.home} {
		if h.IsOpen() {
			err = errors.Join(err, h.Close())
		}
	}
	return err
}

// within calls f on a thread that is in the namespace.
func (n *Network) within(f func() error) error {
	return onThread(func() error {
		if err := netns.Set(n.own); err != nil {
			return fmt.Errorf("enter network namespace: %w", err)
		}
		return errors.Join(f(), n.leave())
	})
}

// errLost is that of a thread that could not come back: nobody else may run on it.
var errLost = errors.New("leave network namespace")

func (n *Network) leave() error {
	if err := netns.Set(n.home); err != nil {
		return fmt.Errorf("%w: %w", errLost, err)
	}
	return nil
}

// onThread calls f in a goroutine that has its thread for itself, which ends with it where it is lost.
func onThread(f func() error) error {
	done := make(chan error, 1)
	go func() {
		runtime.LockOSThread()
		err := f()
		if !errors.Is(err, errLost) {
			runtime.UnlockOSThread()
		}
		done <- err
	}()
	return <-done
}

func newName() string {
	b := make([]byte, 3)
	_, _ = rand.Read(b)
	return Prefix + hex.EncodeToString(b)[:5]
}
