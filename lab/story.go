package lab

import (
	"time"

	"github.com/faultline-io/faultline/internal/semconv"
	"github.com/faultline-io/faultline/lab/hubsim"
)

// story is what one client lives through.
type story struct {
	name    string
	weight  int    // how often, against the others
	pool    string // of nodes
	region  string // first part of the path
	subject string
	token   string
	alone   bool   // its node can have one allocation at a time: the next waits until this one is over
	slow    int    // factor on the time that provisioning the node takes; 0: 1
	image   string // what to make; "": any. A provider's template: it chooses how the provider's work goes
	served  bool   // by a provider: told only where the lab runs them
	cancel  bool   // the user changes their mind during provisioning
	end     string // the last state, or the status that the request ended with

	// The truth: whose fault it is. Empty for stories that end well.
	layer, mechanism string
}

// stories is the cast. Most of what happens is healthy.
func stories() []story {
	return []story{
		{name: "healthy", weight: 14, pool: poolGeneral, region: "east", subject: "alice", token: "tok-alice", end: semconv.Released},
		{name: "slow", weight: 2, pool: poolGeneral, region: "east", subject: "ci-runner", token: "tok-ci", end: semconv.Released, slow: 5},
		{name: "cancel", weight: 2, pool: poolGeneral, region: "east", subject: "bob", token: "tok-bob", end: semconv.Canceled, slow: 2, cancel: true},
		{name: "cert_expired", weight: 1, pool: poolBatch, region: "east", subject: "alice", token: "tok-alice", end: semconv.Failed, alone: true, layer: "cert", mechanism: "expired"},
		{name: "cert_untrusted", weight: 1, pool: poolEdge, region: "east", subject: "bob", token: "tok-bob", end: semconv.Failed, alone: true, layer: "cert", mechanism: "unknown_ca"},
		{name: "no_backend", weight: 1, pool: poolGeneral, region: "west", subject: "alice", token: "tok-alice", end: "503", layer: "ingress", mechanism: "no_backend"},
		{name: "refused", weight: 1, pool: poolGeneral, region: "east", subject: "erin", token: "tok-erin", end: "403", layer: "api_auth", mechanism: "policy"},
		{name: "agent_silent", weight: 1, pool: poolArchive, region: "east", subject: "ci-runner", token: "tok-ci", end: semconv.Failed, alone: true, layer: "node_agent", mechanism: "silent"},
		{name: "aap_healthy", weight: 2, pool: poolAAP, region: "east", subject: "alice", token: "tok-alice", end: semconv.Released, served: true},
		{name: "aap_cancel", weight: 1, pool: poolAAP, region: "east", subject: "bob", token: "tok-bob", end: semconv.Canceled, served: true, cancel: true},
		{name: "aap_quota", weight: 1, pool: poolAAP, region: "east", subject: "alice", token: "tok-alice", end: semconv.Failed, served: true, image: hubsim.FailQuota, layer: "provider", mechanism: "quota"},
		{name: "eda_healthy", weight: 2, pool: poolEDA, region: "east", subject: "ci-runner", token: "tok-ci", end: semconv.Released, served: true},
	}
}

func storyNamed(name string) (story, bool) {
	for _, s := range stories() {
		if s.name == name {
			return s, true
		}
	}
	return story{}, false
}

// Pace of a client, before scaling.
const (
	pollEvery  = 1500 * time.Millisecond
	useFor     = 4 * time.Second
	cancelWait = 700 * time.Millisecond // from seeing `provisioning` to the cancel
	retryWait  = time.Second

	longestLife = 5 * time.Minute // of a story that went otherwise and comes to no end
	tries       = 3
)
