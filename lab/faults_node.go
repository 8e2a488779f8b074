package lab

import "time"

func nodeFaults() []Fault {
	on := func(set func(*nodeState, bool)) func(*lab, target) (func() error, error) {
		return func(l *lab, t target) (func() error, error) {
			return l.onNodes(t, func(_ string, n *nodeState) (func() error, error) {
				n.change(func(n *nodeState) { set(n, true) })
				return n.undo(func(n *nodeState) { set(n, false) }), nil
			})
		}
	}
	return []Fault{
		{
			Name: "agent_stop", Layer: "node_agent", Mechanism: "silent", Expected: expectAttributed, ShowsIn: []string{"node_agent", "node", "workflow"}, meets: byNode,
			Description: "the agent of one node is killed; the node lives", inject: on(func(n *nodeState, v bool) { n.stopped = v }),
		},
		{
			Name: "node_disk_full", Layer: "node", Mechanism: "disk", Expected: expectAttributed, ShowsIn: []string{"node_agent", "workflow"}, meets: byNode,
			Description: "the disk of one node is full", inject: on(func(n *nodeState, v bool) { n.full = v }),
		},
		{
			Name: "node_clock", Layer: "node", Mechanism: "clock", Expected: expectAttributed, ShowsIn: []string{"node_agent", "workflow"}, meets: byNode,
			Description: "the clock of one node is two years behind: no certificate is valid yet",
			inject: on(func(n *nodeState, v bool) {
				if n.behind = 0; v {
					n.behind = 2 * 365 * 24 * time.Hour
				}
			}),
		},
		{
			Name: "network_partition", Layer: "network", Mechanism: "timeout", Expected: expectAttributed, ShowsIn: []string{"node_agent", "workflow"}, meets: byNode,
			Description: "packets between one node and the ingress are dropped: by the kernel where the lab runs as root on Linux (network namespaces), else by a proxy",
			way:         func(l *lab, t target) string { return l.states[t.nodes[0]].path.way() },
			inject: func(l *lab, t target) (func() error, error) {
				return l.onNodes(t, func(_ string, n *nodeState) (func() error, error) { return n.path.cut() })
			},
		},
	}
}
