package rules

import (
	"regexp"
	"slices"
	"strings"

	"github.com/faultline-io/faultline/correlator"
	"github.com/faultline-io/faultline/internal/semconv"
)

// victims find the process that a kernel killed, or the unit whose limit it came to (oom_kill.c).
var victims = regexp.MustCompile(`killed process \d+ \(([\w.-]+)\)|task_memcg=/\S*?/([\w.-]+)\.service|task=([\w.-]+),`)

// victim is the layer of the process that a kernel killed for its own limit, "" where it is none of the platform's.
func victim(c *correlator.Case, e *correlator.Event) string {
	for _, m := range victims.FindAllStringSubmatch(e.Text, 3) {
		if l := correlator.LayerOfName(c.Profile, m[1]+m[2]+m[3]); l != "" {
			return l
		}
	}
	return ""
}

// endedProgram finds the program that a kernel or systemd tells the end of (arch/x86/mm/fault.c, systemd's src/core/unit.c).
var endedProgram = regexp.MustCompile(`(?m)^([a-z][\w.-]{3,})\[\d+\]: segfault|\b([a-z][\w.-]{3,})\.service: (?:main process exited|failed with|start request|scheduled restart|watchdog timeout|killing process)|failed to start ([a-z][\w.-]{3,})\.service`)

// ofWhoIsCalledSo makes the end of a program that no catalogue knows, told of by its machine, that party's whose own lines begin with the program's name.
func ofWhoIsCalledSo(c *correlator.Case, ev correlator.Evidence) correlator.Evidence {
	if ev.Layer != semconv.LayerNode {
		return ev
	}
	layer, by := "", (*correlator.Event)(nil)
	for _, e := range ev.Records {
		m := endedProgram.FindStringSubmatch(e.Text)
		if m == nil {
			return ev
		}
		called := heard(c).called[m[1]+m[2]+m[3]]
		if called == nil {
			called = strangersWord(c, m[1]+m[2]+m[3], e)
		}
		if called == nil || layer != "" && layer != called.Layer || !c.Profile.Knows(called.Layer) {
			return ev
		}
		layer, by = called.Layer, called
	}
	if by == nil {
		return ev
	}
	_, mechanism, _ := strings.Cut(ev.Rule, ".")
	ev.Rule, ev.Layer, ev.Records = layer+"."+mechanism, layer, append([]*correlator.Event{by}, ev.Records...)
	slices.SortStableFunc(ev.Records, correlator.CompareEvents)
	return ev
}

// strangersWord is the last word of a program that no catalogue knows, on the machine that tells of its end under its service's name; nil where there is none.
func strangersWord(c *correlator.Case, name string, end *correlator.Event) (last *correlator.Event) {
	layer := strangerAs(c, name)
	if layer == "" || layer == semconv.LayerNode {
		return nil
	}
	c.EachIn(layer, end.At-recently, end.At+moment, func(e *correlator.Event) {
		if e.Service == name && e.Node == end.Node && !e.IsEvent() && (last == nil || e.At <= end.At) {
			last = e
		}
	})
	return last
}

// ofOwnLimit says whether a kernel ended a process for the limit of its own control group (oom_kill.c, CONSTRAINT_MEMCG).
func ofOwnLimit(e *correlator.Event) bool {
	return holds(e.Text, []string{"constraint_memcg", "memory cgroup out of memory", "memory cgroup stats"})
}

// hungTask finds the program of which a kernel tells that it waits (hung_task.c).
var hungTask = regexp.MustCompile(`task ([\w.:/\[\]-]+?):\d+ blocked for more than`)

// ofOtherProgram says whether a kernel tells of one program alone that waits, and neither of the machine's own threads nor of what is done for orders.
func ofOtherProgram(e *correlator.Event) bool {
	m := hungTask.FindStringSubmatch(e.Text)
	return m != nil && !holds(m[1], []string{"agent", "kworker", "jbd2", "xfs", "ext4", "nvme", "md", "mount", "runc", "containerd", "docker", "qemu", "libvirt", "dd", "shred", "kswapd"})
}
