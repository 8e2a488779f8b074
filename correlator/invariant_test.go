package correlator_test

import (
	"slices"
	"testing"

	"github.com/faultline-io/faultline/correlator"
	"github.com/faultline-io/faultline/internal/story"
)

// Every invariant is broken by one story and kept by its twin, and is a finding, no fault.
func TestInvariants(t *testing.T) {
	const prov = "10:00:00 operator allocation.state allocation_id=a-1 from=reserved to=provisioning\n"
	const rel = "11:00:00 operator allocation.state allocation_id=a-1 from=active to=releasing\n"
	const relFailed = rel + "11:05:00 operator allocation.state allocation_id=a-1 from=releasing to=release_failed\n"
	job := func(id, operation, to, more string) string {
		return " allocation_id=a-1 provider=aap provider_job=aap/x/job/" + id + " operation=" + operation + " to=" + to + more + "\n"
	}
	tests := []struct{ id, kind, bad, good string }{
		{
			"I1", "active_without_proof",
			prov + "10:00:01 aap provider_job.state" + job("1", "provision", "Running", "") + "10:03:00 operator allocation.state allocation_id=a-1 from=provisioning to=active\n",
			prov + "10:00:01 aap provider_job.state" + job("1", "provision", "Running", "") + "10:02:59 aap provider_job.state" + job("1", "provision", "Succeeded", "") + "10:03:00 operator allocation.state allocation_id=a-1 from=provisioning to=active\n",
		},
		{
			"I14", "active_without_proof", "",
			prov + "10:00:01 operator provider_job.state allocation_id=a-1 provider=eda provider_job=eda/x/webhook/eda-webhook/a-1 operation=provision to=Unknown\n10:03:00 operator allocation.state allocation_id=a-1 from=provisioning to=active\n",
		},
		{
			"I2", "released_while_occupied",
			rel + "11:01:00 operator allocation.state allocation_id=a-1 from=releasing to=released\n11:09:00 provisioner node.occupancy allocation_id=a-1 node_id=n-1 from=occupied to=cleanup\n",
			rel + "11:00:50 provisioner node.occupancy allocation_id=a-1 node_id=n-1 from=cleanup to=free\n11:01:00 operator allocation.state allocation_id=a-1 from=releasing to=released\n",
		},
		{
			"I3", "release_failed_unfenced",
			relFailed + "11:07:00 provisioner node.occupancy allocation_id=a-1 node_id=n-1 from=cleanup to=free\n",
			relFailed + "11:07:00 provisioner node.occupancy allocation_id=a-1 node_id=n-1 from=cleanup to=fenced\n",
		},
		{
			"I5", "deprovision_before_end",
			prov + "10:00:01 aap provider_job.state" + job("1", "provision", "Running", "") + "10:05:00 aap provider_job.state" + job("2", "deprovision", "Running", ""),
			prov + "10:00:01 aap provider_job.state" + job("1", "provision", "Running", "") + "10:04:00 aap provider_job.state" + job("1", "provision", "Canceled", "") + "10:05:00 aap provider_job.state" + job("2", "deprovision", "Running", ""),
		},
		{
			"I6", "double_launch",
			prov + "10:00:01 aap provider_job.state" + job("1", "provision", "Running", " config_version=v1") + "10:01:00 aap provider_job.state" + job("2", "provision", "Running", " config_version=v1"),
			prov + "10:00:01 aap provider_job.state" + job("1", "provision", "Running", " config_version=v1") + "10:00:30 aap provider_job.state" + job("1", "provision", "Failed", " config_version=v1") + "10:02:00 aap provider_job.state" + job("2", "provision", "Running", " config_version=v1"),
		},
		{
			"I8", "stale_fence",
			prov + "10:00:01 provisioner task.state allocation_id=a-1 task_id=k-1 claim_id=c-1 fence=1 to=dispatched\n10:05:01 provisioner task.state allocation_id=a-1 task_id=k-1 claim_id=c-2 fence=2 to=dispatched\n10:06:00 provisioner task.state allocation_id=a-1 task_id=k-1 claim_id=c-1 fence=1 to=succeeded\n",
			prov + "10:00:01 provisioner task.state allocation_id=a-1 task_id=k-1 claim_id=c-1 fence=1 to=dispatched\n10:05:01 provisioner task.state allocation_id=a-1 task_id=k-1 claim_id=c-2 fence=2 to=dispatched\n10:06:00 provisioner task.state allocation_id=a-1 task_id=k-1 claim_id=c-2 fence=2 to=succeeded\n",
		},
		{
			"I9", "outbox_end",
			rel + "11:01:00 operator allocation.state allocation_id=a-1 from=releasing to=released\n11:01:01 outbox-relay outbox.record allocation_id=a-1 outbox_id=o-1 subject=allocation.released to=published\n11:01:02 outbox-relay outbox.record allocation_id=a-1 outbox_id=o-2 subject=allocation.released to=published\n",
			rel + "11:01:00 operator allocation.state allocation_id=a-1 from=releasing to=released\n11:01:01 outbox-relay outbox.record allocation_id=a-1 outbox_id=o-1 subject=allocation.released to=published\n",
		},
		{
			"I10", "result_of_superseded_instance",
			prov + "10:00:01 provisioner task.state allocation_id=a-1 task_id=k-1 node_id=n-1 node_instance_id=i-1 claim_id=c-1 to=dispatched\n10:01:00 provisioner node.instance node_id=n-1 node_instance_id=i-1 to=superseded\n10:03:00 provisioner task.state allocation_id=a-1 task_id=k-1 node_id=n-1 node_instance_id=i-1 claim_id=c-1 to=succeeded\n",
			prov + "10:00:01 provisioner task.state allocation_id=a-1 task_id=k-1 node_id=n-1 node_instance_id=i-1 claim_id=c-1 to=dispatched\n10:03:00 provisioner task.state allocation_id=a-1 task_id=k-1 node_id=n-1 node_instance_id=i-1 claim_id=c-1 to=succeeded\n10:09:00 provisioner node.instance node_id=n-1 node_instance_id=i-1 to=superseded\n",
		},
		{
			"I11", "cleanup_without_proof",
			relFailed + "11:30:00 api audit.action allocation_id=a-1 actor=ops actor_type=admin action=force-cleanup reason=\"in a hurry\"\n",
			relFailed + "11:30:00 api audit.action allocation_id=a-1 actor=ops actor_type=admin action=force-cleanup runtime_verified_absent=true reason=\"looked at the host\"\n",
		},
		{
			"", "leftover",
			"10:00:00 provider error allocation_id=a-1 | libvirtError: operation failed: domain 'instance-00000004' already exists with uuid de43cee1-e1a4-4191-82bf-9c2a5fde4b5d\n",
			"10:00:00 provider error allocation_id=a-1 | libvirtError: operation failed: domain 'instance-00000004' is being made\n",
		},
		{
			"I12", "impossible_view",
			"10:00:00 operator allocation.state allocation_id=a-1 from=provisioning to=canceling\n10:00:30 ui projection.observed allocation_id=a-1 projection=ui field=state value=degraded\n",
			"10:00:00 operator allocation.state allocation_id=a-1 from=provisioning to=canceling\n10:00:30 ui projection.observed allocation_id=a-1 projection=ui field=state value=releasing\n",
		},
		{
			"I13", "cancel_not_carried_out",
			prov + "10:00:01 aap provider_job.state" + job("1", "provision", "Running", "") + "10:01:00 api audit.action allocation_id=a-1 actor=jo actor_type=user action=cancel\n10:09:00 aap provider_job.state" + job("1", "provision", "Canceled", ""),
			prov + "10:00:01 aap provider_job.state" + job("1", "provision", "Running", "") + "10:01:00 api audit.action allocation_id=a-1 actor=jo actor_type=user action=cancel\n10:01:40 aap provider_job.state" + job("1", "provision", "Canceled", ""),
		},
		{
			"I15", "billed_after_release_failed",
			relFailed + "11:30:00 billing-worker audit.action allocation_id=a-1 actor=billing-run actor_type=billing action=charge_hour\n",
			relFailed + "11:05:10 billing-worker audit.action allocation_id=a-1 actor=billing-run actor_type=billing action=stop_billing\n",
		},
		{
			"", "illegal_occupancy",
			rel + "11:01:00 provisioner node.occupancy allocation_id=a-1 node_id=n-1 from=cleanup to=occupied\n",
			rel + "11:01:00 provisioner node.occupancy allocation_id=a-1 node_id=n-1 from=occupied to=cleanup\n",
		},
		{
			"", "stale_repeat",
			prov + "10:00:01 aap provider_job.state" + job("1", "provision", "Failed", "") + "10:05:00 operator provider_job.state" + job("1", "provision", "Running", ""),
			prov + "10:00:01 aap provider_job.state" + job("1", "provision", "Failed", "") + "10:05:00 operator provider_job.state" + job("1", "provision", "Failed", ""),
		},
	}
	finds := func(t *testing.T, text, kind string) bool {
		records, err := story.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		return slices.ContainsFunc(analyze(t, records).Allocations[0].Verdict.Findings, func(f correlator.Finding) bool {
			return f.Kind == kind && len(f.Refs) > 0
		})
	}
	tested := map[string]bool{}
	for _, tt := range tests {
		t.Run(tt.id+" "+tt.kind, func(t *testing.T) {
			tested[tt.kind] = true
			if tt.bad != "" && !finds(t, tt.bad, tt.kind) {
				t.Errorf("%s is not found", tt.kind)
			}
			if finds(t, tt.good, tt.kind) {
				t.Errorf("%s is found where there is none", tt.kind)
			}
		})
	}
	for _, i := range correlator.Invariants() {
		if !tested[i.Kind] {
			t.Errorf("%s %s has no test", i.ID, i.Kind)
		}
	}
}
