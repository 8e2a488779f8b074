package correlator_test

import "testing"

// What only repeats, or shows the way to be well, blames nobody; what says it in a product's own words does.
func TestWhatIsRepeated(t *testing.T) {
	for _, c := range []struct{ name, told, rule string }{
		// The API's failed answers say no more than its own line, which repeats that somebody else failed.
		{"answers beside a wrapper", inUse + `
10:00:01 api error allocation_id=a-1 | level=ERROR msg="failed to check permissions" method=/v1.Machines/Delete
10:00:01.1 api span 1002ms error allocation_id=a-1 name=v1.Machines/Delete rpc.system=grpc rpc.grpc.status_code=13
10:00:01.2 cli error allocation_id=a-1 | rpc error: code = Internal desc = failed to check permissions
10:01:01 api error allocation_id=a-1 | level=ERROR msg="failed to check permissions" method=/v1.Machines/Delete
10:01:01.1 api span 1001ms error allocation_id=a-1 name=v1.Machines/Delete rpc.system=grpc rpc.grpc.status_code=13
10:01:01.2 cli error allocation_id=a-1 | rpc error: code = Internal desc = failed to check permissions
10:03:01 api error allocation_id=a-1 | level=ERROR msg="failed to check permissions" method=/v1.Machines/Delete
10:03:01.1 api span 1001ms error allocation_id=a-1 name=v1.Machines/Delete rpc.system=grpc rpc.grpc.status_code=13
10:03:01.2 cli error allocation_id=a-1 | rpc error: code = Internal desc = failed to check permissions; giving up
10:04:00 postgres heartbeat component=postgres
10:05:00 api heartbeat component=api
10:12:00 api heartbeat component=api
10:12:10 provisioner heartbeat component=provisioner
`, ""},
		// The network's probe of the management controller names its address, and had an answer from it.
		{"a controller that answers a probe", ordered + `
10:00:40 ironic warn allocation_id=a-1 | IPMI Error while attempting "ipmitool -I lanplus -H 10.30.0.17 power on". Stderr: Error: no response from RAKP 1 message. Error: Unable to establish IPMI v2 / RMCP+ session
10:02:20 network-probe warn | 10.30.0.17 udp/623: RMCP presence pong received; IPMI open session: answered, RAKP 1: no answer
10:20:40 ironic warn allocation_id=a-1 | IPMI Error while attempting "ipmitool -I lanplus -H 10.30.0.17 power on". Stderr: Error: no response from RAKP 1 message. Error: Unable to establish IPMI v2 / RMCP+ session
` + failed, "provider.bmc"},
		// And had none.
		{"a controller that answers no probe", ordered + `
10:00:40 ironic warn allocation_id=a-1 | IPMI Error while attempting "ipmitool -I lanplus -H 10.30.0.17 power on". Stderr: Error: Unable to establish IPMI v2 / RMCP+ session
10:02:20 network-probe warn | 10.30.0.17 udp/623: no reply, timeout
10:20:40 ironic warn allocation_id=a-1 | IPMI Error while attempting "ipmitool -I lanplus -H 10.30.0.17 power on". Stderr: Error: Unable to establish IPMI v2 / RMCP+ session
` + failed, "network.management"},
		// libpq's words for a certificate with another name.
		{"a database's certificate", ordered + `
10:02:20 api error allocation_id=a-1 db.system=postgresql | connection to server at "pg.corp" (10.20.4.12), port 5432 failed: server certificate for "pg-b.corp" does not match host name "pg.corp"
10:08:20 api error allocation_id=a-1 db.system=postgresql | connection to server at "pg.corp" (10.20.4.12), port 5432 failed: server certificate for "pg-b.corp" does not match host name "pg.corp"
` + failed, "cert.wrong_name"},
		// BookKeeper's, as a broker repeats them.
		{"a broker without stores", ordered + `
10:01:10 pulsar-broker warn layer=outbox | PersistentTopic - [persistent://p/prod/tasks] Failed to persist msg in store: Not enough non-faulty bookies available error code: -6
10:01:15 provisioner error allocation_id=a-1 | publish node.provision: PulsarClientException: Not enough non-faulty bookies available, will retry
10:21:10 pulsar-broker warn layer=outbox | PersistentTopic - [persistent://p/prod/tasks] Failed to persist msg in store: Not enough non-faulty bookies available error code: -6
10:21:15 provisioner error allocation_id=a-1 | publish node.provision: PulsarClientException: Not enough non-faulty bookies available, will retry
` + failed, "outbox.broker"},
		// A dump of an agent that has waited for minutes.
		{"a dump of a Go program", queued + `
10:05:00 nomad error layer=node_agent node_id=n-a7 | goroutine 341 [select, 9 minutes]: google.golang.org/grpc.newClientStream.func5(0xc000348000, 0xc000330c60)
` + expired, "node_agent.own_word"},
	} {
		switch v := verdictOn(t, c.told); {
		case c.rule == "" && v.Outcome == "undetermined":
		case len(v.Faults) != 1 || v.Faults[0].Rule != c.rule:
			t.Errorf("%s: %s: %s", c.name, v.Outcome, v.Explanation)
		}
	}
}
