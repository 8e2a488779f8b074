package lab_test

import (
	"slices"
	"strings"
	"time"

	"github.com/faultline-io/faultline/internal/record"
	"github.com/faultline-io/faultline/internal/semconv"
)

// sign is something in what was said since a moment, by which one can tell what is wrong, or that it is well.
type sign func(all []*record.Record) bool

// says wants a line of a service with all of these words.
func says(service string, words ...string) sign {
	return one(func(r *record.Record) bool {
		return r.Service == service && !slices.ContainsFunc(words, func(w string) bool { return !strings.Contains(r.Body, w) })
	})
}

// event wants one of a name, with these attributes: key and a part of the value, in turn.
func event(name string, attrs ...string) sign {
	return one(func(r *record.Record) bool { return r.Name == name && has(r, attrs...) })
}

// access wants a line of the ingress's access log.
func access(status, path string, more ...string) sign {
	return one(func(r *record.Record) bool {
		return r.Service == "ingress-proxy" && get(r, semconv.HTTPStatusCode) == status && strings.HasPrefix(get(r, semconv.URLPath), path) && has(r, more...)
	})
}

func one(is func(*record.Record) bool) sign {
	return func(all []*record.Record) bool { return anyOf(all, is) }
}

func has(r *record.Record, attrs ...string) bool {
	for i := 0; i < len(attrs); i += 2 {
		if !strings.Contains(get(r, attrs[i]), attrs[i+1]) {
			return false
		}
	}
	return true
}

func both(a, b sign) sign {
	return func(all []*record.Record) bool { return a(all) && b(all) }
}

// stands wants one thing that was said of, and nothing else of it for so long, in which others spoke.
func stands(event, key, value string, long time.Duration) sign {
	return func(all []*record.Record) bool {
		last, newest := map[string]*record.Record{}, int64(0)
		for _, r := range all {
			newest = max(newest, r.Time)
			if r.Name == event && get(r, key) != "" {
				last[get(r, key)] = r
			}
		}
		for _, r := range last {
			if get(r, semconv.To) == value && newest-r.Time > int64(long) {
				return true
			}
		}
		return false
	}
}

// silent wants no heartbeat of a service for so long, in which others spoke. key and value choose among its instances.
func silent(service string, long time.Duration, attrs ...string) sign {
	return func(all []*record.Record) bool {
		if len(all) == 0 {
			return false
		}
		first, last := all[0].Time, all[0].Time
		for _, r := range all {
			if last = max(last, r.Time); r.Service == service && r.Name == semconv.EventHeartbeat && has(r, attrs...) {
				first = max(first, r.Time)
			}
		}
		return last-first > int64(long)
	}
}

// stale wants a view that was last refreshed so long before it is looked at.
func stale(long time.Duration) sign {
	return one(func(r *record.Record) bool {
		at, err := record.ParseTime(get(r, semconv.AsOf))
		return r.Name == semconv.EventProjection && r.Service == "ui-projection" && err == nil && r.Time-at > int64(long)
	})
}

// Signs that all is well again.
var (
	created = says("fulfillment-api", "create allocation: 201")
	worked  = one(func(r *record.Record) bool {
		return r.Service == "node-agent" && get(r, semconv.NodeID) == "node-01" && strings.Contains(r.Body, "tenant system is up")
	})
	completed  = event(semconv.EventWorkflowState, semconv.To, semconv.Completed)
	sent       = event(semconv.EventOutbox, semconv.To, semconv.Published)
	aapSucceed = event(semconv.EventProviderState, semconv.Provider, "aap", semconv.Operation, "provision", semconv.To, "Succeeded")
	edaStarted = says("eda", "run_job_template", "successful")
)

// edaActive wants an allocation that EDA has been asked for to be in use.
func edaActive(all []*record.Record) bool {
	asked := map[string]bool{}
	for _, r := range all {
		if r.Name == semconv.EventProviderState && get(r, semconv.Provider) == "eda" {
			asked[get(r, semconv.AllocationID)] = true
		}
	}
	return anyOf(all, func(r *record.Record) bool {
		return r.Name == semconv.EventAllocationState && get(r, semconv.To) == semconv.Active && asked[get(r, semconv.AllocationID)]
	})
}

// faultSigns has, for each fault, what shows it first, and what shows that it is healed. The families are made in
// platforms of their own, one fault after the other.
var faultSigns = []map[string][2]sign{
	{
		"cert_expired":          {says("cli", "certificate has expired"), created},
		"cert_wrong_ca":         {says("cli", "certificate signed by unknown authority"), created},
		"cert_wrong_name":       {says("cli", "certificate is valid for 10.11.0.9"), created},
		"ingress_route_missing": {access("404", "/east/api/", semconv.ProxyFlags, "NR"), created},
		"ingress_no_backend":    {says("ingress-proxy", "no endpoints"), created},
		"ingress_slow_backend":  {access("504", "/east/api/"), created},
		"auth_expired":          {says("auth-service", "expired"), created},
		"auth_policy_missing":   {says("auth-service", "no policy entry"), created},
		"auth_down":             {says("fulfillment-api", "authorization service", "connection refused"), created},
		"api_crash":             {both(says("fulfillment-api", "panic: runtime error: invalid memory address", "(*usage).snapshot"), access("502", "/east/api/")), created},
		"api_5xx":               {says("fulfillment-api", "encode quota snapshot: json: unsupported value: NaN"), created},
		"bad_rollout":           {both(event(semconv.EventDeploy, semconv.To, "2026.11.4"), says("fulfillment-api", "quota.url is not configured")), created},
		"projection_stopped":    {stale(2 * time.Second), one(func(r *record.Record) bool { return r.Service == "ui-projection" && r.Name == semconv.EventProjection })},
	},
	{
		"node_cert_expired":          {says("ingress-proxy", "CN=node-01 refused", "expired"), worked},
		"node_cert_wrong_ca":         {says("ingress-proxy", "CN=node-01 refused", "unknown authority"), worked},
		"node_clock":                 {says("node-agent", "certificate has expired or is not yet valid"), worked},
		"node_disk_full":             {says("node-agent", "no space left on device"), worked},
		"network_partition":          {says("node-agent", "i/o timeout"), worked},
		"agent_stop":                 {silent("node-agent", 2500*time.Millisecond, semconv.NodeID, "node-01"), worked},
		"agent_panic":                {says("journald", "node-agent", "panic: "), worked},
		"node_panic":                 {says("kernel", "Kernel panic"), worked},
		"node_reimage":               {both(says("maas", "auto-redeploy"), event(semconv.EventNodeInstance, semconv.To, "superseded")), worked},
		"ingress_node_route_missing": {access("404", "/internal/v1/nodes/", semconv.ProxyFlags, "NR"), worked},
		"ingress_identity_dropped":   {access("401", "/internal/v1/nodes/"), worked},
	},
	{
		"aap_failed":             {event(semconv.EventProviderState, semconv.To, "Failed", semconv.ProviderExplanation, "wait for virtual machine"), aapSucceed},
		"aap_pending":            {event(semconv.EventProviderState, semconv.To, "Pending", semconv.ProviderExplanation, "capacity"), aapSucceed},
		"aap_unreachable":        {says("provisioner", "dial", "timeout"), aapSucceed},
		"aap_cancel_ignored":     {both(stands(semconv.EventAllocationState, semconv.AllocationID, semconv.Canceling, 2*time.Second), event(semconv.EventProviderState, semconv.Provider, "aap", semconv.To, "Running")), aapSucceed},
		"aap_purged":             {event(semconv.EventProviderState, semconv.To, "Unknown", semconv.ProviderExplanation, "no longer knows"), aapSucceed},
		"aap_template_missing":   {says("aap", "count=0"), aapSucceed},
		"duplicate_launch":       {says("aap", "Lease conflict"), aapSucceed},
		"eda_lost":               {says("eda", "shutting down"), edaActive},
		"eda_annotation_missing": {both(edaStarted, stands(semconv.EventAllocationState, semconv.AllocationID, semconv.Provisioning, 3*time.Second)), edaActive},
	},
	{
		"db_lock":              {says("db", "locked"), completed},
		"db_pool":              {says("db", "none within 7s", "in use"), completed},
		"worker_stop":          {stands(semconv.EventWorkflowState, semconv.WorkflowID, "scheduled", 2*time.Second), completed},
		"worker_stuck":         {stands(semconv.EventWorkflowState, semconv.WorkflowID, "scheduled", 2*time.Second), completed},
		"worker_short_timeout": {event(semconv.EventTaskState, semconv.To, semconv.Expired), completed},
		"outbox_poison":        {event(semconv.EventOutbox, semconv.To, semconv.Failed, semconv.LastError, "cannot unmarshal envelope: provision.requested: unexpected end of JSON input"), sent},
		"outbox_relay_stop":    {both(stands(semconv.EventOutbox, semconv.OutboxID, semconv.Pending, 2*time.Second), event(semconv.EventHeartbeat, semconv.Component, "outbox-relay")), sent},
		"outbox_relay_gone":    {both(stands(semconv.EventOutbox, semconv.OutboxID, semconv.Pending, 2*time.Second), silent("outbox-relay", 2*time.Second)), sent},
	},
}
