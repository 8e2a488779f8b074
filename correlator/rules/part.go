package rules

import (
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/faultline-io/faultline/correlator"
	"github.com/faultline-io/faultline/internal/semconv"
)

// part follows a step that failed on a machine to the part of the machine that its kernel had complained of.
func part() []correlator.Rule {
	return []correlator.Rule{{
		ID: "node.part", Layer: semconv.LayerNode, Mechanism: "hardware",
		Looks:      "a step that failed on a part of a machine, by the word of who did it, and the machine's own kernel that had told an error of the same part right before",
		NextCheck:  "that part: its own log and counters, its firmware",
		SafeAction: "take the machine out of use until the part is replaced or reset; who did the step needs nothing",
		Find:       complainedOf,
	}}
}

// parts find the names by which a kernel calls disks, network ports, accelerators and PCI functions.
var parts = regexp.MustCompile(`\b(?:(nvme\d+)(?:n\d+)?(?:p\d+)?|(sd[a-z]{1,2})\d*|(dm-\d+|md\d+|mmcblk\d+|ata\d+\.\d+|eth\d+|en[ops]\w{2,12}|mlx\d_\d|nvidia\d+|[0-9a-f]{4}:[0-9a-f]{2}:[0-9a-f]{2}\.\d))\b`)

// partsOf are the parts that a text names, a disk's partitions under the disk's name.
func partsOf(text string) (out []string) {
	for _, m := range parts.FindAllStringSubmatch(text, 8) {
		out = append(out, m[1]+m[2]+m[3])
	}
	return out
}

// byKernel says whether a record is a kernel's.
func byKernel(e *correlator.Event) bool {
	return e.Party() == semconv.LayerNode && (e.Service == "kernel" || strings.Contains(e.Text, "kernel: "))
}

// rightBefore is how long before a step's failure a kernel's error of the same part may lie.
const rightBefore = int64(5 * time.Minute)

func complainedOf(c *correlator.Case, t *correlator.Trouble) []correlator.Evidence {
	if t.Node == "" && len(c.Lifecycle.Nodes) == 0 {
		return nil
	}
	var told []*correlator.Event // by kernels
	for _, e := range c.Failures(t) {
		if !e.IsEvent() && e.Severity >= 13 && byKernel(e) && !unusable.Any(e.Text) {
			told = append(told, e)
		}
	}
	lacks := func(e *correlator.Event) bool { s := named(e); return s != nil && s.ID == "deploy.prerequisite" }
	if len(told) == 0 || slices.ContainsFunc(c.Failures(t), lacks) {
		return nil // the part is well: it lacks what it is used by
	}
	ev := correlator.Evidence{Weight: correlator.Specific, Directness: correlator.Itself}
	for _, e := range c.Failures(t) {
		if e.IsEvent() || e.Party() != semconv.LayerProvider && e.Party() != semconv.LayerNodeAgent && e.Party() != semconv.LayerWorkflow {
			continue
		}
		named := partsOf(e.Text)
		for _, k := range told {
			if len(named) > 0 && k.At <= e.At+moment && k.At >= e.At-rightBefore && slices.ContainsFunc(partsOf(k.Text), func(p string) bool { return slices.Contains(named, p) }) {
				ev.Records, ev.Certain = append(ev.Records, k, e), ev.Certain || k.Severity >= 17
				if ev.Summary == "" {
					ev.Summary = "the machine's kernel complained of the part that the step failed on" + quote(k)
				}
			}
		}
	}
	if len(ev.Records) == 0 {
		return nil
	}
	slices.SortStableFunc(ev.Records, correlator.CompareEvents)
	ev.Records = slices.Compact(ev.Records)
	return []correlator.Evidence{ev}
}
