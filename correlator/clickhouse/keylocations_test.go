package clickhouse_test

import (
	"testing"
	"time"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"

	"github.com/faultline-io/faultline/collector/clickhouseexporter"
	"github.com/faultline-io/faultline/correlator/clickhouse"
	"github.com/faultline-io/faultline/correlator/query"
	"github.com/faultline-io/faultline/internal/identity"
	"github.com/faultline-io/faultline/internal/profile"
)

// What an instance of a node says is looked for between the minutes in which it was an allocation's, and as far on either side as its clock was
// ever wrong: a line stamped weeks ago, or ahead, and observed in between is there; what was observed before or after is not.
func TestANodeWithAWrongClockIsFound(t *testing.T) {
	p, err := profile.Load("")
	must(t, err)
	m, conn := newMeter(t)
	w, err := clickhouseexporter.OpenWriter(t.Context(), m.dsn.String(), nil)
	must(t, err)
	const hour = int64(time.Hour)
	ld := plog.NewLogs()
	provisioner, agent := service(ld, "provisioner"), service(ld, "node-agent")
	for n, a := range []string{"a-before", "a-here", "a-after"} {
		log(provisioner, began+int64(n)*10*hour, "node.assigned", "", "node_id", "n-1", "allocation_id", a)
		log(provisioner, began+int64(n)*10*hour+9*hour, "node.unassigned", "", "node_id", "n-1", "allocation_id", a)
		log(provisioner, began+int64(n)*10*hour+1, "node.instance", "", "node_id", "n-1", "node_instance_id", "i-"+a, "to", "live")
		log(provisioner, began+int64(n)*10*hour+9*hour, "node.instance", "", "node_id", "n-1", "node_instance_id", "i-"+a, "to", "lost")
	}
	says := func(stamped, observed int64, of, body string) {
		log(agent, stamped, "", body, "node_id", "n-1", "node_instance_id", "i-"+of)
		r := agent.At(agent.Len() - 1)
		r.SetObservedTimestamp(pcommon.Timestamp(observed)) //nolint:gosec // a time after 1970
	}
	here := began + 12*hour
	says(here, here+1, "a-here", "right")
	says(here-40*24*hour, here+2, "a-here", "weeks behind")
	says(here+40*24*hour, here+3, "a-here", "weeks ahead")
	says(here-40*24*hour, here-10*hour, "a-before", "weeks behind, before")
	says(here+40*24*hour, here+10*hour, "a-after", "weeks ahead, after")
	must(t, w.WriteLogs(t.Context(), ld))
	must(t, w.Close())

	store := clickhouse.New(conn, p)
	found := map[string]bool{}
	s := query.Selection{Key: identity.Key{Kind: identity.Allocation, ID: "a-here"}}
	page, err := (&query.Service{Store: store}).Events(t.Context(), s, "", 1000)
	must(t, err)
	for _, e := range page.Events {
		found[e.Body] = true
	}
	for body, want := range map[string]bool{
		"right": true, "weeks behind": true, "weeks ahead": true, "weeks behind, before": false, "weeks ahead, after": false,
	} {
		if found[body] != want {
			t.Errorf("%q: found is %t", body, found[body])
		}
	}
}
