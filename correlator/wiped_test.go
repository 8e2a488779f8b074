package correlator_test

import (
	"strings"
	"testing"

	"github.com/faultline-io/faultline/correlator"
	"github.com/faultline-io/faultline/correlator/query"
	"github.com/faultline-io/faultline/correlator/rules"
	"github.com/faultline-io/faultline/internal/story"
)

// What a node instance wrote after its last line that is here went with its disk: the timeline has a hole there,
// unless its last line is of its last moment.
func TestLogsThatWentWithTheDisk(t *testing.T) {
	const before = `
10:00:00 provisioner node.instance node_id=n-1 node_instance_id=ni-a to=live
10:00:01 provisioner allocation.state allocation_id=a-1 to=requested
10:00:02 provisioner node.assigned allocation_id=a-1 node_id=n-1
`
	const after = `
10:05:00 provisioner node.instance node_id=n-1 node_instance_id=ni-a to=superseded
10:05:00 provisioner node.instance node_id=n-1 node_instance_id=ni-b to=live
10:05:02 node-agent info resource.node_id=n-1 resource.node_instance_id=ni-b | enrolled as ni-b
`
	for _, c := range []struct{ name, lines, want string }{
		{"never", "", "nothing was ever read of the logs of node instance ni-a on n-1"},
		{"until 10:03", "10:03:00 node-agent info resource.node_id=n-1 resource.node_instance_id=ni-a | writing image\n",
			"nothing was read of the logs of node instance ni-a on n-1 10:03:00–10:05:00"},
		{"its journal knows no node instance", "10:03:00 kernel info resource.node_id=n-1 | nvme0n1: p1\n", "10:03:00–10:05:00"},
		{"the next one boots", "10:03:00 node-agent info resource.node_id=n-1 resource.node_instance_id=ni-a resource.boot_id=b-a | writing image\n" +
			"10:03:01 kernel info resource.node_id=n-1 resource.boot_id=b-a | nvme0n1: p1\n10:04:59 kernel info resource.node_id=n-1 resource.boot_id=b-b | Linux version\n",
			"10:03:01–10:05:00"},
		{"another node's", "10:04:59 kernel info resource.node_id=n-2 | nvme0n1: p1\n", "nothing was ever read"},
		{"to the end", "10:04:59.5 node-agent info resource.node_id=n-1 resource.node_instance_id=ni-a | shutting down\n", ""},
		{"beyond", "10:05:01 node-agent info resource.node_id=n-1 resource.node_instance_id=ni-a | signal: killed\n", ""},
	} {
		records, err := story.Parse(before + c.lines + after)
		if err != nil {
			t.Fatal(err)
		}
		holes := ""
		for _, e := range query.Analyze(correlator.NewDataset(records, nil, defaultProfile(t), correlator.AsOf{}), rules.All()).Allocations[0].Timeline {
			if e.Kind == "gap" && strings.Contains(e.Summary, "logs of node instance") {
				holes += e.Summary
			}
		}
		if !strings.Contains(holes, c.want) || c.want == "" && holes != "" {
			t.Errorf("%s: %q, want %q", c.name, holes, c.want)
		}
	}
}
