package rules

import (
	"net/netip"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/faultline-io/faultline/correlator"
	"github.com/faultline-io/faultline/internal/semconv"
)

// netboot reads what a machine is given to boot from.
func netboot() []correlator.Rule {
	return []correlator.Rule{{
		ID: "provider.netboot", Layer: semconv.LayerProvider, Mechanism: "netboot",
		Looks:      "a machine that goes on booting from the network, and is served, after it was switched to its own disk",
		NextCheck:  "by what the boot server decides whom it serves",
		SafeAction: "stop serving that machine; what was installed is on its disk",
		Find:       bootedAgain,
	}, {
		ID: "network.no_offer", Layer: semconv.LayerNetwork, Mechanism: "unreachable", Words: slices.Concat(offered[:1], neverAsked, []string{"dhcp4_lease_"}),
		Looks:      "a machine that hears no offer of an address, of which the DHCP server has not heard, while it makes offers to others",
		NextCheck:  "the network between the machine's port and the DHCP server: VLAN, trunk, relay",
		SafeAction: "do not reimage; neither the machine nor the server is broken by what is on record",
		Find:       noOffer,
	}, {
		ID: "network.port_delay", Layer: semconv.LayerNetwork, Mechanism: "port_delay", Words: slices.Concat(portWaits[:2], []string{"to forwarding"}),
		Looks:      "a machine that hears no offer of an address while its switch's port does not forward yet",
		NextCheck:  "spanning tree's settings of that port: portfast, edge",
		SafeAction: "make it an edge port; the machine and the DHCP server need nothing",
		Find:       portDelay,
	}}
}

// Who asks for an address by DHCP and hears nothing (Intel's and UEFI's PXE ROMs, iPXE, dhclient, systemd-networkd, cloud-init), and how
// servers word an offer that they make (ISC dhcpd, dnsmasq, Kea).
var (
	unoffered    = []string{"no valid offer received", "pxe-e16", "pxe-e18", "pxe-e51", "pxe-e52", "no dhcp or proxydhcp offers", "no dhcpoffers received", "no dhcp offers received", "no configuration methods succeeded", "dhcp timed out", "dhcp lease timeout"}
	offered      = []string{"dhcpoffer", "dhcp4_lease_advert", "dhcp4_lease_offered"}
	acknowledged = []string{"dhcpack on", "dhcpack("}
)

// unaddressed says whether a machine hears no offer of an address meanwhile, where all that is told of it is that it finds no system.
func unaddressed(c *correlator.Case, t *correlator.Trouble, told []*correlator.Event) bool {
	return !slices.ContainsFunc(told, func(e *correlator.Event) bool { return !strings.Contains(e.Text, "no bootable device") }) &&
		slices.ContainsFunc(onTheme(c, themeUnoffered), func(e *correlator.Event) bool {
			return e.At >= t.From-skewOfClocks && e.At <= t.At && holds(e.Text, unoffered)
		})
}

var macAddress = regexp.MustCompile(`\b[0-9a-f]{2}(?:[:-][0-9a-f]{2}){5}\b`)

// noOffer needs the machine's own word, its hardware address, a server that offers to others before and after, and nothing of that
// address by any server: the question was sent and did not arrive where others' do.
func noOffer(c *correlator.Case, t *correlator.Trouble) []correlator.Evidence {
	if t.Kind == correlator.RequestTrouble {
		return nil
	}
	since := t.From - skewOfClocks
	ofServer := func(e *correlator.Event) bool {
		return holds(e.Text, offered) || strings.Contains(e.Text, "dhcpdiscover") || holds(e.Text, acknowledged)
	}
	var unheard []*correlator.Event
	for _, e := range onTheme(c, themeUnoffered) {
		if e.At >= since && e.At <= t.At && !ofServer(e) {
			unheard = append(unheard, e)
		}
	}
	if len(unheard) == 0 {
		return nil
	}
	macs := map[string]bool{}
	for _, e := range c.Events {
		if e.IsEvent() || e.At < since || e.At > t.At || ofServer(e) {
			continue
		}
		for _, mac := range macAddress.FindAllString(e.Text, -1) {
			macs[strings.ReplaceAll(mac, "-", ":")] = true
		}
	}
	if len(macs) == 0 {
		return countedNone(c, t, unheard)
	}
	var serves *correlator.Event
	heard := false
	c.Each(t.From-recently, t.At+skewOfClocks, func(e *correlator.Event) {
		if e.IsEvent() || !strings.Contains(e.Text, "dhcp") || holds(e.Text, unoffered) || strings.Contains(e.Text, "no request from") {
			return
		}
		for _, mac := range macAddress.FindAllString(e.Text, -1) {
			heard = heard || !tellsOfItself(e) && macs[strings.ReplaceAll(mac, "-", ":")] && e.At <= unheard[len(unheard)-1].At+int64(time.Minute) // later it may have been mended
		}
		if (holds(e.Text, offered) || holds(e.Text, acknowledged)) && (serves == nil || serves.At < unheard[0].At) {
			serves = e
		}
	})
	if heard || serves == nil {
		return nil
	}
	return []correlator.Evidence{{
		Weight: correlator.Telling, Directness: correlator.Caller, Onset: unheard[0].At, Records: append(slices.Clone(unheard[:min(len(unheard), 4)]), serves),
		Summary: "the machine hears no offer of an address" + quote(unheard[0]) + "; " + serves.Service + " has not heard of it, and makes offers to others",
	}}
}

// tellsOfItself says whether a boot ROM tells that it asks for an address, and with which of its own.
func tellsOfItself(e *correlator.Event) bool { return strings.Contains(e.Text, "client mac addr") }

// noneOf finds how many times a server of addresses was asked from each of its networks: "10.21.14.0/24: 0 discover in the last hour; 10.21.9.0/24: 14".
var noneOf = regexp.MustCompile(`\b\d{1,3}(?:\.\d{1,3}){3}/\d{1,2}: (\d+)\b`)

// countedNone needs a server's own count by networks, taken while the machine heard no offer: one of them asked never, and others did or were served.
func countedNone(c *correlator.Case, t *correlator.Trouble, unheard []*correlator.Event) []correlator.Evidence {
	var count *correlator.Event
	served := func() (yes bool) { // somebody else was given an address meanwhile, or offered one
		c.Each(t.From-recently, t.At, func(e *correlator.Event) {
			yes = yes || !e.IsEvent() && (closeTo(t, e) || correlator.EveryReaderHas(e)) && (holds(e.Text, offered) || holds(e.Text, acknowledged))
		})
		return yes
	}
	c.EachIn(semconv.LayerProvider, unheard[0].At, t.At+moment, func(e *correlator.Event) {
		if e.IsEvent() || !strings.Contains(e.Text, "discover") && !asksNever(e) || !closeTo(t, e) && !correlator.EveryReaderHas(e) && !asksNever(e) {
			return
		}
		none, some := false, false
		for _, m := range noneOf.FindAllStringSubmatch(e.Text, 16) {
			none, some = none || m[1] == "0", some || m[1] != "0"
		}
		if none && some || asksNever(e) && served() {
			count = e
		}
	})
	if count == nil {
		return nil
	}
	return []correlator.Evidence{{
		Weight: correlator.Telling, Directness: correlator.Caller, Onset: unheard[0].At, Records: append(slices.Clone(unheard[:min(len(unheard), 4)]), count),
		Summary: "the machine hears no offer of an address" + quote(unheard[0]) + "; " + count.Service + " serves others, and from one network it is never asked",
	}}
}

// Spanning tree's states of a port by which nothing passes, and the one in which all does (IEEE 802.1D; Cisco's, Arista's and Linux's words).
var (
	portWaits    = []string{"moving from blocking to listening", "moving from listening to learning", "to listening", "entered listening state", "entered learning state", "entered blocking state", "to learning", "-> listening", "-> learning", "-> blocking"}
	portForwards = []string{"to forwarding", "entered forwarding state", "-> forwarding"}
)

// portDelay needs the machine's own word that it hears no offer of an address, and a switch that tells of a port which does not forward
// at that time, and does soon after.
func portDelay(c *correlator.Case, t *correlator.Trouble) []correlator.Evidence {
	if t.Kind == correlator.RequestTrouble {
		return nil
	}
	for _, e := range onTheme(c, themeUnoffered) {
		if e.At < t.From-skewOfClocks || e.At > t.At {
			continue
		}
		var waits, forwards *correlator.Event
		c.Each(e.At-int64(time.Minute), e.At+int64(time.Minute), func(o *correlator.Event) {
			switch {
			case o.IsEvent() || o.Party() != semconv.LayerNetwork:
			case holds(o.Text, portForwards):
				if forwards == nil || forwards.At < e.At {
					forwards = o
				}
			case o.At <= e.At && holds(o.Text, portWaits):
				waits = o
			}
		})
		if waits != nil && forwards != nil && forwards.At > e.At {
			return []correlator.Evidence{{
				Weight: correlator.Telling, Directness: correlator.Itself, Onset: waits.At, Records: []*correlator.Event{waits, e, forwards},
				Summary: "the switch's port did not forward yet when the machine asked for an address" + quote(waits),
			}}
		}
	}
	return nil
}

// netbootOff are the words of who switches a machine from the network to its disk (Tinkerbell, MAAS, Ironic); bootFiles those of what a
// boot server hands out (PXE, iPXE, GRUB, Linux).
var (
	netbootOff = []string{"allowpxe to false", "allow_pxe=false", "disabled netboot", "netboot disabled", "netboot off", "boot device to disk", "boot_device=disk"}
	bootFiles  = []string{"vmlinuz", "undionly", "ipxe.efi", "snponly", "pxelinux", "grubx64", "bootx64", "initrd", "auto.ipxe", "ipxe.cfg"}
)

// bootedAgain needs the switch, and the boot server's own word of at least three times after it, for the same machine.
func bootedAgain(c *correlator.Case, t *correlator.Trouble) []correlator.Evidence {
	var off *correlator.Event
	var served []*correlator.Event
	if t.Kind == correlator.RequestTrouble {
		return nil
	}
	if switched := onTheme(c, themeNetbootOff); len(switched) > 0 {
		off = switched[0]
	} else {
		return nil
	}
	c.EachIn(semconv.LayerProvider, off.At, c.Now, func(e *correlator.Event) { // also after the deadline: it goes on
		if !e.IsEvent() && c.Own(e, t) && holds(e.Text, bootFiles) {
			served = append(served, e)
		}
	})
	if len(served) < 3 {
		return nil
	}
	return []correlator.Evidence{{
		Weight: correlator.Specific, Directness: correlator.Itself, Certain: true, Onset: off.At,
		Records: append([]*correlator.Event{off}, served...), Summary: "the machine was switched to its disk, and goes on being served from the network" + quote(served[len(served)-1]),
	}}
}

// neverAsked is how a server of addresses says that a machine, or a whole network, has not asked it for one.
var neverAsked = []string{"no discover", "0 discover"}

// noneAsked finds the second of neverAsked as a number of its own.
var noneAsked = regexp.MustCompile(`\b0 discover`)

// asksNever says whether a server of addresses says that it was not asked.
func asksNever(e *correlator.Event) bool {
	return e.Failed() && holds(e.Text, []string{"no dhcp request seen", "no dhcp request from", "no dhcp requests from"}) || strings.Contains(e.Text, neverAsked[0]) || strings.Contains(e.Text, neverAsked[1]) && noneAsked.MatchString(e.Text)
}

// notHeardOf says whether a server of addresses tells that a machine has not asked it for one.
func notHeardOf(c *correlator.Case, t *correlator.Trouble, node string) (told bool) {
	c.Each(t.From, t.At, func(e *correlator.Event) {
		told = told || !e.IsEvent() && asksNever(e) && correlator.Names(e, node)
	})
	return told
}

// exhausted finds the network of which a server of addresses tells that it has none left (ISC dhcpd, Kea).
var exhausted = regexp.MustCompile(`\b(?:network|subnet|pool) (\d{1,3}(?:\.\d{1,3}){3}/\d{1,2})\b`)

// assigns are the words of who tells which address, or range of addresses, a machine has or shall have.
var assigns = []string{"reservation", "range ", "subnet", "dhcpoffer", "dhcpack", "static lease", "fixed-address"}

// ofOtherNetwork says whether a server of addresses tells of one network, and whoever speaks of the allocation's machine places it in another.
func ofOtherNetwork(c *correlator.Case, t *correlator.Trouble, told *correlator.Event) bool {
	m := exhausted.FindStringSubmatch(told.Text)
	if m == nil || c.Own(told, t) {
		return false
	}
	network, err := netip.ParsePrefix(m[1])
	if err != nil {
		return false
	}
	inside, placed := false, false
	c.Each(t.From-recently, t.At, func(e *correlator.Event) {
		own := e.Allocation == c.ID || slices.ContainsFunc(c.Lifecycle.Nodes, func(node string) bool { return correlator.Names(e, node) })
		if e == told || e.IsEvent() || !own || !holds(e.Text, assigns) || !closeTo(t, e) && !correlator.EveryReaderHas(e) && !asksNever(e) {
			return
		}
		for _, word := range networkAddress.FindAllString(e.Text, 4) {
			if address, err := netip.ParseAddr(word); err == nil {
				placed = true
				inside = inside || network.Contains(address)
			}
		}
	})
	return placed && !inside
}
