package rules

import (
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
	}}
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
	for _, e := range c.Events {
		if off == nil && !e.IsEvent() && holds(e.Text, netbootOff) {
			off = e
		}
	}
	if off == nil {
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
