package truth_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/faultline-io/faultline/internal/profile"
	"github.com/faultline-io/faultline/truth"
)

// Stories that were not right at first sight, each for a mechanism of its own, and the rule that finds their owner since.
var mended = map[string]string{
	"round-144/18-": "api_auth.token_invalid",  // a well-known program by its name
	"round-144/24-": "client.malformed",        // 400 as a field of the API's line
	"round-145/19-": "workflow.asks_no_more",   // the end of a job that the platform asked after no more, and gave up
	"round-146/01-": "client.sent_nothing",     // the API's word that nothing was received
	"round-146/07-": "network.fabric",          // a bundle of links without its partner, told quietly
	"round-146/21-": "node_agent.asks_no_more", // questions for work in an access line's short form
	"round-146/22-": "node.disk",               // a disk of which the agent told that a part of it was well
	"round-147/03-": "deploy.change",           // a complaint of what a changed file is about, by the file's name
	"round-147/22-": "node_agent.crash",        // a watchdog that ends a program which no catalogue knows
	"round-147/24-": "client.malformed",        // a form that the API cannot read
	"round-148/07-": "deploy.no_worker",        // a count after its word
	"round-148/24-": "workflow.not_taken",      // a run that was planned, and who should begin it stands by
	"round-148/26-": "db.slow_statement",       // a statement that takes all of a request's time
	"round-148/31-": "ingress.other_backend",   // calls sent to another pool than others' calls
	"round-148/33-": "client.malformed",        // a path with a variable that nobody filled in
	"round-150/24-": "client.unsendable",       // a client that cannot write its request
	"round-151/01-": "deploy.change",           // what is missed stands in the file that was changed
	"round-151/07-": "network.filtered",        // an access list that tells of what it denied
	"round-151/12-": "node.disk",               // a disk whose blocks Windows retries
	"round-151/16-": "cert.expired",            // a broker that tells why it ends connections
	"round-151/19-": "api.limit",               // a pool of threads that starves
	"round-151/22-": "node_agent.crash",        // launchd's word of the agent
	"round-152/03-": "deploy.left_out",         // a default that was taken since a rollout
	"round-152/12-": "node.disk_full",          // a full disk in Windows' words
	"round-153/19-": "workflow.double_launch",  // a job in the way of its own second launch
	"round-153/02-": "network.dhcp_down",       // a relay that ended, quietly
	"round-154/03-": "provider.dhcp_down",      // a DHCP server that does not start
	"claims/01c-":   "db.lock",                 // a lock told at INFO
	"claims/02e-":   "provider.quota",          // a limit behind a 403
	"claims/02k-":   "deploy.change",           // a producer that writes what its consumer cannot read
	"claims/02r-":   "workflow.overdue",        // an API that waits for who owes the step
	"claims/03b-":   "provider.pool",           // a pool that is no database's
	"claims/03d-":   "api.placement",           // a placement that is not the provider's room
	"claims/04c-":   "api.not_ready",           // a back end's own warning behind a balancer
	"claims/06g-":   "deploy.change",           // a cure that others show
	"claims/07c-":   "provider.starts_anew",    // time-outs after a reset
	"claims/08a-":   "projection.old_view",     // a decision on what a view showed long before
	"claims/11f-":   "api.crash",               // who has ended is gone until he is heard of
	"claims/11g-":   "api.paused",              // a pause that is told afterwards
}

func TestMended(t *testing.T) {
	p, err := profile.Load("")
	if err != nil {
		t.Fatal(err)
	}
	open := map[string]truth.Corpus{}
	for story, rule := range mended {
		folder, prefix := filepath.Split(story)
		c, ok := open[folder]
		if !ok {
			if c, err = truth.Open(filepath.Join("testdata", folder)); err != nil {
				t.Fatal(err)
			}
			open[folder] = c
		}
		n := 0
		for _, s := range c.Stories {
			if !strings.HasPrefix(s.Name, prefix) {
				continue
			}
			for _, a := range (truth.Corpus{Stories: []truth.Story{s}}).Judge(p) {
				n++
				if a.Grade != truth.Right || len(a.Verdict.Faults) == 0 || a.Verdict.Faults[0].Rule != rule {
					t.Errorf("%s is %s, want %s: %s", s.Name, a.Grade, rule, a.Verdict.Explanation)
				}
			}
		}
		if n == 0 {
			t.Errorf("no story %s", story)
		}
	}
}
