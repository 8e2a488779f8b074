package rules

import (
	"slices"
	"strings"

	"github.com/faultline-io/faultline/correlator"
	"github.com/faultline-io/faultline/internal/needles"
	"github.com/faultline-io/faultline/internal/semconv"
)

// lostStorage are the words of a machine that lost its way to storage which it does not hold itself (open-iscsi, NVMe over fabrics, NFS, Ceph).
var lostStorage = needles.Of(
	"session recovery timed out", "iscsi connection", "detected conn error", "iscsi_err_", "nvme_tcp", "nvme-tcp", "nvme_rdma", "nvme-rdma", "nvme_fc", "nvme_keep_alive_end_io", "no usable path - requeuing", "nfs: server", "libceph: ", "rbd: rbd", "lost connection to osd",
)

// ofRemoteStorage says whether what a machine tells of its disks follows the loss of the way to storage that it does not hold itself: who ended that, the
// storage, the network or the machine, its disks do not tell.
func ofRemoteStorage(c *correlator.Case, records []*correlator.Event) bool {
	last := records[len(records)-1]
	return slices.ContainsFunc(c.Events, func(e *correlator.Event) bool {
		return !e.IsEvent() && e.Failed() && e.Node != "" && e.Node == last.Node && e.At > last.At-recently && e.At <= last.At+moment && lostStorage.Any(e.Text)
	})
}

// ofGuestsDrive are QEMU's words for a guest's drive, whose room is its host's.
const ofGuestsDrive = "i/o error in device 'drive-"

// ofOwnStorage makes a full disk that one party tells of, and no machine, that party's own.
func ofOwnStorage(ev correlator.Evidence) correlator.Evidence {
	party := ev.Records[0].Party()
	if party == "" || party == semconv.LayerNode || party == semconv.LayerNodeAgent || party == semconv.LayerClient || slices.ContainsFunc(ev.Records, func(e *correlator.Event) bool {
		return e.Party() != party && !e.IsEvent() || e.Node != "" && !strings.Contains(e.Text, ofGuestsDrive) || strings.Contains(e.Text, "fatal: [")
	}) {
		return ev
	}
	ev.Rule, ev.Layer, ev.Mechanism = party+".disk_full", party, "space"
	ev.Summary = party + " has no room left" + quote(witness(ev.Records))
	return ev
}

// givenNoImage says whether a machine that found no root to start from had not been given the image that it was to start, by its boot server's word before that.
func givenNoImage(c *correlator.Case, t *correlator.Trouble, records []*correlator.Event) bool {
	if slices.ContainsFunc(records, func(e *correlator.Event) bool { return !strings.Contains(e.Text, "unable to mount root") }) {
		return false
	}
	return slices.ContainsFunc(c.Beside(t, telling), func(e *correlator.Event) bool {
		return e.At <= records[0].At && e.Party() == semconv.LayerProvider && hinted(e) != nil && (hinted(e).ID == "provider.upload" || hinted(e).ID == "provider.boot_image")
	})
}
